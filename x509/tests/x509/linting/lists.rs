//! Revocation lists and requests.

use const_oid::db::rfc5280::*;

use super::tree::{Node, sequence, tlv};
use super::{Case, Document, extension, list, request_case};

pub(super) fn cases() -> Vec<Case> {
    [fields(), extensions(), entries(), requests()]
        .into_iter()
        .flatten()
        .collect()
}

/// The fields of a TBSCertList.
const ISSUER: usize = 2;
const THIS_UPDATE: usize = 3;
const NEXT_UPDATE: usize = 4;
const REVOKED: usize = 5;

fn fields() -> Vec<Case> {
    vec![
        list(&["rfc5280-list-version"], |one| {
            *one.field(0).value() = vec![0]
        }),
        list(&["rfc5280-list-version"], |one| {
            one.body().remove(0);
        }),
        list(&["rfc5280-issuer-empty"], |one| {
            one.field(ISSUER).nodes().clear()
        }),
        list(&["rfc5280-list-next-update"], |one| {
            one.body().remove(NEXT_UPDATE);
        }),
        list(&["rfc5280-list-update-order"], |one| {
            *one.field(NEXT_UPDATE) = one.field(THIS_UPDATE).clone();
        }),
        list(&["rfc5280-time-type"], |one| {
            *one.field(THIS_UPDATE) = Node::Leaf(0x18, b"20260401000000Z".to_vec());
        }),
        list(&["asn1-syntax", "rfc5280-time-form"], |one| {
            let date = &mut one.field(REVOKED).nodes()[0].nodes()[1];
            *date = Node::Leaf(0x17, b"2604010000Z".to_vec());
        }),
        list(&["rfc5280-list-empty"], |one| {
            one.field(REVOKED).nodes().clear()
        }),
        list(
            &["rfc5280-signature-algorithms-agree", "rfc9881-parameters"],
            |one| {
                one.outer_algorithm().push(Node::Leaf(5, Vec::new()));
            },
        ),
    ]
}

fn extensions() -> Vec<Case> {
    let point = |parts: &[Vec<u8>]| sequence(parts);
    let limited = |rules, point: Vec<u8>| {
        list(rules, |one| {
            one.set(ID_CE_ISSUING_DISTRIBUTION_POINT, true, &point)
        })
    };
    vec![
        list(&["rfc5280-list-number"], |one| one.remove(ID_CE_CRL_NUMBER)),
        list(&["rfc5280-list-number-length"], |one| {
            one.set(ID_CE_CRL_NUMBER, false, &tlv(2, &[7; 21]));
        }),
        list(&["rfc5280-list-number-critical"], |one| {
            one.critical(ID_CE_CRL_NUMBER, true)
        }),
        list(&["rfc5280-list-authority-key-id"], |one| {
            one.remove(ID_CE_AUTHORITY_KEY_IDENTIFIER);
        }),
        list(&["rfc5280-delta-indicator-critical"], |one| {
            one.set(ID_CE_DELTA_CRL_INDICATOR, false, &tlv(2, &[6]));
        }),
        list(&["rfc5280-issuing-distribution-point-critical"], |one| {
            let users = point(&[tlv(0x81, &[0xff])]);
            one.set(ID_CE_ISSUING_DISTRIBUTION_POINT, false, &users);
        }),
        limited(&[], point(&[tlv(0x81, &[0xff])])),
        limited(&["rfc5280-issuing-distribution-point"], point(&[])),
        limited(
            &["rfc5280-issuing-distribution-point"],
            point(&[tlv(0x81, &[0xff]), tlv(0x82, &[0xff])]),
        ),
    ]
}

/// Gives the second entry, which has none, these extensions.
fn entry(extensions: Vec<Node>) -> impl FnOnce(&mut Document) {
    |one| {
        let entry = one.field(REVOKED).nodes()[1].nodes();
        entry.push(Node::Inner(0x30, extensions));
    }
}

fn entries() -> Vec<Case> {
    let reason = |critical, code| extension(ID_CE_CRL_REASONS, critical, &tlv(0x0a, &[code]));
    let name = sequence(&[tlv(0x82, b"ca.example.org")]);
    let of_other = |critical| extension(ID_CE_CERTIFICATE_ISSUER, critical, &name);
    vec![
        list(&["rfc5280-list-entry-repeated"], |one| {
            let first = one.field(REVOKED).nodes()[0].clone();
            one.field(REVOKED).nodes().push(first);
        }),
        list(
            &["rfc5280-list-entry-critical"],
            entry(vec![reason(true, 1)]),
        ),
        list(
            &["rfc5280-list-entry-critical"],
            entry(vec![of_other(false)]),
        ),
        list(&[], |one| {
            // In an indirect list.
            let first = one.field(REVOKED).nodes()[0].clone();
            one.field(REVOKED).nodes().push(first);
            entry(vec![of_other(true)])(one);
        }),
        list(
            &["rfc5280-list-reason-unspecified"],
            entry(vec![reason(false, 0)]),
        ),
        list(
            &["rfc5280-list-remove-from-crl"],
            entry(vec![reason(false, 8)]),
        ),
        list(&[], |one| {
            one.set(ID_CE_DELTA_CRL_INDICATOR, true, &tlv(2, &[6]));
            entry(vec![reason(false, 8)])(one);
        }),
        list(&["rfc5280-extension-syntax"], entry(vec![reason(false, 7)])),
    ]
}

fn requests() -> Vec<Case> {
    vec![
        request_case(&["asn1-syntax", "rfc2986-version"], |one| {
            *one.field(0).value() = vec![1];
        }),
        request_case(&["rfc2985-extension-request"], |one| {
            let first = one.field(3).nodes()[0].clone();
            one.field(3).nodes().push(first);
        }),
    ]
}
