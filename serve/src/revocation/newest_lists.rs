//! Which revocation lists count: of those with one scope by one key, the newest that is valid by now says who isn't
//! revoked. Who is, the others say, too, unless a newer one takes it back: see [`Evidence`].
//!
//! What was seen once isn't forgotten: somebody who restores an old file mustn't readmit those whom the newer list
//! revokes. This ends with the program, which can't know at its start whether it reads the newest lists.
//!
//! Only lists that a known CA's key signed are remembered: anybody can write a list with the CA's name and a great
//! number. The others are left to rustls, which verifies each list that it needs, once more by the key of the
//! certificate's issuer. The lists in the files are remembered as soon as their CA is known: a root, one that was given
//! at the start, or one whose certificate a client has sent.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use pq_x509::certificate::Certificate;
use pq_x509::ocsp::OcspVerifier;
use pq_x509::revocation::{CertificateRevocationList, RevokedCertificate};
use pq_x509::x509_cert::der::asn1::AnyRef;
use pq_x509::x509_cert::der::{Decode, Encode, Reader, SliceReader, Tag, TagNumber, Tagged};
use pq_x509::x509_cert::ext::Extensions;
use pq_x509::x509_cert::ext::pkix::IssuingDistributionPoint;
use pq_x509::x509_cert::ext::pkix::name::DistributionPointName;
use pq_x509::x509_cert::spki::ObjectIdentifier;
use rustls::pki_types::UnixTime;

use super::known_keys::{CaKey, KnownKeys, key_of};

/// The newest lists so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct NewestLists {
    remembered: HashMap<Line, Vec<Arc<CertificateRevocationList>>>,
    /// Those in the files that no known key has signed.
    unverified: Vec<(Arc<CertificateRevocationList>, Line)>,
}

/// A CA has one newest list of a line, unless its numbers and times contradict each other. This many that do are
/// remembered, the latest ones.
const MOST_OF_A_LINE: usize = 8;

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
    /// Those that say who isn't revoked; the ones that were issued last come first.
    pub(crate) lists: Vec<Arc<CertificateRevocationList>>,
    /// Those that aren't valid yet.
    pub(crate) early: Vec<Arc<CertificateRevocationList>>,
    /// Those in the files that are not in use because of another one, and that one.
    pub(crate) replaced: Vec<[Arc<CertificateRevocationList>; 2]>,
    /// All that may say that a certificate was revoked.
    pub(crate) evidence: Evidence,
}

impl NewestLists {
    /// Takes these lists, all that there are at this time, into account.
    pub(crate) fn choose(
        &mut self,
        lists: impl IntoIterator<Item = impl Into<Arc<CertificateRevocationList>>>,
        known: &KnownKeys,
        now: UnixTime,
    ) -> Chosen {
        let mut unverified_before: HashMap<Line, Vec<_>> = HashMap::new();
        for (list, _) in std::mem::take(&mut self.unverified) {
            let line = Line::of(&list, known);
            // The CA may be known by now.
            match line.is_known() {
                true => self.remembered.entry(line).or_default().push(list),
                false => unverified_before.entry(line).or_default().push(list),
            }
        }
        let mut in_files: HashMap<Line, Vec<_>> = HashMap::new();
        for list in lists.into_iter().map(Into::into) {
            let line = Line::of(&list, known);
            if line.is_known() {
                let remembered = self.remembered.entry(line.clone()).or_default();
                remembered.push(list.clone());
            }
            in_files.entry(line).or_default().push(list);
        }
        for lists in self.remembered.values_mut() {
            forget_replaced(lists, now);
        }

        let mut chosen = Chosen::default();
        let mut unverified_in_use = Vec::new();
        for (line, mut lists) in in_files {
            if let Some(remembered) = self.remembered.get(&line) {
                let Some(newest) = newest(remembered, now) else {
                    continue;
                };
                let others = lists.into_iter().filter(|list| is_valid_at(list, now));
                let others = others.filter(|list| list != newest);
                chosen
                    .replaced
                    .extend(others.map(|list| [list, newest.clone()]));
                chosen.lists.push(newest.clone());
                continue;
            }
            // A list that isn't valid yet leaves its predecessor in use, even if it stands in its place.
            if newest(&lists, now).is_none() {
                lists.extend(unverified_before.remove(&line).unwrap_or_default());
            }
            unverified_in_use.extend(newest(&lists, now).cloned());
            let lists = lists.into_iter().map(|list| (list, line.clone()));
            self.unverified.extend(lists);
        }
        // If one CA has several lists, rustls takes the first one that is about a certificate.
        // Those that nobody signed whom this program knows come last, so that no forged one comes before the true one.
        for lists in [&mut chosen.lists, &mut unverified_in_use] {
            lists.sort_by_cached_key(|list| {
                (Reverse(list.this_update()), list.der().as_ref().to_vec())
            });
        }
        chosen.lists.extend(unverified_in_use);
        chosen.evidence = Evidence::of(self, known);
        let all = chosen.evidence.lists.iter().map(|(list, _)| list);
        let early = all.filter(|list| !is_valid_at(list, now));
        chosen.early = early.cloned().collect();
        chosen
    }
}

/// Forgets the lists of a line that a newer one replaces, and those that are there twice.
fn forget_replaced(lists: &mut Vec<Arc<CertificateRevocationList>>, now: UnixTime) {
    lists.sort_by_cached_key(|list| (Reverse(list.this_update()), list.der().as_ref().to_vec()));
    lists.dedup();
    let valid: Vec<_> = lists
        .iter()
        .filter(|list| is_valid_at(list, now))
        .cloned()
        .collect();
    lists.retain(|list| !valid.iter().any(|newer| is_newer(newer, list)));
    if lists.len() > MOST_OF_A_LINE {
        let newest = newest(lists, now).cloned();
        lists.truncate(MOST_OF_A_LINE);
        if let Some(newest) = newest
            && !lists.contains(&newest)
        {
            lists.pop();
            lists.push(newest);
        }
    }
}

/// Whether a list counts already. CAs' clocks may be a little ahead.
pub(crate) fn is_valid_at(list: &CertificateRevocationList, now: UnixTime) -> bool {
    has_come(list.this_update(), now)
}

fn has_come(time: UnixTime, now: UnixTime) -> bool {
    let ahead = time.as_secs().saturating_sub(now.as_secs());
    ahead <= OcspVerifier::CLOCK_TOLERANCE.as_secs()
}

/// A list's number as something that can be compared: big-endian, without leading zeros.
fn number(list: &CertificateRevocationList) -> Option<(usize, &[u8])> {
    list.number().map(|number| (number.len(), number))
}

/// Whether a list takes back what the other one of its line says: if it was issued later, and its number, if both
/// have one, is greater (RFC 5280, section 5.2.3). pq-x509's validators judge in the same way. Whatever contradicts
/// itself, as the numbers and times of a CA that was restored from a backup do, takes nothing back.
pub(crate) fn is_newer(one: &CertificateRevocationList, other: &CertificateRevocationList) -> bool {
    let numbers = number(one).zip(number(other));
    one.this_update() > other.this_update() && numbers.is_none_or(|(one, other)| one > other)
}

/// Which of the lists of one line that are valid is the newest: by the numbers, which only increase, then by the times.
/// Of two that are alike in both, the one that revokes more counts as newer. If one has no number, the times decide
/// alone, for all lists, so that their order never matters.
fn newest(
    lists: &[Arc<CertificateRevocationList>],
    now: UnixTime,
) -> Option<&Arc<CertificateRevocationList>> {
    let valid = || lists.iter().filter(|list| is_valid_at(list, now));
    let have_numbers = valid().all(|list| list.number().is_some());
    valid().max_by_key(|list| {
        (
            number(list).filter(|_| have_numbers),
            list.this_update(),
            list.entries().len(),
            list.der().as_ref(),
        )
    })
}

/// All lists that may say that a certificate was revoked, be they in use or not. rustls asks only one list about
/// each certificate, and only one that is valid.
///
/// A certificate is revoked if one of them, signed by the key that signed the certificate, has it, and no newer list of
/// this key and scope takes it back. A list that isn't valid yet counts, too, if the revocation's date has come: the
/// clock may be late.
#[derive(Clone, Debug, Default)]
pub(crate) struct Evidence {
    lists: Vec<(Arc<CertificateRevocationList>, Line)>,
    known: KnownKeys,
}

impl Evidence {
    fn of(newest: &NewestLists, known: &KnownKeys) -> Self {
        let remembered = newest.remembered.iter();
        let remembered = remembered
            .flat_map(|(line, lists)| lists.iter().map(|list| (list.clone(), line.clone())));
        let mut lists: Vec<_> = remembered
            .chain(newest.unverified.iter().cloned())
            .collect();
        lists.sort_by_cached_key(|(list, _)| {
            (Reverse(list.this_update()), list.der().as_ref().to_vec())
        });
        Self {
            lists,
            known: known.clone(),
        }
    }

    pub(crate) fn known(&self) -> &KnownKeys {
        &self.known
    }

    /// The same, with these keys for lists that were read before any was known.
    pub(crate) fn with_keys(&self, known: KnownKeys) -> Self {
        Self {
            known,
            ..self.clone()
        }
    }

    /// The entries for a certificate in any list, also in those that don't count.
    pub(crate) fn entries_for(
        &self,
        certificate: &Certificate,
    ) -> impl Iterator<Item = &RevokedCertificate> {
        let lists = self.lists.iter();
        lists.filter_map(|(list, _)| list.entry_for(certificate))
    }

    /// Whether a certificate was revoked. Its issuer is a known CA or one of these.
    pub(crate) fn is_revoked(
        &self,
        certificate: &Certificate,
        cas: &[Certificate],
        now: UnixTime,
    ) -> bool {
        self.lists.iter().any(|(list, line)| {
            let Some(entry) = list.entry_for(certificate) else {
                return false;
            };
            if !is_valid_at(list, now) && !has_come(entry.date(), now) {
                return false;
            }
            let is_by = |key: &CaKey| {
                self.known.is_signed_by(certificate.der(), key)
                    && self.is_by(list, line, key)
                    && !self.is_taken_back((list, line), certificate, key, now)
            };
            match &line.signer {
                Signer::Known(key) => is_by(key),
                Signer::Unknown(..) => {
                    let issuer = certificate.issuer();
                    let sent = cas.iter().filter(|ca| ca.subject() == issuer);
                    let mut sent = sent.filter_map(key_of);
                    self.known.named(certificate.issuer_der()).any(is_by)
                        || sent.any(|key| is_by(&key))
                }
            }
        })
    }

    fn is_taken_back(
        &self,
        (list, line): (&CertificateRevocationList, &Line),
        certificate: &Certificate,
        key: &CaKey,
        now: UnixTime,
    ) -> bool {
        self.lists.iter().any(|(other, of_other)| {
            of_other.scope == line.scope
                && is_newer(other, list)
                && is_valid_at(other, now)
                && other.entry_for(certificate).is_none()
                && self.is_by(other, of_other, key)
        })
    }

    /// Whether a list is by this key.
    fn is_by(&self, list: &CertificateRevocationList, line: &Line, key: &CaKey) -> bool {
        match &line.signer {
            Signer::Known(signer) => signer == key,
            Signer::Unknown(..) => self.known.is_signed_by(list.der(), key),
        }
    }
}

impl Line {
    fn of(list: &CertificateRevocationList, known: &KnownKeys) -> Self {
        let signer = match known.signer(list.der()) {
            Some(key) => Signer::Known(key.clone()),
            None => Signer::Unknown(
                list.issuer_der().to_vec(),
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

    use pq_x509::certificate::Validity;
    use pq_x509::issuing::{CertificateBuilder, Issuer};
    use pq_x509::keys::SigningKey;
    use pq_x509::revocation::{CertificateRevocationListBuilder, CrlReason};
    use pq_x509::x509_cert::der::asn1::Any;
    use rustls::RootCertStore;
    use rustls_pq::Profile;

    use super::*;
    use crate::provider::provider_builder;
    use crate::revocation::tests::{ca, change_extensions, key, of_url, resigned};

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

    /// The list of the CA with this seed without its number.
    fn without_number(list: &CertificateRevocationList, seed: u8) -> CertificateRevocationList {
        let identifier = [6, 3, 0x55, 29, 20];
        let list = resigned(list, seed, |body| {
            change_extensions(body, |all| {
                all.retain(|one| !one.value().starts_with(&identifier));
            });
        });
        assert_eq!(list.number(), None);
        list
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
            // Lists that are away for a while make nobody forget.
            const NONE: [CertificateRevocationList; 0] = [];
            assert!(newest.choose(NONE, &known, now).lists.is_empty());
            let chosen = newest.choose(vec![lists[1].clone()], &known, now);
            assert_eq!(*chosen.lists[0], *newer);
            assert_eq!(chosen.replaced.is_empty(), lists[1] == newer);
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
            assert!(chosen.replaced.is_empty());
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
            let chosen = newest.choose(lists.into_iter().cloned(), &known, now);
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
        let unnamed = resigned(older, 1, |body| {
            let identifier = [6, 3, 0x55, 29, 35];
            change_extensions(body, |all| {
                all.retain(|one| !one.value().starts_with(&identifier));
            });
        });
        assert_eq!(unnamed.authority_key_id(), None);
        let renamed = resigned(older, 1, |body| {
            // From UTF8String to PrintableString.
            let name = body[2].to_der().unwrap();
            let name: Vec<u8> = name
                .iter()
                .map(|byte| if *byte == 12 { 19 } else { *byte })
                .collect();
            body[2] = Any::from_der(&name).unwrap();
        });
        assert_ne!(renamed.issuer(), current.issuer());
        // The second one says that it is not about users alone, which goes without saying.
        let [of_url, older_of_url] = [of_url(current, 1, &[]), of_url(older, 1, &[0x81, 1, 0])];
        for (current, older) in [
            (current, &unnamed),
            (current, &renamed),
            (&of_url, &older_of_url),
        ] {
            let mut newest = NewestLists::default();
            newest.choose(vec![current.clone()], &known, now);
            let chosen = newest.choose(vec![older.clone()], &known, now);
            assert_eq!((chosen.lists.len(), chosen.replaced.len()), (1, 1));
            assert_eq!(*chosen.lists[0], *current);
        }
        // What is about other certificates stands beside it.
        let together = vec![current.clone(), of_url];
        let chosen = NewestLists::default().choose(together, &known, now);
        assert_eq!(chosen.lists.len(), 2);
    }

    /// A CA below a root becomes known by a client's chain, and what was in use then is remembered.
    #[test]
    fn lists_of_a_ca_that_becomes_known_are_remembered() {
        let now = UnixTime::now();
        let root = ca(1);
        let below = root
            .issue_ca(CertificateBuilder::ca("below").path_len(0), key(3))
            .unwrap();
        let mut known = known(&[&root]);
        let [older, current] = [list(&below, &[1], -3, 0), list(&below, &[2], -2, 1)];
        let mut newest = NewestLists::default();
        let mut choose = |list: &CertificateRevocationList, known: &KnownKeys| {
            let chosen = newest.choose(vec![list.clone()], known, now);
            CertificateRevocationList::clone(&chosen.lists[0])
        };
        assert_eq!(choose(&current, &known), current);
        known.learn(known.certified(&[below.certificate().clone()]));
        assert!(known.contains(below.certificate()));
        assert_eq!(choose(&older, &known), current);
    }

    /// Times and numbers may go round in circles where some lists have no number.
    #[test]
    fn the_order_of_lists_never_matters() {
        let now = UnixTime::now();
        let ca = ca(1);
        let known = known(&[&ca]);
        let [a, b, c] = [
            list(&ca, &[5], -1, 0),
            without_number(&list(&ca, &[1], -2, 0), 1),
            list(&ca, &[6], -3, 0),
        ];
        for [x, y, z] in [
            [&a, &b, &c],
            [&a, &c, &b],
            [&b, &a, &c],
            [&b, &c, &a],
            [&c, &a, &b],
            [&c, &b, &a],
        ] {
            let lists = vec![x.clone(), y.clone(), z.clone()];
            let chosen = NewestLists::default().choose(lists, &known, now);
            assert_eq!(chosen.lists.len(), 1);
            assert_eq!(*chosen.lists[0], a);
            // Of two that contradict each other, too.
            let mut lists = [x, y, z].map(Clone::clone).to_vec();
            lists.retain(|list| *list != b);
            let chosen = NewestLists::default().choose(lists, &known, now);
            assert_eq!(*chosen.lists[0], c);
            assert_eq!(chosen.evidence.lists.len(), 2);
        }
    }

    /// A CA whose numbers go down all the time doesn't fill the memory. The newest and the latest ones stay.
    #[test]
    fn few_lists_that_contradict_each_other_are_remembered() {
        let now = UnixTime::now();
        let ca = ca(1);
        let known = known(&[&ca]);
        let lists: Vec<_> = (0..=MOST_OF_A_LINE as u8)
            .map(|at| list(&ca, &[100 - at], i64::from(at) - 20, 0))
            .collect();
        let mut newest = NewestLists::default();
        let most = &lists[..MOST_OF_A_LINE];
        let chosen = newest.choose(most.to_vec(), &known, now);
        assert_eq!(chosen.evidence.lists.len(), MOST_OF_A_LINE);
        let chosen = newest.choose(vec![lists[MOST_OF_A_LINE].clone()], &known, now);
        assert_eq!(*chosen.lists[0], lists[0]);
        let mut kept: Vec<_> = chosen
            .evidence
            .lists
            .iter()
            .map(|(list, _)| &**list)
            .collect();
        kept.reverse();
        let expected = lists[..1].iter().chain(&lists[2..]);
        assert_eq!(kept, expected.collect::<Vec<_>>());
    }
}
