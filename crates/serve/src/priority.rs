//! Threads that may wait give way to those that must not.

/// Lets every other thread of the program go first; for work that nobody waits for.
pub fn lower() {
    yield_by(10);
}

/// Gives way to the simulation; for threads that talk to pages.
pub fn give_way() {
    yield_by(3);
}

#[cfg(target_os = "linux")]
fn yield_by(nice: i32) {
    // On Linux this is about the calling thread only. A system that forbids it is no worse than before.
    if let Err(error) = rustix::process::setpriority_process(None, nice) {
        tracing::debug!("a thread keeps its priority: {error}");
    }
}

#[cfg(not(target_os = "linux"))]
fn yield_by(_: i32) {}
