//! Threads for the step: a fixed crew that spins briefly between stages, so that handing it work
//! costs microseconds and never allocates.

use std::{
    cell::UnsafeCell,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    thread::JoinHandle,
};

/// How often a waiting thread looks for work before it sleeps: about 0.2 ms, so that it is awake for the next stage and, in a run of steps,
/// for the next step.
const SPINS: u32 = 20_000;

/// How often the caller looks whether all helpers have left a job before it lets others use its processor: longer than an item takes.
const PATIENCE: u32 = 5_000;

/// How many of `count` items to put into a part, so that there are parts of about `size`, at most `most` (≥ 2) of them, and as many for the
/// one of two threads as for the other. At least 1.
pub fn even_share(count: usize, size: usize, most: usize) -> usize {
    let parts = count.div_ceil(size.max(1)).min(most);
    let parts = if parts > 1 {
        parts.next_multiple_of(2)
    } else {
        1
    };
    count.div_ceil(parts.min(most)).max(1)
}

/// A job: called with every index below `count`, by whichever thread is free.
#[derive(Clone, Copy)]
struct Job {
    work: *const (dyn Fn(usize) + Sync),
    count: usize,
}

/// The gate to the job: from this bit on the number of the job, below it [`OPEN`] if helpers may take part, below that how many do.
const NUMBER: u32 = 16;
const OPEN: u64 = 1 << 15;
const INSIDE: u64 = OPEN - 1;

#[derive(Default)]
struct Shared {
    /// What is to be done. The caller alone writes it, while the gate is closed and nobody inside; helpers read it while they are inside.
    job: UnsafeCell<Option<Job>>,
    gate: AtomicU64,
    /// For helpers that sleep: whoever waits holds it from when it last looked at the gate.
    bed: Mutex<()>,
    wake: Condvar,
    /// Items of the job that were handed out: in all, from the first on, and from the last on.
    taken: AtomicUsize,
    first: AtomicUsize,
    last: AtomicUsize,
    /// Helpers that wait to be woken. To wake nobody costs a call of the system.
    asleep: AtomicUsize,
    failed: AtomicBool,
    /// True while there is a job.
    in_use: AtomicBool,
    stop: AtomicBool,
}

// SAFETY: the work is Sync and only called, and `job` is written only while the gate keeps all others out: see [`Crew::run`] and [`help`]. All else is
// Sync by itself.
unsafe impl Sync for Shared {}
// SAFETY: what `job` points to is alive and Sync whenever a thread may look at it, whichever thread that is.
unsafe impl Send for Shared {}

/// Items that threads share out among themselves.
struct Items<T>(*mut T);

// SAFETY: whoever uses it gives threads disjoint items, and T may be sent to them.
unsafe impl<T: Send> Sync for Items<T> {}

/// A fixed number of threads, the caller among them. Which thread does what never shows in the
/// result: every item is worked on by one thread, alone.
pub struct Crew {
    shared: Arc<Shared>,
    helpers: Vec<JoinHandle<()>>,
}

impl Crew {
    /// A crew of `threads` (≥ 1), the caller included.
    pub fn new(threads: usize) -> Self {
        let shared = Arc::new(Shared::default());
        let helpers = (1..threads.max(1))
            .map(|_| {
                let shared = shared.clone();
                std::thread::spawn(move || help(&shared))
            })
            .collect();
        Self { shared, helpers }
    }

    /// Number of threads, the caller included.
    pub fn threads(&self) -> usize {
        self.helpers.len() + 1
    }

    /// Does `work` on every item, spread over the crew.
    pub fn each<T: Send>(&self, items: &mut [T], work: impl Fn(usize, &mut T) + Sync) {
        if self.helpers.is_empty() || items.len() < 2 {
            items
                .iter_mut()
                .enumerate()
                .for_each(|(i, item)| work(i, item));
            return;
        }
        let base = Items(items.as_mut_ptr());
        let base = &base;
        self.run(items.len(), &move |i| {
            // SAFETY: `run` hands out every index below the length exactly once, so this is the
            // only reference to the item; `items` is borrowed until `run` returns.
            work(i, unsafe { &mut *base.0.add(i) });
        });
    }

    /// Does `work` on stretches of at most `size` items (≥ 1), spread over a crew if there is one; it is told where each begins.
    pub fn spread<T: Send>(
        crew: Option<&Self>,
        items: &mut [T],
        size: usize,
        work: impl Fn(usize, &mut [T]) + Sync,
    ) {
        let size = size.max(1);
        match crew {
            Some(crew) if !crew.helpers.is_empty() && items.len() > size => {
                let count = items.len();
                let size = even_share(count, size, usize::MAX);
                let base = Items(items.as_mut_ptr());
                let base = &base;
                crew.run(count.div_ceil(size), &move |k| {
                    let first = k * size;
                    let length = size.min(count - first);
                    // SAFETY: `run` hands out every k exactly once, and stretches of different k share no item; `items` is borrowed
                    // until `run` returns.
                    let some = unsafe { std::slice::from_raw_parts_mut(base.0.add(first), length) };
                    work(first, some);
                });
            }
            _ => {
                let mut first = 0;
                for some in items.chunks_mut(size) {
                    let length = some.len();
                    work(first, some);
                    first += length;
                }
            }
        }
    }

    /// Does `work` on parts of `items`, spread over a crew if there is one: the k-th ends before the item `ends[k]`, where the next
    /// one begins. `ends` ascend; items beyond the last are left alone, and ends beyond the items cut off.
    pub fn parts<T: Send>(
        crew: Option<&Self>,
        items: &mut [T],
        ends: &[usize],
        work: impl Fn(usize, &mut [T]) + Sync,
    ) {
        match crew {
            Some(crew) if !crew.helpers.is_empty() && ends.len() > 1 && ends.is_sorted() => {
                let count = items.len();
                let base = Items(items.as_mut_ptr());
                let base = &base;
                crew.run(ends.len(), &move |k| {
                    let end = ends[k].min(count);
                    let first = if k == 0 { 0 } else { ends[k - 1].min(end) };
                    // SAFETY: `run` hands out every k exactly once; ends ascend, so that parts of different k share no item; `items`
                    // is borrowed until `run` returns.
                    let some =
                        unsafe { std::slice::from_raw_parts_mut(base.0.add(first), end - first) };
                    work(k, some);
                });
            }
            _ => {
                let mut from = 0;
                for (k, end) in ends.iter().enumerate() {
                    let end = (*end).min(items.len());
                    work(k, &mut items[from.min(end)..end]);
                    from = end;
                }
            }
        }
    }

    fn run(&self, count: usize, work: &(dyn Fn(usize) + Sync)) {
        let shared = &*self.shared;
        if shared.in_use.swap(true, Ordering::Acquire) {
            // Asked for by the work itself, or by two threads at a time: the helpers have their hands full.
            return (0..count).for_each(work);
        }
        // SAFETY: only the lifetime is changed. Helpers call it only while they are counted at the gate, which they can't pass once it is closed; and this
        // function closes it and does not return before nobody is inside.
        let work: *const (dyn Fn(usize) + Sync) = unsafe { std::mem::transmute(work) };
        let job = Job { work, count };
        // SAFETY: the gate is closed, and nobody inside, as the last call of this function left it; and `in_use` keeps other calls from being here.
        unsafe { *shared.job.get() = Some(job) };
        for count in [&shared.taken, &shared.first, &shared.last] {
            count.store(0, Ordering::Relaxed);
        }
        let number = (shared.gate.load(Ordering::Relaxed) >> NUMBER) + 1;
        // What was written before is seen by whoever comes in. In one order with `asleep`: either a helper that goes to sleep is seen here, or it sees this.
        shared.gate.store(number << NUMBER | OPEN, Ordering::SeqCst);
        if shared.asleep.load(Ordering::SeqCst) > 0 {
            let _bed = lock(&shared.bed);
            shared.wake.notify_all();
        }
        take_part(shared, job, &shared.first, |k| k);
        // Whoever has not begun by now is not waited for: on a busy machine that could be long.
        shared.gate.fetch_and(!OPEN, Ordering::AcqRel);
        let mut spins = 0;
        while shared.gate.load(Ordering::Acquire) & INSIDE > 0 {
            std::hint::spin_loop();
            // Whoever gives its processor away in the middle of a step may get it back much later.
            spins += 1;
            if spins > PATIENCE {
                std::thread::yield_now();
            }
        }
        let failed = shared.failed.swap(false, Ordering::Relaxed);
        shared.in_use.store(false, Ordering::Release);
        assert!(!failed, "a thread of the step panicked");
    }
}

impl trocar_math::Workers for Crew {
    fn each<T: Send>(&self, items: &mut [T], work: impl Fn(&mut T) + Sync) {
        Self::each(self, items, |_, item| work(item));
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        {
            let _bed = lock(&self.shared.bed);
            self.shared.stop.store(true, Ordering::Relaxed);
            // A job that nobody may take.
            self.shared.gate.fetch_add(1 << NUMBER, Ordering::SeqCst);
            self.shared.wake.notify_all();
        }
        for helper in self.helpers.drain(..) {
            // A helper never panics: `take_part` catches what the work throws.
            let _ = helper.join();
        }
    }
}

fn lock(bed: &Mutex<()>) -> MutexGuard<'_, ()> {
    bed.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Works on items of a job until none is left, in the order that `place` gives of how many this `end` has handed out.
///
/// The caller takes them from the first on and its helpers from the last on: where one job after another works on the same
/// items, each thread finds most of its own again in its cache.
fn take_part(shared: &Shared, job: Job, end: &AtomicUsize, place: impl Fn(usize) -> usize) {
    let done = catch_unwind(AssertUnwindSafe(|| {
        // No more are taken from both ends together than there are, so that the ends never meet.
        while shared.taken.fetch_add(1, Ordering::Relaxed) < job.count {
            let i = place(end.fetch_add(1, Ordering::Relaxed));
            // SAFETY: `Crew::run` keeps the work alive while any thread is busy with it.
            unsafe { (*job.work)(i) };
        }
    }));
    if done.is_err() {
        shared.failed.store(true, Ordering::Relaxed);
    }
}

fn help(shared: &Shared) {
    let mut seen = 0;
    loop {
        let gate = next(shared, seen);
        seen = gate >> NUMBER;
        if shared.stop.load(Ordering::Relaxed) {
            return;
        }
        if !enter(shared, seen) {
            continue;
        }
        // SAFETY: the gate counts this thread, so that nobody writes the job.
        if let Some(job) = unsafe { *shared.job.get() } {
            take_part(shared, job, &shared.last, |k| job.count - 1 - k);
        }
        shared.gate.fetch_sub(1, Ordering::Release);
    }
}

/// Waits for another job than number `seen`; returns what the gate says then.
fn next(shared: &Shared, seen: u64) -> u64 {
    for _ in 0..SPINS {
        let gate = shared.gate.load(Ordering::Acquire);
        if gate >> NUMBER != seen {
            return gate;
        }
        std::hint::spin_loop();
    }
    let mut bed = lock(&shared.bed);
    shared.asleep.fetch_add(1, Ordering::SeqCst);
    let gate = loop {
        let gate = shared.gate.load(Ordering::SeqCst);
        if gate >> NUMBER != seen {
            break gate;
        }
        bed = shared
            .wake
            .wait(bed)
            .unwrap_or_else(PoisonError::into_inner);
    };
    shared.asleep.fetch_sub(1, Ordering::SeqCst);
    gate
}

/// Passes the gate if it is still open for this job.
fn enter(shared: &Shared, number: u64) -> bool {
    let mut gate = shared.gate.load(Ordering::Acquire);
    while gate >> NUMBER == number && gate & OPEN > 0 {
        match shared
            .gate
            .compare_exchange_weak(gate, gate + 1, Ordering::AcqRel, Ordering::Acquire)
        {
            Ok(_) => return true,
            Err(now) => gate = now,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_even_for_two() {
        for count in [0, 1, 2047, 2048, 2049, 25_000, 250_000] {
            let share = even_share(count, 2048, 64);
            let parts = count.div_ceil(share);
            assert!(parts <= 64 && (parts <= 1 || parts % 2 == 0), "{count}");
            assert!(count < 4096 || (1024..=4096).contains(&share), "{count}");
        }
    }

    #[test]
    fn every_item_is_worked_on_once_by_any_number_of_threads() {
        for threads in [1, 2, 3, 8] {
            let crew = Crew::new(threads);
            let mut items = vec![0_u64; 1000];
            for _ in 0..200 {
                crew.each(&mut items, |i, item| *item += i as u64);
            }
            assert!(items.iter().enumerate().all(|(i, x)| *x == 200 * i as u64));
        }
    }

    #[test]
    fn stretches_cover_every_item_once() {
        for threads in [1, 2, 3] {
            let crew = Crew::new(threads);
            for (count, size) in [(0, 4), (3, 4), (4, 4), (1001, 4), (1001, 1)] {
                let mut items = vec![0_usize; count];
                for crew in [None, Some(&crew)] {
                    Crew::spread(crew, &mut items, size, |first, some| {
                        assert!(some.len() <= size);
                        for (k, item) in some.iter_mut().enumerate() {
                            *item += first + k + 1;
                        }
                    });
                }
                assert!(items.iter().enumerate().all(|(i, x)| *x == 2 * (i + 1)));
            }
        }
    }

    #[test]
    fn parts_end_where_they_are_said_to() {
        let crew = Crew::new(2);
        for crew in [None, Some(&crew)] {
            let mut items = [9; 8];
            Crew::parts(crew, &mut items, &[2, 2, 5, 7], |k, some| some.fill(k));
            assert_eq!(items, [0, 0, 2, 2, 2, 3, 3, 9]);
            Crew::parts(crew, &mut items, &[7, 12], |k, some| some.fill(k));
            assert_eq!(items, [0, 0, 0, 0, 0, 0, 0, 1]);
        }
    }

    #[test]
    fn work_may_ask_for_its_own_crew() {
        let crew = Crew::new(2);
        let mut sums = [0; 2];
        crew.each(&mut sums, |i, sum| {
            let mut items = [i + 1; 5];
            crew.each(&mut items, |_, item| *item *= 2);
            *sum = items.iter().sum();
        });
        assert_eq!(sums, [10, 20]);
    }

    #[test]
    fn jobs_follow_each_other_as_fast_as_they_can() {
        let crew = Crew::new(3);
        for round in 0..20_000_u64 {
            let mut items = [0_u64; 7];
            crew.each(&mut items, |i, item| *item = round + i as u64);
            assert!(items.iter().zip(round..).all(|(a, b)| *a == b));
            if round % 5_000 == 0 {
                // Long enough for helpers to fall asleep.
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
        }
    }

    #[test]
    fn a_panic_reaches_the_caller_and_the_crew_works_on() {
        let crew = Crew::new(2);
        let mut items = [0, 1, 2, 3];
        let thrown = catch_unwind(AssertUnwindSafe(|| {
            crew.each(&mut items, |i, _| assert!(i != 2));
        }));
        assert!(thrown.is_err());
        crew.each(&mut items, |_, item| *item = 7);
        assert_eq!(items, [7; 4]);
    }
}
