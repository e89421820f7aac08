//! Holds each library's list of public items, so that a review sees each change of an interface: a name, a signature, a
//! trait that is implemented.
//!
//!     cargo run --manifest-path tests/evidence/public-items/Cargo.toml -- -p pq-x509            compares
//!     cargo run --manifest-path tests/evidence/public-items/Cargo.toml -- --write -p pq-x509    writes the list anew
//!
//! The lists are in `lists/`, one for each package, with the features that its documentation has. Implementations that
//! the compiler derives, and those for all types, are left out.

extern crate alloc;

use alloc::collections::BTreeMap;
use core::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use clap::Parser;
use serde_json::Value;

/// The folder of the workspace whose libraries are listed.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../..");

/// Whether the lists of public items are those of the crates.
#[derive(Parser)]
struct Arguments {
    /// A package of the workspace
    #[arg(short, long = "package", required = true)]
    packages: Vec<String>,
    /// Write the lists instead
    #[arg(long)]
    write: bool,
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments = Arguments::parse();
    let metadata = metadata()?;
    let mut changed = Vec::new();
    for name in &arguments.packages {
        let items = public_items(name, &metadata)?;
        let list = list_of(name);
        if arguments.write {
            fs::write(list, items)?;
            continue;
        }
        let listed = fs::read_to_string(&list)
            .map_err(|error| format!("{}: {error}; write it with --write", list.display()))?;
        let differences = differences(&listed, &items);
        if !differences.is_empty() {
            println!("{name}:\n{}", differences.join("\n"));
            changed.push(name.as_str());
        }
    }
    if changed.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    println!(
        "\nPublic items have changed. If they are to, write the lists, and commit them:\n    \
         cargo run --manifest-path tests/evidence/public-items/Cargo.toml -- --write -p {}",
        changed.join(" -p ")
    );
    Ok(ExitCode::FAILURE)
}

fn list_of(package: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("lists/{package}.txt"))
}

/// What cargo says about the packages of the workspace.
fn metadata() -> Result<Value, Box<dyn Error>> {
    let mut cargo = Command::new(env!("CARGO"));
    let output = cargo
        .args(["metadata", "--no-deps", "--format-version", "1", "--locked"])
        .current_dir(ROOT)
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// The public items of a package, a line each.
fn public_items(name: &str, metadata: &Value) -> Result<String, Box<dyn Error>> {
    let packages = metadata["packages"].as_array().ok_or("no packages")?;
    let package = packages
        .iter()
        .find(|package| package["name"] == name)
        .ok_or_else(|| format!("the workspace has no package {name}"))?;
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .args(["rustdoc", "--quiet", "--locked", "--lib", "--package", name])
        .args(features(package))
        .args(["--", "-Z", "unstable-options", "--output-format", "json"])
        // The format has no stable version yet; that of this compiler is known.
        .env("RUSTC_BOOTSTRAP", "1")
        .current_dir(ROOT);
    if !cargo.status()?.success() {
        return Err(format!("{name} can't be documented").into());
    }
    let target = metadata["target_directory"].as_str().ok_or("no target")?;
    let file = format!("doc/{}.json", name.replace('-', "_"));
    let items = public_api::Builder::from_rustdoc_json(Path::new(target).join(file))
        .omit_auto_derived_impls(true)
        .omit_auto_trait_impls(true)
        .omit_blanket_impls(true)
        .build()?;
    Ok(items.to_string())
}

/// Options of cargo for the features that the package's documentation has.
fn features(package: &Value) -> Vec<String> {
    let documented = &package["metadata"]["docs"]["rs"];
    if documented["all-features"] == true {
        return vec!["--all-features".into()];
    }
    let named = documented["features"].as_array().into_iter().flatten();
    let names: Vec<_> = named.filter_map(Value::as_str).collect();
    vec![format!("--features={}", names.join(","))]
}

/// The lines that only one of them has, however often, in order.
fn differences(listed: &str, found: &str) -> Vec<String> {
    let mut counts = BTreeMap::<&str, i32>::new();
    for line in found.lines() {
        *counts.entry(line).or_default() += 1;
    }
    for line in listed.lines() {
        *counts.entry(line).or_default() -= 1;
    }
    let only_in_one = counts.into_iter().filter(|(_, count)| *count != 0);
    only_in_one
        .map(|(line, count)| format!("{} {line}", if count > 0 { '+' } else { '-' }))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_change_is_a_difference() {
        let listed = "pub fn a()\npub fn b()\npub fn b()\n";
        assert!(differences(listed, listed).is_empty());
        let moved = "pub fn b()\npub fn a()\npub fn b()\n";
        assert!(differences(listed, moved).is_empty());
        let changed = "pub fn a(u8)\npub fn b()\n";
        let expected = ["- pub fn a()", "+ pub fn a(u8)", "- pub fn b()"];
        assert_eq!(differences(listed, changed), expected);
        assert_eq!(differences("", "pub mod c\n"), ["+ pub mod c"]);
    }

    /// No library that others may depend on is forgotten, and no list is left over.
    #[test]
    fn each_library_has_a_list() {
        let metadata = metadata().unwrap();
        let libraries = metadata["packages"].as_array().unwrap().iter();
        let libraries = libraries.filter(|package| {
            let kinds = package["targets"].as_array().unwrap().iter();
            package["publish"].is_null()
                && kinds
                    .flat_map(|target| target["kind"].as_array().unwrap())
                    .any(|kind| kind == "lib")
        });
        let mut names: Vec<_> = libraries
            .map(|package| format!("{}.txt", package["name"].as_str().unwrap()))
            .collect();
        names.sort();
        let lists = fs::read_dir(list_of("").parent().unwrap()).unwrap();
        let mut lists: Vec<_> = lists
            .map(|list| list.unwrap().file_name().into_string().unwrap())
            .collect();
        lists.sort();
        assert_eq!(lists, names);
    }
}
