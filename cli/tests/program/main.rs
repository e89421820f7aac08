//! The program as a user runs it.

extern crate alloc;

mod adopt;
mod advice;
mod audited;
mod below;
mod bench;
mod ca;
#[cfg(unix)]
mod ca_acme;
#[cfg(unix)]
mod ca_fleet;
mod ca_in_store;
#[cfg(unix)]
mod ca_page;
mod ca_served;
mod certificates;
mod certify;
mod classical;
mod cms;
mod composite;
#[cfg(target_os = "linux")]
mod deployed;
mod dev;
mod documents;
mod door;
mod encrypted;
mod examples;
mod folder;
mod hpke;
mod jose;
mod json;
mod kept;
mod keys;
mod keys_in_store;
#[cfg(target_os = "linux")]
mod large_files;
mod lint;
mod manners;
mod misfits;
#[cfg(unix)]
mod obtain;
mod ocsp_served;
mod operator;
mod page;
mod pem;
mod raw;
mod rollover;
mod serve;
mod served;
mod several;
#[cfg(unix)]
mod shared_ledger;
#[cfg(unix)]
mod shared_store;
mod show;
#[cfg(target_os = "linux")]
mod signals;
mod ssh;
mod store;
mod store_manners;
mod transit;
