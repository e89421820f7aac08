//! AlgorithmIdentifiers and public keys in a document, read as far as rules need them.

use const_oid::ObjectIdentifier;
use pq_keys::Algorithm;

use super::element::{Element, tag};

/// An AlgorithmIdentifier (RFC 5280 section 4.1.1.2).
#[derive(Clone, Copy)]
pub(crate) struct AlgorithmIdentifier<'a> {
    pub(crate) oid: ObjectIdentifier,
    pub(crate) parameters: Option<Element<'a>>,
}

/// A SubjectPublicKeyInfo (RFC 5280 section 4.1.2.7).
pub(crate) struct PublicKey<'a> {
    pub(crate) algorithm: AlgorithmIdentifier<'a>,
    pub(crate) bits: Element<'a>,
}

impl<'a> AlgorithmIdentifier<'a> {
    pub(crate) fn read(element: Element<'a>) -> Option<Self> {
        let mut fields = element.elements();
        let oid = fields.next_if(tag::OBJECT_IDENTIFIER)?;
        Some(Self {
            oid: ObjectIdentifier::from_bytes(oid.value()).ok()?,
            parameters: fields.next(),
        })
    }

    /// The algorithm, if this crate has it, and for HashSLH-DSA the parameter set.
    pub(crate) fn algorithm(&self) -> Option<Algorithm> {
        Algorithm::of_oid(self.oid)
    }

    /// The name for people.
    pub(crate) fn name(&self) -> String {
        let known = self.algorithm();
        known.map_or_else(|| self.oid.to_string(), |known| known.to_string())
    }
}

impl<'a> PublicKey<'a> {
    pub(crate) fn read(element: Element<'a>) -> Option<Self> {
        let mut fields = element.elements();
        Some(Self {
            algorithm: AlgorithmIdentifier::read(fields.next_if(tag::SEQUENCE)?)?,
            bits: fields.next_if(tag::BIT_STRING)?,
        })
    }
}
