//! The machine on which the numbers were taken.

use serde::Serialize;
use std::{
    fs, thread,
    time::{SystemTime, UNIX_EPOCH},
};

/// What a number is worth nothing without.
#[derive(Debug, Serialize)]
pub struct Machine {
    /// Model of the processor, as it calls itself; empty where it doesn't say.
    pub processor: String,
    /// Threads it runs at once.
    pub threads: usize,
    /// System and architecture.
    pub system: String,
    /// When, in UTC.
    pub date: String,
    /// Version of Trocar.
    pub version: &'static str,
    /// False for builds whose times say nothing.
    pub optimized: bool,
}

/// This machine, now.
pub fn describe() -> Machine {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |d| d.as_secs());
    Machine {
        processor: processor(&fs::read_to_string("/proc/cpuinfo").unwrap_or_default()),
        threads: thread::available_parallelism().map_or(1, usize::from),
        system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        date: date(now),
        version: env!("CARGO_PKG_VERSION"),
        optimized: !cfg!(debug_assertions),
    }
}

fn processor(cpuinfo: &str) -> String {
    cpuinfo
        .lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(key, _)| key.trim() == "model name")
        .map(|(_, model)| model.trim().to_string())
        .unwrap_or_default()
}

/// Date and time of `seconds` since 1970, after Hinnant's `civil_from_days`.
fn date(seconds: u64) -> String {
    let (days, clock) = (seconds / 86_400, seconds % 86_400);
    // Counted from the first of March of the year 0, so that the leap day is the last of a year.
    let z = days + 719_468;
    let (era, day_of_era) = (z / 146_097, z % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let (hour, minute, second) = (clock / 3600, clock / 60 % 60, clock % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_right_around_leap_days() {
        assert_eq!(date(0), "1970-01-01T00:00:00Z");
        assert_eq!(date(951_782_399), "2000-02-28T23:59:59Z");
        assert_eq!(date(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(date(1_767_225_600), "2026-01-01T00:00:00Z");
    }

    #[test]
    fn the_processor_says_what_it_is() {
        let text = "processor\t: 0\nmodel name\t: R4400 at 200 MHz\nprocessor\t: 1\n";
        assert_eq!(processor(text), "R4400 at 200 MHz");
        assert_eq!(processor(""), "");
    }
}
