//! Certificate requests (PKCS#10, RFC 2986): made with a [`RequestBuilder`], and verified before a CA reads what they ask
//! for.
//!
//! This is a door: all of it is of the room `issuing`.

pub use crate::issuing::request::{
    CertificateRequest, RequestBuilder, RequestError, VerifiedRequest,
};
