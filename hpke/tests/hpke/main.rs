//! Files and messages that are encrypted by HPKE, compared with another implementation, altered, and made to do harm.

mod files;
mod keys;
mod memory;
mod ml_kem_512;
mod peers;
mod raw_keys;
mod recipients;
