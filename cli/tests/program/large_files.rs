//! Time and memory of `pqtls sign`, `pqtls verify` and `pqtls encrypt` for files that don't fit into the memory
//! that they may use.

use core::time::Duration;
use std::fs;
use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Instant;

use pq_x509::keys::SigningKey;
use pq_x509::keys::signing::SignatureOptions;

use crate::folder::Folder;
use crate::raw::folder;

/// The most memory that they may take, in KiB.
const LIMIT: u64 = 32 * 1024;

const GIB: u64 = 1 << 30;

fn start(folder: &Folder, command_line: &str) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pqtls"));
    command.args(command_line.split_whitespace());
    command.current_dir(folder.path());
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command.spawn().unwrap()
}

/// The most that it had in memory so far, in KiB; nothing if it has ended. The program's own file isn't counted: how much of it
/// is mapped is the system's choice.
fn peak(child: &Child) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let kib = |name: &str| -> Option<u64> {
        let value = status.lines().find_map(|line| line.strip_prefix(name))?;
        value.trim().strip_suffix(" kB")?.parse().ok()
    };
    Some(kib("VmHWM:")?.saturating_sub(kib("RssFile:")?))
}

#[test]
fn take_little_memory() {
    const MIB: &[u8] = &[7; 1 << 20];
    let folder = folder();
    folder.pqtls("key new X-Wing --out box.key").ok();
    for command in [
        "sign --key ML-DSA-65.key - --out sig",
        "verify --key ML-DSA-65.pub --signature sig -",
        "sign --key SLH-DSA-SHA2-128f.key - --pre-hash SHA-256 --out sig.slh",
        "encrypt - --to box.key --out encrypted",
    ] {
        let mut child = start(&folder, command);
        let mut pipe = child.stdin.take().unwrap();
        // more than the limit
        for _ in 0..40 {
            pipe.write_all(MIB).unwrap();
        }
        let peak = peak(&child).expect("it waits for more");
        assert!(peak < LIMIT, "{command}: {peak} KiB");
        drop(pipe);
        assert!(child.wait_with_output().unwrap().status.success());
    }
}

/// By `script`, which every Debian has.
#[test]
fn show_how_far_they_are_on_a_terminal_if_it_takes_longer_than_a_second() {
    let folder = folder();
    let sign = |pause: &str| {
        let zeros = "head -c 1048576 /dev/zero";
        let input = format!("{zeros}; sleep {pause}; {zeros}");
        format!("({input}) | pqtls sign --key ML-DSA-44.key --out sig --force")
    };
    let on_terminal = |line: &str| {
        let line = format!("TERM=xterm script -qec \"{line}\" /dev/null");
        folder.shell(&line).stdout().to_owned()
    };
    let slow = on_terminal(&sign("1.1"));
    assert!(slow.contains("MiB") && slow.contains("/s"), "{slow}");
    // A machine that others use, too, may take a second even for this.
    let is_quick = (0..5).any(|_| {
        let quick = on_terminal(&sign("0"));
        assert!(quick.contains("signature of"), "{quick}");
        !quick.contains("MiB")
    });
    assert!(is_quick, "shown although it takes less than a second");
    folder.shell(&sign("1.1")).ok();
}

/// For a quiet machine with two cores and an optimised program. The best of three measurements counts for
/// each of the two times; they alternate.
#[test]
#[ignore = "takes minutes, and asks for all of the machine"]
fn of_four_gibibytes_take_little_longer_than_their_hash() {
    let folder = folder();
    let large = fs::File::create(folder.path().join("large")).unwrap();
    large.set_len(4 * GIB).unwrap();
    let mut slow = Vec::new();
    for (algorithm, hash) in [
        ("ML-DSA-65", None),
        ("ML-DSA-65", Some("SHA-512")),
        ("ML-DSA-65", Some("SHAKE256")),
        ("ML-DSA-44", Some("SHA-256")),
    ] {
        let key = SigningKey::from_pkcs8_pem(&folder.read(&format!("{algorithm}.key"))).unwrap();
        let options = hash.map_or(String::new(), |hash| format!("--pre-hash {hash}"));
        let sign = format!("sign --key {algorithm}.key large {options} --out sig --force");
        let verify = format!("verify --key {algorithm}.pub --signature sig large {options}");
        let mut best = [Duration::MAX; 3];
        for _ in 0..3 {
            let times = [
                time_of_hash(&key, hash),
                time_of(&folder, &sign),
                time_of(&folder, &verify),
            ];
            for (best, time) in best.iter_mut().zip(times) {
                *best = time.min(*best);
            }
        }
        let [alone, signing, verifying] = best.map(|time| time.as_secs_f64());
        for (command, time) in [(&sign, signing), (&verify, verifying)] {
            let speed = alone / time;
            println!(
                "{command}: {time:.2} s, hash {alone:.2} s, {:.0} %",
                100.0 * speed
            );
            if speed < 0.9 {
                slow.push(command.clone());
            }
        }
    }
    assert!(slow.is_empty(), "slower than 90 % of the hash: {slow:?}");
}

/// The time to hash as many bytes in memory.
fn time_of_hash(key: &SigningKey, hash: Option<&str>) -> Duration {
    let mut options = SignatureOptions::new();
    if let Some(name) = hash {
        let mut all = pq_x509::keys::signing::PreHash::ALL.iter();
        options = options.pre_hash(*all.find(|hash| hash.name() == name).unwrap());
    }
    let mut hasher = key.hasher(&options).unwrap();
    let piece = vec![0; 1 << 20];
    let begun = Instant::now();
    for _ in 0..(4 * GIB) >> 20 {
        hasher.update(&piece);
    }
    hasher.finish();
    begun.elapsed()
}

/// The time of a whole process, which takes little memory.
fn time_of(folder: &Folder, command_line: &str) -> Duration {
    let begun = Instant::now();
    let mut child = start(folder, command_line);
    let mut most = 0;
    while child.try_wait().unwrap().is_none() {
        most = most.max(peak(&child).unwrap_or(0));
        thread::sleep(Duration::from_millis(10));
    }
    let time = begun.elapsed();
    assert!(child.wait_with_output().unwrap().status.success());
    assert!((1..LIMIT).contains(&most), "{command_line}: {most} KiB");
    println!("{command_line}: {:.2} s, {most} KiB", time.as_secs_f64());
    time
}
