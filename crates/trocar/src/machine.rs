//! The machine it runs on.

use serde::Serialize;

/// What a report says about the machine.
#[derive(Clone, Debug, Serialize)]
pub struct Machine {
    /// Operating system.
    pub system: &'static str,
    /// Processor architecture.
    pub architecture: &'static str,
    /// Processor, if the system tells.
    pub processor: Option<String>,
    /// Threads it can run at once.
    pub threads: usize,
}

impl Machine {
    /// This machine.
    pub fn this() -> Self {
        Self {
            system: std::env::consts::OS,
            architecture: std::env::consts::ARCH,
            processor: processor(),
            threads: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

fn processor() -> Option<String> {
    let info = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = info.lines().find(|l| l.starts_with("model name"))?;
    Some(line.split(':').nth(1)?.trim().to_string())
}

/// Says what the processor lacks. On x86-64 the program is built for AVX2 and FMA (2013 and later).
#[cfg(target_arch = "x86_64")]
pub fn check() -> Result<(), &'static str> {
    use std::arch::x86_64::{__cpuid, __cpuid_count};
    // `is_x86_feature_detected!` answers at compile time what the build assumes; the processor itself
    // must be asked.
    let fma = __cpuid(1).ecx & (1 << 12) != 0;
    let avx2 = __cpuid(0).eax >= 7 && __cpuid_count(7, 0).ebx & (1 << 5) != 0;
    if fma && avx2 {
        Ok(())
    } else {
        Err(
            "this processor lacks AVX2 or FMA; build from source with target-cpu=x86-64 in .cargo/config.toml",
        )
    }
}

/// Says what the processor lacks: nothing, elsewhere.
#[cfg(not(target_arch = "x86_64"))]
pub fn check() -> Result<(), &'static str> {
    Ok(())
}
