use der::{Encode, ErrorKind, Length};

/// The encoding of a document, or of another value of thousands of bytes.
///
/// [`Encode::to_der`] fills what it returns with zeros by a loop, which a crate that is compiled for size
/// keeps: it took a fifth of what an issued certificate takes beside its signature. These zeros come from
/// the allocator.
pub(crate) fn to_der(value: &impl Encode) -> der::Result<Vec<u8>> {
    let expected_len = value.encoded_len()?;
    let mut der = vec![0; usize::try_from(expected_len)?];
    let actual_len = Length::try_from(value.encode_to_slice(&mut der)?.len())?;
    match actual_len == expected_len {
        true => Ok(der),
        false => Err(ErrorKind::Incomplete {
            expected_len,
            actual_len,
        }
        .into()),
    }
}
