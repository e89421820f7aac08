//! The backend that a whole run of tests is of, where it is to be of one.

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
