//! The backend for a whole run of tests, if the environment names one.

#[cfg(feature = "limit")]
use testing::skipped::cannot_run;

/// `.ci/run` names it in the environment, which is ignored without the feature `limit`.
#[test]
fn the_backend_is_the_one_that_the_environment_names() {
    let Ok(name) = std::env::var("PQ_CORE_BACKEND") else {
        return;
    };
    #[cfg(feature = "limit")]
    assert_eq!(pq_core::arch::chosen(), name);
    #[cfg(not(feature = "limit"))]
    panic!("PQ_CORE_BACKEND is {name}, and pq-core is compiled without the feature `limit`");
}

/// A run can name the backends that it requires in the environment, which is ignored without the
/// feature `limit`.
#[test]
fn the_machine_has_what_the_environment_requires() {
    if std::env::var_os("PQ_CORE_REQUIRE").is_some() && cfg!(not(feature = "limit")) {
        panic!("PQ_CORE_REQUIRE is set, and pq-core is compiled without the feature `limit`");
    }
    on_each_backend!(_b => ());
}

/// In a process of its own, with another environment.
#[cfg(feature = "limit")]
#[test]
fn a_run_fails_without_what_it_requires() {
    let run = |required| {
        let program = std::env::current_exe()?;
        let test = "backend::the_machine_has_what_the_environment_requires";
        std::process::Command::new(program)
            .args(["--exact", test])
            .env("PQ_CORE_REQUIRE", required)
            .output()
            .map(|run| {
                let said = String::from_utf8_lossy(&run.stdout).into_owned();
                (run.status.success(), said)
            })
    };
    // under an emulator, the process may not start
    let (passed, said) = match run("portable") {
        Ok((passed, said)) if said.contains("running 1 test") => (passed, said),
        other => {
            cannot_run(&format!("PQ_CORE_REQUIRE is not checked: {other:?}"));
            return;
        }
    };
    assert!(passed, "{said}");
    let (passed, said) = run("portable,abacus").expect("it started before");
    assert!(!passed && said.contains("called \"abacus\""), "{said}");
}
