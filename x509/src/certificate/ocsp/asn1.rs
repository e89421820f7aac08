//! The ASN.1 of OCSP (RFC 6960 appendix B.1), without requestors' signatures, which are ignored.

use der::asn1::{
    Any, AnyRef, BitStringRef, GeneralizedTime, Int, Null, OctetString, OctetStringRef,
};
use der::{Choice, Enumerated, Sequence};
use spki::{AlgorithmIdentifierOwned, ObjectIdentifier};
use x509_cert::certificate::Version;

use crate::certificate::extensions::Extensions;
use crate::certificate::revocation_list::Reason;

/// The derive macros take paths only, not references.
type Octets<'a> = &'a OctetStringRef;

#[derive(Sequence)]
pub(crate) struct OcspRequest<'a> {
    pub(crate) body: TbsRequest<'a>,
    #[asn1(context_specific = "0", tag_mode = "EXPLICIT", optional = "true")]
    pub(crate) signature: Option<AnyRef<'a>>,
}

#[derive(Sequence)]
pub(crate) struct TbsRequest<'a> {
    #[asn1(context_specific = "0", default = "Default::default")]
    pub(crate) version: Version,
    #[asn1(context_specific = "1", tag_mode = "EXPLICIT", optional = "true")]
    pub(crate) requestor: Option<AnyRef<'a>>,
    pub(crate) requests: Vec<Request>,
    #[asn1(context_specific = "2", tag_mode = "EXPLICIT", optional = "true")]
    pub(crate) extensions: Option<Extensions>,
}

#[derive(Sequence)]
pub(crate) struct Request {
    pub(crate) certificate: CertId,
    #[asn1(context_specific = "0", tag_mode = "EXPLICIT", optional = "true")]
    pub(crate) extensions: Option<Extensions>,
}

#[derive(Clone, Debug, Eq, PartialEq, Sequence)]
pub(crate) struct CertId {
    pub(crate) hash_algorithm: AlgorithmIdentifierOwned,
    pub(crate) issuer_name_hash: OctetString,
    pub(crate) issuer_key_hash: OctetString,
    /// Anybody may ask about any number, of any sign and length.
    pub(crate) serial_number: Int,
}

#[derive(Sequence)]
pub(crate) struct OcspResponse<'a> {
    pub(crate) status: ResponseStatus,
    #[asn1(context_specific = "0", tag_mode = "EXPLICIT", optional = "true")]
    pub(crate) bytes: Option<ResponseBytes<'a>>,
}

#[derive(Clone, Copy, Debug, Enumerated, Eq, PartialEq)]
#[asn1(type = "ENUMERATED")]
#[repr(u8)]
pub(crate) enum ResponseStatus {
    Successful = 0,
    MalformedRequest = 1,
    InternalError = 2,
    TryLater = 3,
    SigRequired = 5,
    Unauthorized = 6,
}

#[derive(Sequence)]
pub(crate) struct ResponseBytes<'a> {
    pub(crate) kind: ObjectIdentifier,
    pub(crate) response: Octets<'a>,
}

/// The body is read separately, because its bytes are signed.
#[derive(Sequence)]
pub(crate) struct BasicOcspResponse<'a> {
    pub(crate) body: AnyRef<'a>,
    pub(crate) signature_algorithm: AlgorithmIdentifierOwned,
    pub(crate) signature: BitStringRef<'a>,
    #[asn1(context_specific = "0", tag_mode = "EXPLICIT", optional = "true")]
    pub(crate) certificates: Option<Vec<AnyRef<'a>>>,
}

#[derive(Sequence)]
pub(crate) struct ResponseData {
    #[asn1(context_specific = "0", default = "Default::default")]
    pub(crate) version: Version,
    pub(crate) responder: ResponderId,
    pub(crate) produced_at: GeneralizedTime,
    pub(crate) responses: Vec<SingleResponse>,
    #[asn1(context_specific = "1", tag_mode = "EXPLICIT", optional = "true")]
    pub(crate) extensions: Option<Extensions>,
}

#[derive(Choice, Clone)]
pub(crate) enum ResponderId {
    /// A Name, which is read apart.
    #[asn1(context_specific = "1", tag_mode = "EXPLICIT", constructed = "true")]
    ByName(Any),
    /// The SHA-1 of the key's bits.
    #[asn1(context_specific = "2", tag_mode = "EXPLICIT", constructed = "true")]
    ByKey(OctetString),
}

#[derive(Sequence)]
pub(crate) struct SingleResponse {
    pub(crate) certificate: CertId,
    pub(crate) status: CertStatus,
    pub(crate) this_update: GeneralizedTime,
    #[asn1(context_specific = "0", tag_mode = "EXPLICIT", optional = "true")]
    pub(crate) next_update: Option<GeneralizedTime>,
    #[asn1(context_specific = "1", tag_mode = "EXPLICIT", optional = "true")]
    pub(crate) extensions: Option<Extensions>,
}

#[derive(Choice)]
pub(crate) enum CertStatus {
    #[asn1(context_specific = "0", tag_mode = "IMPLICIT")]
    Good(Null),
    #[asn1(context_specific = "1", tag_mode = "IMPLICIT", constructed = "true")]
    Revoked(RevokedInfo),
    #[asn1(context_specific = "2", tag_mode = "IMPLICIT")]
    Unknown(Null),
}

#[derive(Sequence)]
pub(crate) struct RevokedInfo {
    pub(crate) time: GeneralizedTime,
    #[asn1(context_specific = "0", tag_mode = "EXPLICIT", optional = "true")]
    pub(crate) reason: Option<Reason>,
}
