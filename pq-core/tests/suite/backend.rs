//! The backend that a whole run of tests is of, where it is to be of one.

#[cfg(feature = "limit")]
use crate::tally::announce;

/// `.ci/run` names it in the environment, which nothing heeds without the feature `limit`.
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

/// A run that must have some backends says in the environment which, which nothing heeds without the
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
        let program = std::env::current_exe().expect("a program knows where it is");
        std::process::Command::new(program)
            .args([
                "--exact",
                "backend::the_machine_has_what_the_environment_requires",
            ])
            .env("PQ_CORE_REQUIRE", required)
            .output()
    };
    let passed = match run("portable") {
        Ok(passed) => passed,
        Err(error) => {
            announce(&format!(
                "not checked: PQ_CORE_REQUIRE, since the program can't start itself: {error}\n"
            ));
            return;
        }
    };
    let stdout = String::from_utf8_lossy(&passed.stdout);
    assert!(passed.status.success(), "{stdout}");
    assert!(stdout.contains("1 passed"), "{stdout}");
    let failed = run("portable,abacus").expect("it started before");
    assert!(!failed.status.success());
    let stdout = String::from_utf8_lossy(&failed.stdout);
    assert!(stdout.contains("is called \"abacus\""), "{stdout}");
}
