//! Checks that pq-core, as users compile it, is constant time: without the feature `memcheck`,
//! at each level of optimisation, in one codegen unit and in sixteen.
//!
//! The observed program, in `program/`, does not know about valgrind. It makes its secrets from its standard input,
//! and a preloaded library (`poison.c`) marks this input as
//! uninitialised. The reports of memcheck are then compared with the list of what the standards make
//! public ([`public`]).
//!
//! ```text
//! cargo run -p shipped-code              # all builds, which takes minutes
//! cargo run -p shipped-code -- 3/1 s/16  # these levels of optimisation and numbers of units
//! ```

#![forbid(unsafe_code)]

extern crate alloc;

mod build;
mod public;
mod report;
mod run;
mod verdict;

use core::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::mpsc;
use std::time::Instant;
use std::{env, thread};

use build::{Build, Builder};
use run::Runner;
use verdict::Verdict;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let named: Vec<Build> = env::args()
        .skip(1)
        .map(|arg| arg.parse())
        .collect::<Result<_, _>>()?;
    let is_complete = named.is_empty();
    let builds = if is_complete { Build::all() } else { named };

    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../..")
        .canonicalize()?;
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let folder = root.join(target).join("shipped-code");
    let builder = Builder::new(&root, &folder)?;
    let runner = Runner::new(&root, &folder)?;

    let started = Instant::now();
    let mut verdict = Verdict::default();
    // While one build runs, the next is compiled.
    thread::scope(|scope| -> Result<(), Box<dyn Error>> {
        let (built, to_run) = mpsc::channel();
        let making = scope.spawn(move || -> Result<(), String> {
            for build in builds {
                let started = Instant::now();
                let program = builder.build(build).map_err(|error| error.to_string())?;
                eprintln!("built {build} in {} s", started.elapsed().as_secs());
                if built.send((build, program)).is_err() {
                    break;
                }
            }
            Ok(())
        });
        for (build, program) in to_run {
            let started = Instant::now();
            for run in runner.run_all(build, &program)? {
                verdict.add(build, run);
            }
            eprintln!("ran {build} in {} s", started.elapsed().as_secs());
        }
        making.join().expect("a thread that does not panic")?;
        Ok(())
    })?;

    println!("{verdict}, in {} s", started.elapsed().as_secs());
    let complaints = verdict.complaints(is_complete);
    for complaint in &complaints {
        println!("{complaint}");
    }
    Ok(if complaints.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
