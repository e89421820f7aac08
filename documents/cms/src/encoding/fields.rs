//! Takes apart values that are in memory as a whole, such as a SignerInfo. `reader` is for the message around them,
//! which is a stream.

use const_oid::ObjectIdentifier;
use der::asn1::AnyRef;
use der::{Decode, Reader, SliceReader, Tag};
use pq_keys::encoding::syntax::check_primitive;

/// The values that a value in memory consists of, in DER.
pub(crate) struct Fields<'a>(SliceReader<'a>);

impl<'a> Fields<'a> {
    /// The parts of a value with this tag.
    pub(crate) fn of(tag: u8, der: &'a [u8]) -> der::Result<Self> {
        let value = AnyRef::from_der(der)?;
        match der.first() {
            Some(first) if *first == tag => Ok(Self(SliceReader::new(value.value())?)),
            _ => Err(Tag::Sequence.value_error().into()),
        }
    }

    /// The next one, header and contents.
    pub(crate) fn element(&mut self) -> der::Result<&'a [u8]> {
        self.0.tlv_bytes()
    }

    /// The next one, if it has this tag.
    pub(crate) fn element_if(&mut self, tag: u8) -> der::Result<Option<&'a [u8]>> {
        match self.0.peek_byte() {
            Some(found) if found == tag => self.element().map(Some),
            _ => Ok(None),
        }
    }

    /// The next one, read as its type.
    pub(crate) fn read<T: Decode<'a, Error = der::Error>>(&mut self) -> der::Result<T> {
        T::decode(&mut self.0)
    }

    /// The next one, an object identifier, whose numbers must be written without leading zeros (X.690, section
    /// 8.19.2): with them, a reader could take a known type for an unknown one.
    pub(crate) fn object_identifier(&mut self) -> der::Result<ObjectIdentifier> {
        object_identifier(self.element()?)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_finished()
    }

    /// Makes sure that there is no further one.
    pub(crate) fn end(self) -> der::Result<()> {
        self.0.finish()
    }
}

/// Reads an object identifier in DER.
pub(crate) fn object_identifier(der: &[u8]) -> der::Result<ObjectIdentifier> {
    let identifier = ObjectIdentifier::from_der(der)?;
    check_primitive(Tag::ObjectIdentifier, identifier.as_bytes())
        .map_err(|_| Tag::ObjectIdentifier.value_error())?;
    Ok(identifier)
}

/// The contents of a value, without its header.
pub(crate) fn contents(der: &[u8]) -> der::Result<&[u8]> {
    Ok(AnyRef::from_der(der)?.value())
}
