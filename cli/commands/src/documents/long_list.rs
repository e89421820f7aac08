//! Revocation lists of any length for whoever only looks at the first entries: all are read, and no more of them than that
//! are in memory at once.

use pq_x509::revocation::{CertificateRevocationList, RevocationListError};
use pq_x509::x509_cert::der::{self, Decode, Encode, Header, Length, Reader, SliceReader, Tag};

/// A list with its first entries.
pub(crate) struct LongList {
    pub(crate) list: CertificateRevocationList,
    /// How many entries follow those that are kept.
    pub(crate) further: usize,
}

/// So many bytes of entries are read at once, some hundred thousand entries; and all the rest of a list has less.
const AT_ONCE: usize = 2 * 1024 * 1024;

impl LongList {
    /// Reads a list as [`CertificateRevocationList::from_der`] does, or returns `None` if what is not its entries is too
    /// long.
    pub(super) fn from_der(list: &[u8]) -> Option<Result<Self, RevocationListError>> {
        let parts = match list.len() > AT_ONCE {
            true => Parts::of(list).ok().flatten(),
            false => None,
        };
        let Some(parts) = parts else {
            return (list.len() <= 2 * AT_ONCE).then(|| Self::whole(list));
        };
        if list.len() - parts.entries.len() > AT_ONCE {
            return None;
        }
        Some(parts.read())
    }

    fn whole(list: &[u8]) -> Result<Self, RevocationListError> {
        let list = CertificateRevocationList::from_der(list)?;
        Ok(Self { list, further: 0 })
    }
}

/// A list taken apart around its entries (RFC 5280 section 5.1).
struct Parts<'l> {
    /// From the version to the last time.
    before: &'l [u8],
    entries: &'l [u8],
    /// The extensions.
    after: &'l [u8],
    /// The algorithm and the signature.
    rest: &'l [u8],
}

impl<'l> Parts<'l> {
    /// `None` if there are no entries.
    fn of(list: &'l [u8]) -> der::Result<Option<Self>> {
        let list = contents(list)?;
        let mut fields = SliceReader::new(list)?;
        let signed = fields.tlv_bytes()?;
        let rest = &list[signed.len()..];
        let body = contents(signed)?;
        let mut fields = SliceReader::new(body)?;
        let (mut at, mut is_after_time) = (0, false);
        while !fields.is_finished() {
            let field = fields.tlv_bytes()?;
            let end = at + field.len();
            if is_after_time && field.first() == Some(&0x30) {
                return Ok(Some(Self {
                    before: &body[..at],
                    entries: contents(field)?,
                    after: &body[end..],
                    rest,
                }));
            }
            is_after_time = matches!(field.first(), Some(0x17 | 0x18));
            at = end;
        }
        Ok(None)
    }

    fn read(&self) -> Result<LongList, RevocationListError> {
        let mut found: Option<LongList> = None;
        let mut left = self.entries;
        while found.is_none() || !left.is_empty() {
            let (some, others) = left.split_at(whole_entries(left));
            left = others;
            let list = CertificateRevocationList::from_der(&self.with(some)?)?;
            match &mut found {
                Some(found) => found.further += list.entries().len(),
                None => found = Some(LongList { list, further: 0 }),
            }
        }
        Ok(found.expect("the loop begins with none"))
    }

    /// The list with these entries alone.
    fn with(&self, entries: &[u8]) -> der::Result<Vec<u8>> {
        let entries = sequence(&[entries])?;
        let body = sequence(&[self.before, &entries, self.after])?;
        sequence(&[&body, self.rest])
    }
}

/// How many bytes the first entries have: no more than are read at once, or one entry. All, if what is there is none.
fn whole_entries(entries: &[u8]) -> usize {
    let Ok(mut reader) = SliceReader::new(entries) else {
        return entries.len();
    };
    let mut end = 0;
    while end < AT_ONCE && !reader.is_finished() {
        match reader.tlv_bytes() {
            Ok(entry) => end += entry.len(),
            // Whoever reads it says what is wrong.
            Err(_) => return entries.len(),
        }
    }
    end
}

fn contents(sequence: &[u8]) -> der::Result<&[u8]> {
    let mut reader = SliceReader::new(sequence)?;
    let header = Header::decode(&mut reader)?;
    header.tag().assert_eq(Tag::Sequence)?;
    reader.read_slice(header.length())
}

fn sequence(parts: &[&[u8]]) -> der::Result<Vec<u8>> {
    let len = parts.iter().map(|part| part.len()).sum::<usize>();
    let mut der = Header::new(Tag::Sequence, Length::try_from(len)?).to_der()?;
    for part in parts {
        der.extend_from_slice(part);
    }
    Ok(der)
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use pq_x509::issuing::{CertificateBuilder, Issuer};
    use pq_x509::keys::{SignatureAlgorithm, SigningKey};
    use pq_x509::revocation::{CertificateRevocationListBuilder, CrlReason};

    use super::*;

    fn list(len: u32) -> CertificateRevocationList {
        let key = SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
        let ca = Issuer::self_signed(CertificateBuilder::ca("CA"), key).unwrap();
        let now = SystemTime::now();
        let mut list = CertificateRevocationListBuilder::new(&[7]);
        for number in 1..=len {
            let number = [&[1], &number.to_be_bytes()[..]].concat();
            list = list.revoke(&number, now, CrlReason::KeyCompromise);
        }
        ca.issue_revocation_list(list).unwrap()
    }

    #[test]
    fn all_entries_are_read_and_counted() {
        for len in [0, 3, 150_000] {
            let whole = list(len);
            let long = LongList::from_der(whole.der()).unwrap().unwrap();
            let kept = long.list.entries();
            assert_eq!(kept.len() + long.further, len as usize);
            assert!(kept == &whole.entries()[..kept.len()]);
            assert_eq!(long.further > 0, len > 3);
            assert_eq!(long.list.number(), whole.number());
        }
    }

    #[test]
    fn what_is_wrong_in_the_last_entry_is_found() {
        let whole = list(150_000);
        let mut wrong = whole.der().to_vec();
        let last = [&[2, 5, 1], &150_000_u32.to_be_bytes()[..]].concat();
        let at = wrong.windows(7).rposition(|seven| seven == last).unwrap();
        for (place, byte) in [(at, 4), (at + 1, 200), (at - 1, 255), (at - 1, 0x80)] {
            let before = core::mem::replace(&mut wrong[place], byte);
            let refused = LongList::from_der(&wrong).unwrap();
            assert!(refused.is_err(), "{byte}");
            assert!(CertificateRevocationList::from_der(&wrong).is_err());
            wrong[place] = before;
        }
    }
}
