//! Checks that a file is as long as its header says, since redb panics if it is not.

use std::io;

use ::redb::StorageBackend;

/// What a database of redb begins with.
const MAGIC: [u8; 9] = *b"redb\x1a\x0a\xa9\x0d\x0a";

/// The size of a page.
const PAGE: u64 = 4096;

/// Where the numbers of the header of redb's format 3 begin, after a byte of flags and two zeros. There are five of four
/// bytes, little-endian: the size of a page, how many pages of a region are its own header, how many at most its data, how
/// many regions are full, and how many pages of data the last one has that is not.
const NUMBERS: usize = MAGIC.len() + 3;

/// Whether bytes begin as a file of redb's does.
pub(super) fn is_begun(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}

/// Whether a file begins as one of redb's does, as far as it has a beginning.
pub(super) fn is_of_redb(file: &dyn StorageBackend) -> io::Result<bool> {
    let mut magic = MAGIC;
    let len = usize::try_from(file.len()?).unwrap_or(usize::MAX);
    let begun = &mut magic[..len.min(MAGIC.len())];
    file.read(0, begun)?;
    Ok(magic == MAGIC)
}

/// Checks the header of such a file.
pub(super) fn check(file: &dyn StorageBackend) -> Result<(), String> {
    let len = file.len().map_err(|error| error.to_string())?;
    let mut header = [0; NUMBERS + 20];
    if len < PAGE {
        return Err("it is cut off".into());
    }
    file.read(0, &mut header)
        .map_err(|error| error.to_string())?;
    let (_, numbers) = header.split_at(NUMBERS);
    let mut values = [0; 5];
    for (value, number) in values.iter_mut().zip(numbers.as_chunks().0) {
        *value = u64::from(u32::from_le_bytes(*number));
    }
    let [page, region_header, most, full, last] = values;
    if page != PAGE || most == 0 || last > most || full + last == 0 {
        return Err("its header was changed".into());
    }
    let partial = if last == 0 { 0 } else { region_header + last };
    // Five numbers of 32 bits can't make this overflow 128.
    let pages = u128::from(full) * u128::from(region_header + most) + u128::from(partial) + 1;
    match pages * u128::from(PAGE) <= u128::from(len) {
        true => Ok(()),
        false => Err("it is cut off, or its header was changed".into()),
    }
}
