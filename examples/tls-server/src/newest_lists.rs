//! Which revocation lists count: of those with one scope by one key, the newest that is valid by now.
//!
//! What was seen once isn't forgotten: somebody who restores an old file mustn't readmit those whom the newer list
//! revokes. This ends with the program, which can't know at its start whether it reads the newest lists.
//!
//! Only lists that a known CA's key signed are remembered: anybody can write a list with the CA's name and a great number.
//! The others are left to rustls, which verifies each list that it needs, once more by the key of the certificate's
//! issuer. The lists in use are remembered as soon as their CA is known, from the first client that sends its certificate.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Arc;

use pq_x509::x509_cert::der::asn1::AnyRef;
use pq_x509::x509_cert::der::{Decode, Encode, Reader, SliceReader, Tag, TagNumber, Tagged};
use pq_x509::x509_cert::ext::Extensions;
use pq_x509::x509_cert::ext::pkix::IssuingDistributionPoint;
use pq_x509::x509_cert::ext::pkix::name::DistributionPointName;
use pq_x509::x509_cert::spki::ObjectIdentifier;
use pq_x509::{CertificateRevocationList, OcspVerifier};
use rustls::pki_types::UnixTime;

use crate::known_keys::{CaKey, KnownKeys};

/// The newest lists so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct NewestLists {
    newest: HashMap<Line, Arc<CertificateRevocationList>>,
    /// Those in use that no known key has signed.
    unverified: Vec<Arc<CertificateRevocationList>>,
}

/// Lists that replace each other. Names don't count: they have several encodings.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct Line {
    /// A CA that changes its key has lists of both for a while.
    signer: Signer,
    scope: Scope,
}

#[derive(Clone, Debug, Eq, Hash, PartialEq)]
enum Signer {
    Known(CaKey),
    /// What the list says of it, the issuer's Name in DER and the identifier of its key. Lists of such a line are not
    /// remembered.
    Unknown(Vec<u8>, Option<Vec<u8>>),
}

/// Which certificates a list is about, without what only its encoding says.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
struct Scope {
    /// In order.
    names: Option<Vec<Vec<u8>>>,
    is_for: [bool; 4],
    has_all_reasons: bool,
}

/// What to do with the lists in files.
#[derive(Debug, Default)]
pub(crate) struct Chosen {
    /// Those that count; the ones that were issued last come first.
    pub(crate) lists: Vec<Arc<CertificateRevocationList>>,
    /// Those that aren't valid yet.
    pub(crate) early: Vec<Arc<CertificateRevocationList>>,
    /// Those in the files that are older than one that is known, and that one.
    pub(crate) outdated: Vec<[Arc<CertificateRevocationList>; 2]>,
}

impl NewestLists {
    /// Takes these lists, all that there are at this time, into account.
    pub(crate) fn choose(
        &mut self,
        lists: Vec<CertificateRevocationList>,
        known: &KnownKeys,
        now: UnixTime,
    ) -> Chosen {
        let mut unverified_before = HashMap::new();
        for list in std::mem::take(&mut self.unverified) {
            let line = Line::of(&list, known);
            // The CA may be known by now.
            if line.is_known() {
                let newest = self.newest.entry(line).or_insert_with(|| list.clone());
                replace_if_newer(newest, list);
            } else {
                unverified_before.insert(line, list);
            }
        }
        let mut chosen = Chosen::default();
        let mut in_files: HashMap<Line, Arc<CertificateRevocationList>> = HashMap::new();
        for list in lists.into_iter().map(Arc::new) {
            if !is_valid_at(&list, now) {
                chosen.early.push(list);
                continue;
            }
            let line = Line::of(&list, known);
            let newest = in_files.entry(line).or_insert_with(|| list.clone());
            replace_if_newer(newest, list);
        }
        // A list that isn't valid yet leaves its predecessor in use, even if it stands in its place.
        for line in chosen.early.iter().map(|list| Line::of(list, known)) {
            let before = self.newest.get(&line);
            if let Some(before) = before.or_else(|| unverified_before.get(&line)) {
                in_files.entry(line).or_insert_with(|| before.clone());
            }
        }
        for (line, list) in in_files {
            if !line.is_known() {
                self.unverified.push(list.clone());
                chosen.lists.push(list);
                continue;
            }
            let newest = self.newest.entry(line).or_insert_with(|| list.clone());
            match compare(&list, newest) {
                Ordering::Less => chosen.outdated.push([list, newest.clone()]),
                Ordering::Equal | Ordering::Greater => *newest = list,
            }
            chosen.lists.push(newest.clone());
        }
        // If one CA has several lists, rustls takes the first one that is about a certificate.
        // Those that nobody signed whom this program knows come last, so that no forged one comes before the true one.
        let is_unverified =
            |list: &Arc<_>| self.unverified.iter().any(|one| Arc::ptr_eq(one, list));
        chosen.lists.sort_by(|one, other| {
            let by_time = other.this_update().cmp(&one.this_update());
            is_unverified(one)
                .cmp(&is_unverified(other))
                .then(by_time)
                .then_with(|| one.der().as_ref().cmp(other.der().as_ref()))
        });
        chosen
    }
}

fn replace_if_newer(
    newest: &mut Arc<CertificateRevocationList>,
    list: Arc<CertificateRevocationList>,
) {
    if compare(&list, newest).is_gt() {
        *newest = list;
    }
}

/// Whether a list counts already. CAs' clocks may be a little ahead.
pub(crate) fn is_valid_at(list: &CertificateRevocationList, now: UnixTime) -> bool {
    let ahead = list.this_update().as_secs().saturating_sub(now.as_secs());
    ahead <= OcspVerifier::CLOCK_TOLERANCE.as_secs()
}

/// Which one is newer: by the numbers, which only increase (RFC 5280, section 5.2.3), then by the times. Of two that
/// are alike in both, the one that revokes more counts as newer.
fn compare(one: &CertificateRevocationList, other: &CertificateRevocationList) -> Ordering {
    let by_numbers = match (one.number(), other.number()) {
        // Big-endian, without leading zeros.
        (Some(one), Some(other)) => (one.len(), one).cmp(&(other.len(), other)),
        _ => Ordering::Equal,
    };
    by_numbers
        .then_with(|| one.this_update().cmp(&other.this_update()))
        .then_with(|| one.entries().len().cmp(&other.entries().len()))
}

impl Line {
    fn of(list: &CertificateRevocationList, known: &KnownKeys) -> Self {
        let signer = match known.signer(list.der()) {
            Some(key) => Signer::Known(key.clone()),
            // A name that was read can be written.
            None => Signer::Unknown(
                list.issuer().to_der().unwrap_or_default(),
                list.authority_key_id().map(<[u8]>::to_vec),
            ),
        };
        Self {
            signer,
            scope: Scope::of(list),
        }
    }

    fn is_known(&self) -> bool {
        matches!(self.signer, Signer::Known(_))
    }
}

impl Scope {
    fn of(list: &CertificateRevocationList) -> Self {
        let point = distribution_point(list.der());
        let Some(point) = point.and_then(|der| IssuingDistributionPoint::from_der(&der).ok())
        else {
            return Self {
                has_all_reasons: true,
                ..Self::default()
            };
        };
        // A name that was read can be written.
        let names = point.distribution_point.map(|name| match name {
            DistributionPointName::FullName(names) => {
                let mut names: Vec<Vec<u8>> =
                    names.iter().filter_map(|one| one.to_der().ok()).collect();
                names.sort();
                names.dedup();
                names
            }
            DistributionPointName::NameRelativeToCRLIssuer(name) => {
                name.to_der().into_iter().collect()
            }
        });
        Self {
            names,
            is_for: [
                point.only_contains_user_certs,
                point.only_contains_ca_certs,
                point.only_contains_attribute_certs,
                point.indirect_crl,
            ],
            has_all_reasons: point.only_some_reasons.is_none(),
        }
    }
}

/// The extension issuingDistributionPoint of a list, which was read before.
fn distribution_point(der: &[u8]) -> Option<Vec<u8>> {
    const ISSUING_DISTRIBUTION_POINT: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.29.28");
    /// crlExtensions [0] of TBSCertList. Nothing else there has this tag.
    const EXTENSIONS: Tag = Tag::ContextSpecific {
        constructed: true,
        number: TagNumber(0),
    };
    let list = AnyRef::from_der(der).ok()?;
    let body = AnyRef::decode(&mut SliceReader::new(list.value()).ok()?).ok()?;
    let mut fields = SliceReader::new(body.value()).ok()?;
    while !fields.is_finished() {
        let field = AnyRef::decode(&mut fields).ok()?;
        if field.tag() == EXTENSIONS {
            let extensions = Extensions::from_der(field.value()).ok()?;
            let mut extensions = extensions.into_iter();
            let point = extensions.find(|one| one.extn_id == ISSUING_DISTRIBUTION_POINT)?;
            return Some(point.extn_value.as_bytes().to_vec());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use pq_x509::x509_cert::der::asn1::{Any, BitString};
    use pq_x509::{
        CertificateBuilder, CertificateRevocationListBuilder, CrlReason, Issuer,
        SignatureAlgorithm, SigningKey, Validity,
    };
    use rustls::RootCertStore;
    use rustls_pq::Profile;

    use super::*;
    use crate::provider_builder;

    fn ca(seed: u8) -> Issuer<SigningKey> {
        let key = SigningKey::from_seed(SignatureAlgorithm::MlDsa44, &[seed; 32]).unwrap();
        Issuer::self_signed(CertificateBuilder::ca("CA"), key).unwrap()
    }

    /// A list from `hour` on, in hours from now, that revokes this many certificates.
    fn list(
        ca: &Issuer<SigningKey>,
        number: &[u8],
        hour: i64,
        entries: u8,
    ) -> CertificateRevocationList {
        let hours = |hours: i64| Duration::from_secs(hours.unsigned_abs() * 3600);
        let from = match hour < 0 {
            true => SystemTime::now() - hours(hour),
            false => SystemTime::now() + hours(hour),
        };
        let validity = Validity::new(from, from + hours(100));
        let builder = CertificateRevocationListBuilder::new(number).validity(validity);
        let builder = (1..=entries).fold(builder, |builder, serial| {
            builder.revoke(&[serial], SystemTime::now(), CrlReason::Unspecified)
        });
        ca.issue_revocation_list(builder).unwrap()
    }

    /// The keys of these CAs are known.
    fn known(cas: &[&Issuer<SigningKey>]) -> KnownKeys {
        let mut roots = RootCertStore::empty();
        for ca in cas {
            roots.add(ca.certificate().der().clone()).unwrap();
        }
        let provider = provider_builder(Profile::Default, &[]).unwrap().build();
        KnownKeys::of(&roots, provider.unwrap().signature_verification_algorithms)
    }

    /// Whether of two lists of a CA, in either order and one after the other, the second counts.
    #[track_caller]
    fn assert_replaces(
        ca: &Issuer<SigningKey>,
        older: &CertificateRevocationList,
        newer: &CertificateRevocationList,
    ) {
        let now = UnixTime::now();
        let known = known(&[ca]);
        for lists in [[older, newer], [newer, older]] {
            let together = lists.map(Clone::clone).to_vec();
            let chosen = NewestLists::default().choose(together, &known, now);
            assert_eq!(*chosen.lists[0], *newer);
            assert_eq!(chosen.lists.len(), 1);

            let mut newest = NewestLists::default();
            newest.choose(vec![lists[0].clone()], &known, now);
            // A file that is away for a while makes nobody forget.
            assert!(newest.choose(Vec::new(), &known, now).lists.is_empty());
            let chosen = newest.choose(vec![lists[1].clone()], &known, now);
            assert_eq!(*chosen.lists[0], *newer);
            assert_eq!(chosen.outdated.is_empty(), lists[1] == newer);
        }
    }

    #[test]
    fn numbers_then_times_then_entries() {
        let ca = ca(1);
        assert_replaces(&ca, &list(&ca, &[1], -2, 1), &list(&ca, &[2], -1, 0));
        // The number counts more than the time, and has any length.
        assert_replaces(&ca, &list(&ca, &[1], -1, 0), &list(&ca, &[2], -2, 0));
        assert_replaces(&ca, &list(&ca, &[9], -1, 0), &list(&ca, &[1, 0], -2, 0));
        assert_replaces(&ca, &list(&ca, &[5], -2, 1), &list(&ca, &[5], -1, 0));
        assert_replaces(&ca, &list(&ca, &[5], -1, 0), &list(&ca, &[5], -1, 1));
    }

    #[test]
    fn lists_by_other_keys_stand_beside_each_other() {
        let now = UnixTime::now();
        let [old, new] = [ca(1), ca(2)];
        let known = known(&[&old, &new]);
        let [by_old, by_new] = [list(&old, &[7], -2, 0), list(&new, &[1], -1, 0)];
        let mut newest = NewestLists::default();
        for lists in [[&by_old, &by_new], [&by_new, &by_old]] {
            let chosen = newest.choose(lists.map(Clone::clone).to_vec(), &known, now);
            let lists: Vec<_> = chosen.lists.iter().map(|list| &**list).collect();
            assert_eq!(lists, [&by_new, &by_old]);
            assert!(chosen.outdated.is_empty());
        }
    }

    #[test]
    fn what_is_not_yet_valid_waits() {
        let ca = ca(1);
        let known = known(&[&ca]);
        let [current, early] = [list(&ca, &[1], -1, 1), list(&ca, &[2], 24, 0)];
        let mut newest = NewestLists::default();
        for lists in [[&current, &early], [&early, &current]] {
            let chosen = newest.choose(lists.map(Clone::clone).to_vec(), &known, UnixTime::now());
            assert_eq!(*chosen.lists[0], current);
            assert_eq!((chosen.lists.len(), chosen.early.len()), (1, 1));
        }
        // In the other's place it counts no more, and alone neither.
        let chosen = newest.choose(vec![early.clone()], &known, UnixTime::now());
        assert_eq!(*chosen.lists[0], current);
        let chosen = NewestLists::default().choose(vec![early.clone()], &known, UnixTime::now());
        assert_eq!((chosen.lists.len(), chosen.early.len()), (0, 1));
        let chosen = newest.choose(vec![early.clone()], &known, early.this_update());
        assert_eq!(*chosen.lists[0], early);
        // At the edge of the tolerance for clocks, and beyond it.
        let tolerance = OcspVerifier::CLOCK_TOLERANCE.as_secs();
        let at = |seconds| UnixTime::since_unix_epoch(Duration::from_secs(seconds));
        let edge = early.this_update().as_secs() - tolerance;
        assert!(is_valid_at(&early, at(edge)));
        assert!(!is_valid_at(&early, at(edge - 1)));
    }

    /// Anybody can write a list with a CA's name and a great number. It must not outdate the CA's own.
    #[test]
    fn a_forged_list_is_not_remembered() {
        let now = UnixTime::now();
        let [ca, forger] = [ca(1), ca(2)];
        let known = known(&[&ca]);
        let [older, current] = [list(&ca, &[1], -3, 0), list(&ca, &[2], -2, 1)];
        let forged = list(&forger, &[0x7f; 20], -1, 0);
        assert_eq!(forged.issuer(), current.issuer());
        let mut newest = NewestLists::default();
        for (lists, expected) in [
            (vec![&current, &forged], vec![&current, &forged]),
            (vec![&forged], vec![&forged]),
            (vec![&current], vec![&current]),
            // And the current one was not forgotten.
            (vec![&forged, &older], vec![&current, &forged]),
        ] {
            let chosen = newest.choose(lists.into_iter().cloned().collect(), &known, now);
            let lists: Vec<_> = chosen.lists.iter().map(|list| &**list).collect();
            assert_eq!(lists, expected);
        }
    }

    /// The key and what the list is about decide, and not how the list writes its issuer, its key and its scope.
    #[test]
    fn an_older_list_in_another_encoding_replaces_nothing() {
        let now = UnixTime::now();
        let ca = ca(1);
        let known = known(&[&ca]);
        let plain = [list(&ca, &[2], -2, 1), list(&ca, &[1], -3, 0)];
        let [current, older] = &plain;
        let unnamed = resigned(older, |body| {
            let identifier = [6, 3, 0x55, 29, 35];
            change_extensions(body, |all| {
                all.retain(|one| !one.value().starts_with(&identifier));
            });
        });
        assert_eq!(unnamed.authority_key_id(), None);
        let renamed = resigned(older, |body| {
            // From UTF8String to PrintableString.
            let name = body[2].to_der().unwrap();
            let name: Vec<u8> = name
                .iter()
                .map(|byte| if *byte == 12 { 19 } else { *byte })
                .collect();
            body[2] = Any::from_der(&name).unwrap();
        });
        assert_ne!(renamed.issuer(), current.issuer());
        let url = [0xa0, 8, 0xa0, 6, 0x86, 4, b'a', b':', b'/', b'b'];
        // The second one says that it is not about users alone, which goes without saying.
        let with_point = |list: &CertificateRevocationList, end: &[u8]| {
            let point = [&url[..], end].concat();
            let len = point.len() as u8;
            let extension = [
                &[0x30, len + 11, 6, 3, 0x55, 29, 28, 4, len + 2, 0x30, len][..],
                &point,
            ];
            let mut extension = extension.concat();
            extension[1] = extension.len() as u8 - 2;
            let extension = Any::from_der(&extension).unwrap();
            resigned(list, |body| {
                change_extensions(body, |all| all.push(extension))
            })
        };
        let [of_url, older_of_url] = [with_point(current, &[]), with_point(older, &[0x81, 1, 0])];
        for (current, older) in [
            (current, &unnamed),
            (current, &renamed),
            (&of_url, &older_of_url),
        ] {
            let mut newest = NewestLists::default();
            newest.choose(vec![current.clone()], &known, now);
            let chosen = newest.choose(vec![older.clone()], &known, now);
            assert_eq!((chosen.lists.len(), chosen.outdated.len()), (1, 1));
            assert_eq!(*chosen.lists[0], *current);
        }
        // What is about other certificates stands beside it.
        let together = vec![current.clone(), of_url];
        let chosen = NewestLists::default().choose(together, &known, now);
        assert_eq!(chosen.lists.len(), 2);
    }

    /// A list of the CA with the first seed, changed and signed again.
    fn resigned(
        list: &CertificateRevocationList,
        change: impl FnOnce(&mut Vec<Any>),
    ) -> CertificateRevocationList {
        let key = SigningKey::from_seed(SignatureAlgorithm::MlDsa44, &[1; 32]).unwrap();
        let mut parts = Vec::<Any>::from_der(list.der()).unwrap();
        let mut body: Vec<Any> = parts[0].decode_as().unwrap();
        change(&mut body);
        let body = body.to_der().unwrap();
        parts[0] = Any::from_der(&body).unwrap();
        let signature = BitString::from_bytes(&key.sign(&body).unwrap()).unwrap();
        parts[2] = Any::encode_from(&signature).unwrap();
        CertificateRevocationList::from_der(&parts.to_der().unwrap()).unwrap()
    }

    fn change_extensions(body: &mut [Any], change: impl FnOnce(&mut Vec<Any>)) {
        let field = body.last_mut().unwrap();
        let mut all = Vec::<Any>::from_der(field.value()).unwrap();
        change(&mut all);
        *field = Any::new(field.tag(), all.to_der().unwrap()).unwrap();
    }

    /// A CA below a root becomes known by a client's chain, and what was in use then is remembered.
    #[test]
    fn lists_of_a_ca_that_becomes_known_are_remembered() {
        let now = UnixTime::now();
        let root = ca(1);
        let key = SigningKey::from_seed(SignatureAlgorithm::MlDsa44, &[3; 32]).unwrap();
        let below = root
            .issue_ca(CertificateBuilder::ca("below").path_len(0), key)
            .unwrap();
        let mut known = known(&[&root]);
        let [older, current] = [list(&below, &[1], -3, 0), list(&below, &[2], -2, 1)];
        let mut newest = NewestLists::default();
        let mut choose = |list: &CertificateRevocationList, known: &KnownKeys| {
            let chosen = newest.choose(vec![list.clone()], known, now);
            CertificateRevocationList::clone(&chosen.lists[0])
        };
        assert_eq!(choose(&current, &known), current);
        let sent = [below.certificate().der().clone()];
        assert!(!known.has_all(&sent));
        known.learn(&sent);
        assert!(known.has_all(&sent));
        assert_eq!(choose(&older, &known), current);

        // What a known CA has not certified teaches nothing.
        let before = known.count();
        known.learn(&[ca(4).certificate().der().clone()]);
        assert_eq!(known.count(), before);
    }
}
