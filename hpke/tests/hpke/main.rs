//! Files and messages encrypted by HPKE, beside another implementation, altered, and made to do harm.

mod files;
mod keys;
mod memory;
mod ml_kem_512;
mod peers;
mod recipients;
