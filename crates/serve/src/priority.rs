//! Threads that may wait give way to those that must not.

/// Lets every other thread go first, from now on; for work that nobody waits for. Only on a thread of one's own: what it
/// starts has its priority, and can't raise it.
#[cfg(target_os = "linux")]
pub fn lower() {
    // On Linux this is about the calling thread only. A system that forbids it is no worse than before.
    if let Err(error) = rustix::process::setpriority_process(None, 10) {
        tracing::debug!("a thread keeps its priority: {error}");
    }
}

/// Other systems have no such thing for one thread.
#[cfg(not(target_os = "linux"))]
pub fn lower() {}
