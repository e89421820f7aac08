//! The context string of an ML-DSA or SLH-DSA signature, given as text or in hexadecimal.

/// The context of a signature (FIPS 204, section 5.2), at most 255 bytes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Context(Vec<u8>);

impl Context {
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    fn new(bytes: Vec<u8>) -> Result<Self, String> {
        match bytes.len() {
            0..=255 => Ok(Self(bytes)),
            len => Err(format!(
                "a context has at most 255 bytes, not {len}; shorten it"
            )),
        }
    }
}

/// Takes a text as it is, in UTF-8.
pub(crate) fn context_of_text(text: &str) -> Result<Context, String> {
    Context::new(text.as_bytes().to_vec())
}

/// Reads bytes in hexadecimal.
pub(crate) fn context_of_hex(text: &str) -> Result<Context, String> {
    let bytes = base16ct::mixed::decode_vec(text);
    Context::new(bytes.map_err(|_| "write bytes in hexadecimal, two digits each, such as 00ff")?)
}
