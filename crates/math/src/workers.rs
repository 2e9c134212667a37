//! Who does work that falls into parts.

/// Whoever shares work out. Each part is worked on by one thread alone, so who does what never shows in the result.
pub trait Workers {
    /// Does `work` on every item.
    fn each<T: Send>(&self, items: &mut [T], work: impl Fn(&mut T) + Sync);
}

/// The caller alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct Alone;

impl Workers for Alone {
    fn each<T: Send>(&self, items: &mut [T], work: impl Fn(&mut T) + Sync) {
        items.iter_mut().for_each(work);
    }
}
