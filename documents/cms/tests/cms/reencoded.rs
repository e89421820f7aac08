//! Messages that were taken apart, changed in one place and written again with the right lengths: what a peer that
//! makes mistakes sends, or an attacker who knows DER. Bits that are flipped mostly break an encoding.

use core::time::Duration;
use std::io;
use std::time::SystemTime;

use aes::Aes256;
use aes::cipher::KeyInit as _;
use aes_kw::AesKw;
use hkdf::Hkdf;
use pq_cms::{
    ContentCipher, DocumentSigner, EnvelopeBuilder, Opener, OpeningError, Recipient, RecipientKey,
    SignatureRefusal, SignedDataBuilder, VerificationError, VerificationTime, Verifier,
};
use pq_x509::keys::{KemAlgorithm, SignatureAlgorithm};
use sha2::{Digest as _, Sha256};

use crate::bytes::{parts, tlv, value};
use crate::enveloped::{SECRET, encrypt, key, sealed_for};
use crate::people::{EcdhKey, Person, validator};
use crate::signed::{CONTENT, attached, by, refusal};

/// A value in DER as a tree, which is written again with the right lengths.
#[derive(Clone)]
struct Node {
    tag: u8,
    contents: Contents,
}

#[derive(Clone)]
enum Contents {
    Bytes(Vec<u8>),
    Nodes(Vec<Node>),
}

impl Node {
    fn read(der: &[u8]) -> Self {
        let contents = match der[0] & 0x20 {
            0 => Contents::Bytes(value(der).to_vec()),
            _ => Contents::Nodes(parts(der).into_iter().map(Self::read).collect()),
        };
        Self {
            tag: der[0],
            contents,
        }
    }

    fn write(&self) -> Vec<u8> {
        match &self.contents {
            Contents::Bytes(bytes) => tlv(self.tag, &[bytes]),
            Contents::Nodes(nodes) => {
                let nodes: Vec<_> = nodes.iter().map(Self::write).collect();
                tlv(self.tag, &[&nodes.concat()])
            }
        }
    }

    fn bytes(tag: u8, bytes: &[u8]) -> Self {
        Self {
            tag,
            contents: Contents::Bytes(bytes.to_vec()),
        }
    }

    fn nodes(&mut self) -> &mut Vec<Self> {
        match &mut self.contents {
            Contents::Nodes(nodes) => nodes,
            Contents::Bytes(_) => panic!("it has no parts"),
        }
    }

    /// The node at the end of a path of numbers, the last of which may be counted from the end.
    fn at(&mut self, path: &[usize]) -> &mut Self {
        let mut node = self;
        for step in path {
            node = &mut node.nodes()[*step];
        }
        node
    }

    /// Paths to all nodes.
    fn paths(&self) -> Vec<Vec<usize>> {
        let mut paths = vec![Vec::new()];
        if let Contents::Nodes(nodes) = &self.contents {
            for (step, node) in nodes.iter().enumerate() {
                paths.extend(
                    node.paths()
                        .into_iter()
                        .map(|path| [&[step][..], &path].concat()),
                );
            }
        }
        paths
    }
}

fn changed(message: &[u8], path: &[usize], change: impl FnOnce(&mut Node)) -> Vec<u8> {
    let mut tree = Node::read(message);
    change(tree.at(path));
    tree.write()
}

/// The changes of one node that a careless program makes.
fn changes(node: &Node) -> Vec<Vec<Node>> {
    let mut changes = vec![vec![], vec![node.clone(), node.clone()]];
    let mut with = |contents| {
        let tag = node.tag;
        changes.push(vec![Node { tag, contents }]);
    };
    match &node.contents {
        Contents::Bytes(bytes) => {
            with(Contents::Bytes(Vec::new()));
            with(Contents::Bytes([bytes, &[0][..]].concat()));
            with(Contents::Bytes([&[0][..], bytes].concat()));
            if let Some((_, start)) = bytes.split_last() {
                with(Contents::Bytes(start.to_vec()));
            }
            if let Some((_, end)) = bytes.split_first() {
                with(Contents::Bytes(end.to_vec()));
            }
            with(Contents::Bytes(bytes.iter().take(12).copied().collect()));
        }
        Contents::Nodes(nodes) => {
            with(Contents::Nodes(Vec::new()));
            with(Contents::Nodes(
                [&nodes[..], &[Node::bytes(5, &[])]].concat(),
            ));
            with(Contents::Nodes(nodes.iter().rev().cloned().collect()));
        }
    }
    changes.push(vec![Node {
        tag: node.tag ^ 1,
        contents: node.contents.clone(),
    }]);
    changes
}

/// All changes of all nodes of a message that make another one.
fn all_changes(message: &[u8]) -> Vec<(Vec<usize>, Vec<u8>)> {
    let mut tree = Node::read(message);
    assert!(tree.write() == message);
    let mut all = Vec::new();
    for path in tree.paths().into_iter().filter(|path| !path.is_empty()) {
        let (last, outer) = path.split_last().unwrap();
        for change in changes(&tree.at(&path).clone()) {
            let mut tree = tree.clone();
            tree.at(outer).nodes().splice(last..=last, change);
            let changed = tree.write();
            if changed != message {
                all.push((path.clone(), changed));
            }
        }
    }
    all
}

/// No change of an encrypted message is accepted, except of what the key is found by.
#[test]
fn every_node_of_an_encrypted_message_counts() {
    let kem = key(KemAlgorithm::MlKem512);
    let shared = [9; 32];
    let recipient = Recipient::shared_key(b"group", &shared).unwrap();
    let typed = "1.2.840.113549.1.7.2".parse().unwrap();
    for (builder, own, name_at) in [
        (
            sealed_for(&kem),
            RecipientKey::new(&kem),
            &[1, 0, 1, 0, 1, 1][..],
        ),
        (
            EnvelopeBuilder::new()
                .recipient(recipient)
                .content_type(typed),
            RecipientKey::shared_key(b"group", &shared),
            // where a date and other attributes may follow the name
            &[1, 0, 1, 0, 1],
        ),
    ] {
        let message = encrypt(&builder, SECRET);
        let opener = Opener::new(own);
        assert!(opener.open(&message[..], 100).is_ok());
        for (path, changed) in all_changes(&message) {
            if let Ok((content, _)) = opener.open(&changed[..], 100) {
                assert_eq!(content.as_slice(), SECRET);
                // A recipient that is there twice or beside one of an unknown kind, or its name, without which its key
                // is tried.
                let is_recipients = [&[1, 0, 1][..], &[1, 0, 1, 0]].contains(&&path[..]);
                assert!(is_recipients || path.starts_with(name_at), "{path:?}");
            }
        }
    }
}

/// What other programs, or other readers, may take for what was signed (RFC 5652, section 11; RFC 6211, section 2).
#[test]
fn attributes_are_where_they_belong() {
    // contentType, messageDigest, signingTime, countersignature, and CMSAlgorithmProtection
    let types = [
        &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 9, 3][..],
        &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 9, 4],
        &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 9, 5],
        &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 9, 6],
        &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 9, 52],
        // one that nobody knows
        &[0x2a, 3, 4],
    ];
    let person = Person::new(SignatureAlgorithm::MlDsa44);
    let verifier = Verifier::with_signers([person.certificate.clone()]).unwrap();
    let message = attached(by(&person).without_certificates(), CONTENT);
    let signer_info = [1, 0, 3, 0];
    for kind in types {
        let unsigned = tlv(
            0x30,
            &[&tlv(6, &[kind]), &tlv(0x31, &[&tlv(4, &[&[7; 64]])])],
        );
        let with = changed(&message, &signer_info, |info| {
            info.nodes().push(Node::read(&tlv(0xa1, &[&unsigned])));
        });
        let verified = verifier.verify(&with[..], 1000);
        match kind.last() {
            Some(3 | 4 | 5 | 52) if kind.len() > 3 => assert!(matches!(
                refusal(verified.map(|(_, verified)| verified)),
                SignatureRefusal::AttributeNotSigned(_)
            )),
            _ => assert!(verified.is_ok()),
        }
    }
    // Signed, a countersignature is one of what it is part of; and numbers have no leading zeros.
    for (kind, is_refused) in [
        (types[3], true),
        (&[0x2a, 0x80, 3][..], true),
        (&[0x2a, 0x83, 0x80, 1], false),
        (types[5], false),
    ] {
        let mut set = Vec::new();
        let mut signed = changed(&message, &[1, 0, 3, 0, 3], |attributes| {
            let value = tlv(0x31, &[&tlv(4, &[&[7; 64]])]);
            let nodes = attributes.nodes();
            nodes.push(Node::read(&tlv(0x30, &[&tlv(6, &[kind]), &value])));
            nodes.sort_by_key(Node::write);
            let all: Vec<u8> = nodes.iter().flat_map(Node::write).collect();
            set = tlv(0x31, &[&all]);
        });
        let signature = person.key.sign(&set).unwrap();
        signed = changed(&signed, &[1, 0, 3, 0, 5], |node| {
            *node = Node::bytes(4, &signature)
        });
        let verified = verifier.verify(&signed[..], 1000);
        assert_eq!(verified.is_err(), is_refused, "{kind:?}");
    }
    // What can't be read may be one of them.
    let with = changed(&message, &signer_info, |info| {
        info.nodes()
            .push(Node::read(&tlv(0xa1, &[&tlv(0x30, &[&[5, 0]])])));
    });
    let verified = verifier.verify(&with[..], 1000);
    let refused = refusal(verified.map(|(_, verified)| verified));
    assert!(matches!(refused, SignatureRefusal::Der(_)));
}

/// No change of a signed message is accepted, except one that makes it a signer twice.
#[test]
fn every_node_of_a_signed_message_counts() {
    let person = Person::new(SignatureAlgorithm::MlDsa44);
    let verifier = Verifier::with_signers([person.certificate.clone()]).unwrap();
    let with = by(&person).without_certificates();
    let signer = DocumentSigner::new(&person.certificate, &person.key).without_attributes();
    let without = SignedDataBuilder::new()
        .signer(signer)
        .without_certificates();
    for message in [attached(with, CONTENT), attached(without, CONTENT)] {
        assert!(verifier.verify(&message[..], 100).is_ok());
        for (path, changed) in all_changes(&message) {
            if let Ok((content, verified)) = verifier.verify(&changed[..], 100) {
                assert_eq!(content, CONTENT);
                assert_eq!(verified.signers.len(), 1);
                // Digests that are announced twice, or with NULL for no parameters; a signer that is there twice; without
                // attributes, digests that are not used, and so ignored (RFC 9882 section 3.3).
                let harmless = [&[1, 0, 1][..], &[1, 0, 1, 0], &[1, 0, 3, 0]];
                let of_digests = [&[1, 0, 1, 0][..], &[1, 0, 3, 0, 2]];
                let is_unused = verified.signers[0].digest.is_none()
                    && of_digests.iter().any(|digest| path.starts_with(digest));
                assert!(is_unused || harmless.contains(&&path[..]), "{path:?}");
            }
        }
    }
}

/// The tag of AES-GCM: no tag, a short one and a longer one, while the parameters ask for 16 bytes.
#[test]
fn a_tag_has_the_length_that_the_parameters_state() {
    let key = key(KemAlgorithm::MlKem512);
    let message = encrypt(&sealed_for(&key), SECRET);
    let opener = Opener::new(RecipientKey::new(&key));
    let open = |message: &[u8]| opener.open(message, 100).map(|_| ());
    let tag_at = [1, 0, 3];
    let parameters_at = [1, 0, 2, 1, 1];
    for len in (0..16).chain([17, 32]) {
        let changed = changed(&message, &tag_at, |tag| {
            let Contents::Bytes(bytes) = &mut tag.contents else {
                panic!("the tag is primitive");
            };
            bytes.resize(len, 0);
        });
        assert!(
            matches!(open(&changed), Err(OpeningError::Altered)),
            "{len}"
        );
    }
    // Both agree: nothing protects the parameters but the rule that a tag has 12 bytes at least (RFC 5084).
    for len in 0..=17_u8 {
        let shorter = changed(&message, &parameters_at, |parameters| {
            parameters.nodes()[1] = Node::bytes(2, &[len]);
        });
        let shorter = changed(&shorter, &tag_at, |tag| {
            let Contents::Bytes(bytes) = &mut tag.contents else {
                panic!("the tag is primitive");
            };
            bytes.resize(len.into(), 0);
        });
        match len {
            12..=16 => assert!(open(&shorter).is_ok(), "{len}"),
            _ => assert!(
                matches!(open(&shorter), Err(OpeningError::UnknownCipher(_))),
                "{len}"
            ),
        }
    }
    // Without a length it is 12.
    let default = changed(&message, &parameters_at, |parameters| {
        parameters.nodes().truncate(1);
    });
    assert!(matches!(open(&default), Err(OpeningError::Altered)));
}

/// ML-DSA has no parameters (RFC 9882, section 3.2), with attributes and without, whether the content was hashed for the
/// key or kept.
#[test]
fn signatures_of_ml_dsa_have_no_parameters() {
    let person = Person::new(SignatureAlgorithm::MlDsa44);
    let known = Verifier::with_signers([person.certificate.clone()]).unwrap();
    let signer = DocumentSigner::new(&person.certificate, &person.key);
    for signer in [signer.clone(), signer.without_attributes()] {
        let builder = SignedDataBuilder::new()
            .signer(signer)
            .without_certificates();
        let message = attached(builder.clone(), CONTENT);
        let detached = builder.sign_detached(CONTENT).unwrap();
        let algorithm_at = |message: &[u8]| {
            let mut tree = Node::read(message);
            let fields = tree.at(&[1, 0, 3, 0]).nodes().len();
            [1, 0, 3, 0, fields - 2]
        };
        let expecting = known.clone().expect_no_attributes();
        for verifier in [&known, &expecting] {
            assert!(verifier.verify(&message[..], 100).is_ok());
            for parameters in [
                Node::bytes(5, &[]),
                Node::bytes(0x30, &[]),
                Node::bytes(4, &[1]),
            ] {
                let with = |message: &[u8]| {
                    changed(message, &algorithm_at(message), |algorithm| {
                        algorithm.nodes().push(parameters.clone());
                    })
                };
                let attached = verifier.verify(&with(&message)[..], 100);
                assert!(matches!(attached, Err(VerificationError::Signature { .. })));
                let detached = verifier.verify_detached(&with(&detached)[..], CONTENT);
                assert!(matches!(detached, Err(VerificationError::Signature { .. })));
            }
        }
    }
}

/// Two signatures by one certificate, one of which was made before it was valid: its chain is not that of the other.
#[test]
fn a_chain_counts_at_its_own_signing_time() {
    let person = Person::new(SignatureAlgorithm::MlDsa44);
    let now = SystemTime::now();
    let early = now - Duration::from_secs(1000 * 86400);
    let signed_at = |time| attached(by(&person).signing_time(time), CONTENT);
    let signer_of = |message: &[u8]| Node::read(message).at(&[1, 0, 4, 0]).clone();
    let validator = validator();
    let verifier = Verifier::with_chains(&validator).time(VerificationTime::Signing);
    for (first, second) in [(now, early), (early, now)] {
        let both = changed(&signed_at(first), &[1, 0, 4], |signers| {
            signers.nodes().push(signer_of(&signed_at(second)));
        });
        assert!(matches!(
            refusal(
                verifier
                    .verify(&both[..], 100)
                    .map(|(_, verified)| verified)
            ),
            SignatureRefusal::Chain(_)
        ));
        // One of them suffices here; the other one is refused, not counted.
        let (_, any) = verifier
            .clone()
            .any_signer()
            .verify(&both[..], 100)
            .unwrap();
        assert_eq!((any.signers.len(), any.refused.len()), (1, 1));
    }
    let both = changed(&signed_at(now), &[1, 0, 4], |signers| {
        signers.nodes().push(signer_of(&signed_at(now)));
    });
    let (_, verified) = verifier.verify(&both[..], 100).unwrap();
    assert_eq!(verified.signers.len(), 1);
}

/// A message for a shared key, its content's key, and the parts of it that recipients are put between.
fn with_known_key() -> (Vec<u8>, Vec<u8>) {
    let shared = [9; 32];
    let recipient = Recipient::shared_key(b"group", &shared).unwrap();
    let builder = EnvelopeBuilder::new().recipient(recipient);
    let message = encrypt(&builder.cipher(ContentCipher::Aes256Gcm), SECRET);
    let mut tree = Node::read(&message);
    let Contents::Bytes(wrapped) = &tree.at(&[1, 0, 1, 0, 3]).contents else {
        panic!("the key is primitive");
    };
    let mut key = vec![0; 32];
    let unwrapping = AesKw::<Aes256>::new(&shared.into());
    unwrapping.unwrap_key(wrapped, &mut key).unwrap();
    (message, key)
}

const AES_256_WRAP: [u8; 11] = [6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 1, 45];

fn wrapped(with: &[u8; 32], key: &[u8]) -> Vec<u8> {
    let mut wrapped = vec![0; key.len() + 8];
    AesKw::<Aes256>::new(with.into())
        .wrap_key(key, &mut wrapped)
        .unwrap();
    wrapped
}

/// Keying material of the user (ukm) goes into the key that encrypts the content's key, for a KEM (RFC 9629, section 5) and
/// for an agreement (RFC 5753, section 7.2): computed here by the standards.
#[test]
fn user_keying_material_counts() {
    let (message, content_key) = with_known_key();
    let open = |recipient: &[u8], own: &RecipientKey<'_>| {
        let message = changed(&message, &[1, 0, 1], |recipients| {
            *recipients.nodes() = vec![Node::read(recipient)];
        });
        Opener::new(own.clone()).open(&message[..], 100).map(|_| ())
    };
    let wrap = tlv(0x30, &[&AES_256_WRAP]);
    let ukm = |ukm: &[u8]| tlv(0xa0, &[&tlv(4, &[ukm])]);

    let kem = key(KemAlgorithm::MlKem512);
    let template = encrypt(&sealed_for(&kem), SECRET);
    let template = parts(parts(parts(parts(&template)[1])[0])[1])[0].to_vec();
    let (oid, info) = (parts(&template)[0], parts(parts(&template)[1]));
    let (ciphertext, secret) = kem.encapsulation_key().encapsulate().unwrap();
    let kemri = |derived: &[u8], sent: &[u8]| {
        let other_info = tlv(0x30, &[&wrap, &[2, 1, 32], derived]);
        let mut encryption = [0; 32];
        Hkdf::<Sha256>::new(None, secret.as_bytes())
            .expand(&other_info, &mut encryption)
            .unwrap();
        let fields = [
            info[0],
            info[1],
            info[2],
            &tlv(4, &[&ciphertext]),
            info[4],
            &[2, 1, 32],
            sent,
            &wrap,
            &tlv(4, &[&wrapped(&encryption, &content_key)]),
        ];
        tlv(0xa4, &[oid, &tlv(0x30, &fields)])
    };
    let own = RecipientKey::new(&kem);
    check_ukm(ukm, |derived, sent| open(&kemri(derived, sent), &own));

    let ecdh = EcdhKey::new(5);
    let recipient = Recipient::agreement_key(ecdh.clone(), b"name");
    let template = encrypt(&EnvelopeBuilder::new().recipient(recipient), SECRET);
    let template = parts(parts(parts(parts(&template)[1])[0])[1])[0].to_vec();
    let info = parts(&template);
    let agreed = pq_x509::keys::agreement::AgreementPublicKey::agree_once(&ecdh).unwrap();
    let kari = |derived: &[u8], sent: &[u8]| {
        let bits = tlv(0xa2, &[&tlv(4, &[&256_u32.to_be_bytes()])]);
        let shared_info = tlv(0x30, &[&wrap, derived, &bits]);
        let hashed = [&agreed.secret[..], &1_u32.to_be_bytes(), &shared_info].concat();
        let encryption = Sha256::digest(&hashed).into();
        let recipient = parts(parts(info[3])[0])[0];
        let key = tlv(
            0x30,
            &[recipient, &tlv(4, &[&wrapped(&encryption, &content_key)])],
        );
        let sent = match sent {
            [] => Vec::new(),
            sent => [&[0xa1], &sent[1..]].concat(),
        };
        tlv(
            0xa1,
            &[info[0], info[1], &sent, info[2], &tlv(0x30, &[&key])],
        )
    };
    let own = RecipientKey::agreement(&ecdh);
    check_ukm(ukm, |derived, sent| open(&kari(derived, sent), &own));
}

/// Opens only with the same material as was derived from.
fn check_ukm(
    ukm: impl Fn(&[u8]) -> Vec<u8>,
    open: impl Fn(&[u8], &[u8]) -> Result<(), OpeningError>,
) {
    let all = [
        vec![],
        ukm(b""),
        ukm(b"material"),
        ukm(b"material!"),
        ukm(&[7; 300]),
    ];
    for derived in &all {
        for sent in &all {
            match derived == sent {
                true => open(derived, sent).unwrap(),
                false => assert!(matches!(open(derived, sent), Err(OpeningError::WrongKey))),
            }
        }
    }
}

/// One verifier and one opener for many messages: nothing of one message is kept for the next.
#[test]
fn verifiers_and_openers_are_used_again() {
    let (one, two) = (
        Person::new(SignatureAlgorithm::MlDsa44),
        Person::new(SignatureAlgorithm::MlDsa44),
    );
    let validator = validator();
    let verifier = Verifier::with_chains(&validator).any_signer();
    let (first, second) = (attached(by(&one), CONTENT), attached(by(&two), b"other"));
    let mut damaged = first.clone();
    *damaged.last_mut().unwrap() ^= 1;
    for _ in 0..3 {
        assert_eq!(verifier.verify(&first[..], 100).unwrap().0, CONTENT);
        assert!(verifier.verify(&damaged[..], 100).is_err());
        let (content, verified) = verifier.verify(&second[..], 100).unwrap();
        assert_eq!(content, b"other");
        assert_eq!(verified.signers[0].certificate, two.certificate);
    }
    let key = key(KemAlgorithm::MlKem512);
    let opener = Opener::new(RecipientKey::new(&key));
    let (first, second) = (
        encrypt(&sealed_for(&key), SECRET),
        encrypt(&sealed_for(&key), b"other"),
    );
    for _ in 0..3 {
        assert_eq!(opener.open(&first[..], 100).unwrap().0.as_slice(), SECRET);
        assert!(opener.open(&first[..first.len() - 1], 100).is_err());
        assert_eq!(
            opener.open(&second[..], 100).unwrap().0.as_slice(),
            b"other"
        );
    }
    // What is tried for one message is not counted for another.
    for _ in 0..20 {
        assert!(
            opener
                .write_unauthenticated(&second[..], io::sink())
                .is_ok()
        );
    }
}
