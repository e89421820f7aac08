//! Input that other implementations wrote, and input that nobody should write.

mod any;
mod cose;
mod jwk;
mod jws;
mod jwt;
mod keys;
mod limits;
