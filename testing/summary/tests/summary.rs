//! The last test program of `cargo test --workspace`: names the tests that were skipped, and what they lack.

fn main() {
    let lines = testing::skipped::all();
    if lines.is_empty() {
        println!("\nno test was skipped\n");
        return;
    }
    println!("\n{} tests were skipped:", lines.len());
    for line in lines {
        println!("  {}", line.trim_start_matches("SKIPPED "));
    }
    println!("The vectors of some come from `../shared/vectors`: see pq-core/tests/README.md.\n");
}
