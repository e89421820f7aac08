//! What other implementations wrote, and what nobody should.

mod cose;
mod jwk;
mod jws;
mod jwt;
mod keys;
