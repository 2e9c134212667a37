//! A bar for what takes longer than a second.

use indicatif::{ProgressBar, ProgressStyle};
use std::time::Duration;

/// A bar over `steps` that stays hidden where nobody looks.
pub fn bar(steps: u64, what: &'static str) -> ProgressBar {
    let bar = ProgressBar::new(steps).with_message(what);
    if let Ok(style) = ProgressStyle::with_template("{msg} [{bar:30}] {percent:>3} %  {eta} left") {
        bar.set_style(style.progress_chars("=> "));
    }
    bar.enable_steady_tick(Duration::from_secs(1));
    bar
}
