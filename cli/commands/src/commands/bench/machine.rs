//! Names the machine that the figures are from: its CPU and that CPU's instructions, its operating system, and the
//! kind of the file system.

use std::{env, fs, thread};

use pq_core::arch::{Backend as _, Portable};
use serde::Serialize;

use super::backends::Backend;

/// The machine that the figures are from.
#[derive(Debug, Serialize)]
pub(super) struct Machine {
    /// What the operating system calls it.
    pub(super) cpu: String,
    /// The instructions that this program looks for and finds, the best first.
    pub(super) instructions: Vec<&'static str>,
    pub(super) system: String,
    pub(super) cores: usize,
}

impl Machine {
    /// This one, which has these backends.
    pub(super) fn this(backends: &[Backend]) -> Self {
        let names = backends.iter().map(|backend| backend.name);
        let instructions = names.filter(|name| *name != Portable::NAME);
        Self {
            cpu: cpu().unwrap_or_else(|| "unknown".into()),
            instructions: instructions.chain(sha256()).collect(),
            system: format!("{} on {}", env::consts::OS, env::consts::ARCH),
            cores: thread::available_parallelism().map_or(1, Into::into),
        }
    }
}

/// The instructions for SHA-256, which a CPU may have with any backend.
#[cfg(target_arch = "x86_64")]
fn sha256() -> Option<&'static str> {
    pq_core::arch::ShaNi::detect().map(|_| "SHA-NI")
}

#[cfg(all(
    target_arch = "aarch64",
    target_feature = "neon",
    target_endian = "little"
))]
fn sha256() -> Option<&'static str> {
    pq_core::arch::NeonSha2::detect().map(|_| "SHA-256")
}

#[cfg(not(any(
    target_arch = "x86_64",
    all(
        target_arch = "aarch64",
        target_feature = "neon",
        target_endian = "little"
    )
)))]
fn sha256() -> Option<&'static str> {
    None
}

/// From Linux's list of CPUs, where those of x86-64 have a name, and others numbers.
#[cfg(target_os = "linux")]
fn cpu() -> Option<String> {
    named(&fs::read_to_string("/proc/cpuinfo").ok()?)
}

#[cfg(target_os = "linux")]
fn named(list: &str) -> Option<String> {
    let values = |names: &[&str]| {
        let one = |name: &&str| {
            let mut lines = list.lines();
            lines.find_map(|line| {
                let (found, value) = line.split_once(':')?;
                (found.trim() == *name).then(|| value.trim().to_owned())
            })
        };
        names.iter().map(one).collect::<Option<Vec<String>>>()
    };
    if let Some(name) = values(&["model name", "cpu family", "model"]) {
        return Some(format!(
            "{}, family {}, model {}",
            name[0], name[1], name[2]
        ));
    }
    let numbers = values(&["CPU implementer", "CPU part"])?;
    Some(format!("implementer {}, part {}", numbers[0], numbers[1]))
}

#[cfg(target_os = "macos")]
fn cpu() -> Option<String> {
    let mut command = std::process::Command::new("/usr/sbin/sysctl");
    let output = command
        .args(["-n", "machdep.cpu.brand_string"])
        .output()
        .ok()?;
    let name = String::from_utf8(output.stdout).ok()?;
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}

/// As Windows has it in its environment.
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn cpu() -> Option<String> {
    env::var("PROCESSOR_IDENTIFIER").ok()
}

/// The kind of the file system that a folder is on, such as `ext4` or `tmpfs`, where the operating system
/// says it.
pub(super) fn file_system(folder: &std::path::Path) -> Option<String> {
    let folder = fs::canonicalize(folder).ok()?;
    kind_of_mount(&fs::read_to_string("/proc/mounts").ok()?, &folder)
}

/// The kind of the longest mount point above the folder; if two are at one place, the later one hides the
/// other.
fn kind_of_mount(mounts: &str, folder: &std::path::Path) -> Option<String> {
    let mounts = mounts.lines().filter_map(|line| {
        let mut words = line.split(' ');
        let (_, place, kind) = (words.next()?, words.next()?, words.next()?);
        folder.starts_with(place).then_some((place.len(), kind))
    });
    let (_, kind) = mounts.max_by_key(|(length, _)| *length)?;
    Some(kind.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_system_is_that_of_the_longest_mount_point() {
        let mounts = "/dev/vda / ext4 rw 0 0\nnone /tmp overlay rw 0 0\ntmpfs /tmp tmpfs rw 0 0\n";
        let kind = |folder: &str| kind_of_mount(mounts, folder.as_ref());
        assert_eq!(kind("/tmp/a").as_deref(), Some("tmpfs"));
        assert_eq!(kind("/tmpfile").as_deref(), Some("ext4"));
        assert_eq!(kind_of_mount("", "/".as_ref()), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn cpus_have_names_or_numbers() {
        let x86 = "processor\t: 0\ncpu family\t: 26\nmodel\t\t: 2\nmodel name\t: AMD EPYC\n";
        assert_eq!(named(x86).as_deref(), Some("AMD EPYC, family 26, model 2"));
        let arm = "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd40\n";
        assert_eq!(named(arm).as_deref(), Some("implementer 0x41, part 0xd40"));
        assert_eq!(named(""), None);
    }
}
