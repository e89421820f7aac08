//! Validation with revocation lists: a list that was changed on the way is none, and one that its
//! CA signed revokes what it lists.
#![no_main]

use core::time::Duration;

use arbitrary::Arbitrary;
use fuzz::der::DerEdits;
use fuzz::pki::{CA_LIST, PKI, ROOT_LIST, VALID, sign_changed};
use libfuzzer_sys::fuzz_target;
use pq_x509::pki_types::UnixTime;
use pq_x509::{
    Certificate, CertificateRevocationList, ChainValidator, Purpose, RevocationPolicy,
    ValidationError,
};

fuzz_target!(|input: Input<'_>| {
    match &input.lists {
        Lists::Sent(lists) => check_sent(lists, &input),
        Lists::Signed(edits) => check_signed(edits, &input),
    }
});

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    lists: Lists<'a>,
    /// Whether the leaf is the client's, which is revoked, and not the server's.
    client: bool,
    /// The time, where it isn't one at which all certificates and lists are valid.
    time: Option<u32>,
    end_entity_only: bool,
    allow_unknown_status: bool,
    allow_expired_lists: bool,
}

#[derive(Arbitrary, Debug)]
enum Lists<'a> {
    /// Lists as an attacker sends them.
    Sent(Vec<(Which, DerEdits<'a>)>),
    /// A list that the CA signs as it is.
    Signed(DerEdits<'a>),
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
        let seconds = self.time.map_or(*VALID.start() + 1, u64::from);
        UnixTime::since_unix_epoch(Duration::from_secs(seconds))
    }

    /// Whether one may rely on what lists say that are followed by others at `next_update`.
    fn is_current(&self, next_update: Option<UnixTime>) -> bool {
        self.allow_expired_lists || next_update.is_some_and(|next| self.time() < next)
    }

    /// What becomes of the leaf, with lists that can be used.
    fn validate(&self, lists: &[CertificateRevocationList]) -> Result<(), ValidationError> {
        let mut policy = RevocationPolicy::new(lists.iter().cloned())?;
        if self.end_entity_only {
            policy = policy.end_entity_only();
        }
        if self.allow_unknown_status {
            policy = policy.allow_unknown_status();
        }
        if self.allow_expired_lists {
            policy = policy.allow_expired_lists();
        }
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

/// Lists count as they were issued or not at all.
fn check_sent(sent: &[(Which, DerEdits<'_>)], input: &Input<'_>) {
    let (ca, root) = (&*CA_LIST, &*ROOT_LIST);
    let lists: Vec<CertificateRevocationList> = sent
        .iter()
        .filter_map(|(which, edits)| {
            let list = match which {
                Which::Ca => ca,
                Which::Root => root,
            };
            CertificateRevocationList::from_der(&edits.of(list.der())).ok()
        })
        .collect();
    let result = input.validate(&lists);
    if result.is_ok() && !input.allow_unknown_status {
        assert!(lists.contains(ca) && !input.client);
        assert!(lists.contains(root) || input.end_entity_only);
    }
    if let Err(ValidationError::Revoked { .. }) = result {
        assert!(lists.contains(ca) && input.client);
    }
    // And these do, where they are sent alone.
    if lists.contains(ca) && lists.contains(root) && lists.iter().all(|l| l == ca || l == root) {
        let seconds = input.time().as_secs();
        let is_right = VALID.contains(&seconds) && input.is_current(ca.next_update());
        assert_eq!(result.is_ok(), is_right && !input.client);
    }
}

/// A list with any contents whatever, which the CA signed. What x509-cert reads in it is what is
/// done.
fn check_signed(edits: &DerEdits<'_>, input: &Input<'_>) {
    let ca = PKI.ca.certificate();
    let list = sign_changed(CA_LIST.der(), edits, PKI.ca.signer());
    let Ok(list) = CertificateRevocationList::from_der(&list) else {
        return;
    };
    let signed = list.verify_signature(ca, pq_x509::verification::ALL);
    assert!(signed.is_ok(), "{signed:?}");

    match input.validate(&[list.clone(), ROOT_LIST.clone()]) {
        Ok(()) if !input.allow_unknown_status => {
            assert_eq!(list.issuer(), ca.subject());
            assert!(list.entry_for(input.leaf()).is_none());
            assert!(input.is_current(list.next_update()));
        }
        Err(ValidationError::Revoked { entry, .. }) => {
            let entry = entry.expect("the list's");
            assert_eq!(entry.serial_number(), input.leaf().serial_number());
            assert!(list.entries().contains(&entry));
        }
        _ => {}
    }
}
