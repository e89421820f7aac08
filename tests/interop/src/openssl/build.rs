//! Building OpenSSL's program and library from the source that the `openssl-src` crate
//! carries.

use core::hash::{Hash, Hasher};
use std::env;
use std::fs::{self, File};
use std::hash::DefaultHasher;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Instant;

use super::{MINIMUM, Unavailable};
use crate::{target_folder, tell};

/// The folder with the `openssl` that is built from the source in `openssl-src`, and its libraries and
/// `include`; built if no earlier run did so.
///
/// Several processes may ask at once: one builds, the others wait for its lock. The
/// finished folder appears under its final name in one step, so that a build that
/// was cut short is never mistaken for a whole one.
pub(super) fn cached_folder() -> Result<PathBuf, Unavailable> {
    let target = target_folder();
    // The name depends on the version and the options, since these change the program.
    let mut options = DefaultHasher::new();
    OPTIONS.hash(&mut options);
    let name = format!(
        "openssl-with-libraries-{}-{:016x}",
        openssl_src::version(),
        options.finish()
    );
    let folder = target.join(&name);
    if folder.exists() {
        return Ok(folder);
    }

    let tools = Tools::find()?;
    // Released when it is closed, however this process ends.
    let _lock = lock(&target.join(format!("{name}.lock")))
        .map_err(|err| Unavailable::Broken(format!("can't lock the OpenSSL build: {err}")))?;
    if folder.exists() {
        return Ok(folder);
    }

    let log = target.join(format!("{name}.log"));
    let scratch = target.join(format!("{name}.build"));
    tell(&format!(
        "building OpenSSL {} once, which takes a minute or two; the log is {}",
        openssl_src::version(),
        log.display()
    ));
    let start = Instant::now();
    tools
        .build(&scratch, &log)
        .and_then(|()| install(&scratch, &folder))
        .map_err(|err| {
            Unavailable::Broken(format!(
                "building OpenSSL failed: {err}; see {}. To use an OpenSSL of yours, at least \
                 {MINIMUM}, name its program in the environment variable OPENSSL",
                log.display()
            ))
        })?;
    // Sixty megabytes of objects that nobody needs again; no harm if they stay.
    let _ = fs::remove_dir_all(&scratch);
    tell(&format!("built OpenSSL in {} s", start.elapsed().as_secs()));
    Ok(folder)
}

fn lock(path: &Path) -> io::Result<File> {
    let file = File::create(path)?;
    file.lock()?;
    Ok(file)
}

/// The tools that OpenSSL's build needs.
struct Tools {
    perl: &'static str,
    make: &'static str,
    compiler: String,
}

impl Tools {
    fn find() -> Result<Self, Unavailable> {
        // Some systems install a perl without the modules that Configure uses.
        let perl = works(
            "perl",
            &["-MFile::Compare", "-MFindBin", "-MIPC::Cmd", "-e1"],
        )
        .then_some("perl")
        .ok_or(Unavailable::Missing("perl with its standard modules"))?;
        let make = ["gmake", "make"]
            .into_iter()
            .find(|name| works(name, &["--version"]))
            .ok_or(Unavailable::Missing("make"))?;
        let compiler = env::var("CC")
            .into_iter()
            .chain(["cc", "gcc", "clang"].map(String::from))
            .find(|name| works(name, &["--version"]))
            .ok_or(Unavailable::Missing("a C compiler"))?;
        Ok(Self {
            perl,
            make,
            compiler,
        })
    }

    /// Configures and builds in `folder`.
    fn build(&self, folder: &Path, log: &Path) -> io::Result<()> {
        if folder.exists() {
            fs::remove_dir_all(folder)?;
        }
        fs::create_dir_all(folder)?;
        let log = File::create(log)?;

        // Out of tree, so that cargo's copy of the source stays untouched.
        let mut configure = self.command(self.perl, folder, &log)?;
        configure
            .arg(openssl_src::source_dir().join("Configure"))
            .args(OPTIONS)
            .env("CC", &self.compiler);
        run(&mut configure)?;

        let jobs = thread::available_parallelism().map_or(1, |jobs| jobs.get());
        let mut make = self.command(self.make, folder, &log)?;
        make.arg(format!("-j{jobs}")).arg("build_programs");
        run(&mut make)
    }

    fn command(&self, program: &str, folder: &Path, log: &File) -> io::Result<Command> {
        let mut command = Command::new(program);
        command
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log.try_clone()?);
        // If make runs us, it would pass on its job server, which is not meant for this make.
        for variable in ["CARGO_MAKEFLAGS", "MAKEFLAGS", "MFLAGS"] {
            command.env_remove(variable);
        }
        Ok(command)
    }
}

/// Whether `program` starts and ends well with these arguments.
fn works(program: &str, arguments: &[&str]) -> bool {
    Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

fn run(command: &mut Command) -> io::Result<()> {
    let status = command.status()?;
    if status.success() {
        return Ok(());
    }
    let program = command.get_program().display().to_string();
    Err(io::Error::other(format!("{program} ended with {status}")))
}

/// Moves the needed parts of a finished build to their final place, all or nothing.
fn install(scratch: &Path, folder: &Path) -> io::Result<()> {
    let whole = scratch.join("whole");
    let headers = whole.join("include/openssl");
    fs::create_dir_all(&headers)?;
    for file in ["apps/openssl", "libcrypto.a", "libssl.a"] {
        let file = scratch.join(file);
        fs::rename(&file, whole.join(file.file_name().unwrap_or_default()))?;
    }
    // Some headers are generated; the others are in the source.
    for from in [openssl_src::source_dir(), scratch.into()] {
        for header in fs::read_dir(from.join("include/openssl"))? {
            let header = header?;
            if header
                .path()
                .extension()
                .is_some_and(|suffix| suffix == "h")
            {
                fs::copy(header.path(), headers.join(header.file_name()))?;
            }
        }
    }
    fs::rename(whole, folder)
}

/// Options for a program that needs no other files, without features that no test uses. `no-module` and
/// `no-legacy` are needed: a generated file that modules want is not in the crate. With -O0 it takes less
/// time to compile than with OpenSSL's own -O3; its assembly is as fast.
const OPTIONS: [&str; 40] = [
    "no-shared",
    "no-module",
    "no-legacy",
    "no-dso",
    "no-tests",
    "no-docs",
    "no-makedepend",
    "no-aria",
    "no-bf",
    "no-blake2",
    "no-camellia",
    "no-cast",
    "no-cmp",
    "no-comp",
    "no-ct",
    "no-dtls",
    "no-ec2m",
    "no-engine",
    "no-gost",
    "no-idea",
    "no-md4",
    "no-mdc2",
    "no-multiblock",
    "no-ocb",
    "no-quic",
    "no-rc2",
    "no-rc4",
    "no-rfc3779",
    "no-rmd160",
    "no-seed",
    "no-siphash",
    "no-siv",
    "no-sm2",
    "no-sm3",
    "no-sm4",
    "no-srp",
    "no-srtp",
    "no-ts",
    "no-whirlpool",
    "CFLAGS=-O0",
];
