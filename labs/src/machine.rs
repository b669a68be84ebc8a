//! Which machine and which day a measured number comes from.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use grading::progress::today;

/// The machine that a program runs on, as far as a reader needs it beside a measured number.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// The processor's name as the system gives it.
    pub cpu: String,
    /// How many threads can run at once.
    pub cores: usize,
    /// Operating system and architecture, such as `linux x86_64`.
    pub os: String,
}

impl Machine {
    /// This machine.
    pub fn this() -> Machine {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let os = format!("{} {}", std::env::consts::OS, std::env::consts::ARCH);
        Machine { cpu: cpu_name(), cores, os }
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.cores == 1 { "" } else { "s" };
        write!(f, "{}, {} logical core{plural}, {}", self.cpu, self.cores, self.os)
    }
}

/// The processor's name, ASCII, one line.
fn cpu_name() -> String {
    let name = std::fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| model_name(&text));
    let name = name.or_else(apple_name).or_else(|| std::env::var("PROCESSOR_IDENTIFIER").ok());
    let name = name.unwrap_or_else(|| "unnamed processor".to_string());
    let ascii: String = name.chars().filter(char::is_ascii).collect();
    ascii.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The first `model name` of `/proc/cpuinfo`; ARM systems have none.
fn model_name(cpuinfo: &str) -> Option<String> {
    let line = cpuinfo.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_string()).filter(|name| !name.is_empty())
}

fn apple_name() -> Option<String> {
    if std::env::consts::OS != "macos" {
        return None;
    }
    let asked = ["-n", "machdep.cpu.brand_string"];
    let answer = std::process::Command::new("sysctl").args(asked).output().ok()?;
    String::from_utf8(answer.stdout).ok().filter(|name| !name.trim().is_empty())
}

/// Date and time in UTC for the names of files, as `2026-12-02-071503`.
pub fn timestamp() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let s = since.as_secs() % 86_400;
    format!("{}-{:02}{:02}{:02}", today(), s / 3600, s / 60 % 60, s % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_has_a_name() {
        let machine = Machine::this();
        assert!(machine.to_string().is_ascii() && !machine.cpu.is_empty() && machine.cores > 0);
        assert_eq!(model_name("model name\t: A B\n"), Some("A B".to_string()));
        assert_eq!(model_name("Processor : 3"), None);
    }
}
