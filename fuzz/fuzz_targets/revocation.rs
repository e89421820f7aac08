//! Validation with revocation lists: a list that was changed on its way does not count, and a list that its
//! CA signed revokes the certificates on it.
#![no_main]

use core::time::Duration;

use arbitrary::Arbitrary;
use fuzz::der::DerEdits;
use fuzz::pki::{CA_LIST, Leniency, PKI, ROOT_LIST, VALID, sign_changed};
use libfuzzer_sys::fuzz_target;
use pq_x509::certificate::Certificate;
use pq_x509::pki_types::UnixTime;
use pq_x509::revocation::{CertificateRevocationList, RevocationPolicy};
use pq_x509::validation::{ChainValidator, Purpose, ValidationError};

fuzz_target!(|input: Input<'_>| match input.is_signed {
    true => check_signed(&input),
    false => check_sent(&input),
});

/// Few bytes decide a lot, and a field for which an input is too short is false: libFuzzer begins with a few
/// bytes.
#[derive(Arbitrary, Debug)]
struct Input<'a> {
    /// Whether the CA signs its list after the changes. Otherwise the lists are those that an attacker
    /// sends.
    is_signed: bool,
    ca_list_lost: bool,
    root_list_lost: bool,
    ca_list: DerEdits<'a>,
    root_list: DerEdits<'a>,
    more: Vec<(Which, DerEdits<'a>)>,
    /// Whether the leaf is the client's, which is revoked, and not the server's.
    client: bool,
    /// The time since all certificates and lists became valid, in units of half a year; it starts again
    /// at 1970.
    time: u8,
    leniency: Leniency,
}

#[derive(Arbitrary, Debug)]
enum Which {
    Ca,
    Root,
}

impl Input<'_> {
    fn leaf(&self) -> &'static Certificate {
        match self.client {
            true => &PKI.client,
            false => &PKI.server,
        }
    }

    fn time(&self) -> UnixTime {
        let start = *VALID.start() as u32 + 1;
        let seconds = start.wrapping_add(u32::from(self.time) << 24);
        UnixTime::since_unix_epoch(Duration::from_secs(seconds.into()))
    }

    /// The lists that are sent and can be read.
    fn sent(&self) -> Vec<CertificateRevocationList> {
        let of_ca = (!self.ca_list_lost).then_some((&*CA_LIST, &self.ca_list));
        let of_root = (!self.root_list_lost).then_some((&*ROOT_LIST, &self.root_list));
        let more = self.more.iter().map(|(which, edits)| match which {
            Which::Ca => (&*CA_LIST, edits),
            Which::Root => (&*ROOT_LIST, edits),
        });
        of_ca
            .into_iter()
            .chain(of_root)
            .chain(more)
            .filter_map(|(list, edits)| {
                CertificateRevocationList::from_der(&edits.of(list.der())).ok()
            })
            .collect()
    }

    /// Whether one may rely on lists whose successors are due at `next_update`.
    fn is_current(&self, next_update: Option<UnixTime>) -> bool {
        self.leniency.allow_expired_lists || next_update.is_some_and(|next| self.time() < next)
    }

    /// Validates the leaf with those lists that can be used.
    fn validate(&self, lists: &[CertificateRevocationList]) -> Result<(), ValidationError> {
        let policy = self
            .leniency
            .of(RevocationPolicy::new(lists.iter().cloned())?);
        let validator = ChainValidator::new([PKI.root.certificate().clone()]).expect("a root");
        let purpose = match self.client {
            true => Purpose::ClientAuth,
            false => Purpose::ServerAuth,
        };
        let chain = [self.leaf(), PKI.ca.certificate()];
        let validated =
            validator
                .with_revocation(policy)
                .validate(&chain, purpose, None, self.time());
        if let Err(error) = &validated {
            assert!(!error.to_string().is_empty());
            assert!(lists.is_empty() == (*error == ValidationError::NoRevocationLists));
        }
        validated.map(drop)
    }
}

/// Checks that lists count as they were issued or not at all.
fn check_sent(input: &Input<'_>) {
    let (ca, root) = (&*CA_LIST, &*ROOT_LIST);
    let lists = input.sent();
    let result = input.validate(&lists);
    if result.is_ok() && !input.leniency.allow_unknown_status {
        assert!(lists.contains(ca) && !input.client);
        assert!(lists.contains(root) || input.leniency.end_entity_only);
    }
    if let Err(ValidationError::Revoked { .. }) = result {
        assert!(lists.contains(ca) && input.client);
    }
    // The lists count if they are sent alone.
    if lists.contains(ca) && lists.contains(root) && lists.iter().all(|l| l == ca || l == root) {
        let seconds = input.time().as_secs();
        let is_right = VALID.contains(&seconds) && input.is_current(ca.next_update());
        assert_eq!(result.is_ok(), is_right && !input.client);
    }
}

/// Checks a list with any contents, signed by the CA: its effect is what `CertificateRevocationList` reads
/// in it.
fn check_signed(input: &Input<'_>) {
    let ca = PKI.ca.certificate();
    let list = sign_changed(CA_LIST.der(), &input.ca_list, PKI.ca.signer());
    let Ok(list) = CertificateRevocationList::from_der(&list) else {
        return;
    };
    let signed = list.verify_signature(ca, pq_x509::verification::ALL);
    assert!(signed.is_ok(), "{signed:?}");

    match input.validate(&[list.clone(), ROOT_LIST.clone()]) {
        Ok(()) if !input.leniency.allow_unknown_status => {
            assert_eq!(list.issuer(), ca.subject());
            assert!(list.entry_for(input.leaf()).is_none());
            assert!(input.is_current(list.next_update()));
        }
        Err(ValidationError::Revoked { entry, .. }) => {
            let entry = entry.expect("the list's");
            assert_eq!(entry.serial_number(), input.leaf().serial_number());
            assert!(list.entries().contains(&entry));
            assert!(list.entry_for(input.leaf()).is_some());
        }
        _ => {}
    }
}
