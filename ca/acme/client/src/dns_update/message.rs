//! The messages: questions, changes, and their signatures.

use hickory_proto::op::update_message::{append, delete_by_rdata};
use hickory_proto::op::{Header, Message, MessageType, OpCode, Query, ResponseCode};
use hickory_proto::rr::rdata::TXT;
use hickory_proto::rr::rdata::tsig::{TSIG, make_tsig_record, message_tbs};
use hickory_proto::rr::{DNSClass, Name, RData, Record, RecordSet, RecordType};
use hickory_proto::serialize::binary::{BinDecodable, BinDecoder, BinEncoder};

use super::error::DnsUpdateError;
use super::key::TsigKey;

/// How many seconds clocks may be apart (RFC 8945 section 10).
const FUDGE: u16 = 300;
/// How long others may keep a record, in seconds.
const TTL: u32 = 60;

/// A question for the start of authority.
pub(super) fn soa_query(name: &Name) -> Result<Vec<u8>, DnsUpdateError> {
    query(name, RecordType::SOA)
}

/// A question for the servers of a zone.
pub(super) fn servers_query(zone: &Name) -> Result<Vec<u8>, DnsUpdateError> {
    query(zone, RecordType::NS)
}

/// A question for texts.
pub(super) fn texts_query(name: &Name) -> Result<Vec<u8>, DnsUpdateError> {
    query(name, RecordType::TXT)
}

fn query(name: &Name, kind: RecordType) -> Result<Vec<u8>, DnsUpdateError> {
    let mut message = Message::query();
    message.add_query(Query::query(name.clone(), kind));
    message
        .to_vec()
        .map_err(|_| DnsUpdateError::Name(name.to_ascii()))
}

/// The change that adds a text.
pub(super) fn added(name: Name, zone: &Name, text: &str) -> Message {
    append(record(name, text), zone.clone(), false, false)
}

/// The change that removes it again.
pub(super) fn removed(name: Name, zone: &Name, text: &str) -> Message {
    delete_by_rdata(record(name, text), zone.clone(), false)
}

fn record(name: Name, text: &str) -> RecordSet {
    Record::from_rdata(name, TTL, RData::TXT(TXT::new(vec![text.into()]))).into()
}

/// A message with its signature.
pub(super) struct Signed {
    pub(super) bytes: Vec<u8>,
    pub(super) mac: Vec<u8>,
}

impl Signed {
    /// Signs a message at this time, in seconds since 1970.
    pub(super) fn new(
        mut message: Message,
        key: &TsigKey,
        now: u64,
    ) -> Result<Self, DnsUpdateError> {
        let unfit = |_| DnsUpdateError::Answer("the change can't be written");
        let tsig = TSIG::new(
            key.algorithm.clone(),
            now,
            FUDGE,
            Vec::new(),
            message.id,
            None,
            Vec::new(),
        );
        let mac = key.mac(&[&message_tbs(&message, &tsig, &key.name).map_err(unfit)?]);
        let tsig = make_tsig_record(key.name.clone(), tsig.set_mac(mac.clone()));
        message.signature = Some(Box::new(tsig));
        let bytes = message.to_vec().map_err(unfit)?;
        Ok(Self { bytes, mac })
    }
}

/// An answer to this question.
pub(super) fn read(answer: &[u8], question: &[u8]) -> Result<Message, DnsUpdateError> {
    let message =
        Message::from_vec(answer).map_err(|_| DnsUpdateError::Answer("it can't be read"))?;
    match message.message_type == MessageType::Response && answer.get(..2) == question.get(..2) {
        true => Ok(message),
        false => Err(DnsUpdateError::Answer("it is to another question")),
    }
}

/// Checks that an answer says that a signed change was made, and is signed itself (RFC 8945 section 5.3). A refusal is told also if
/// it is not signed, as servers can't sign for a key that they don't know.
pub(super) fn verify(
    answer: &[u8],
    question: &[u8],
    question_mac: &[u8],
    key: &TsigKey,
    now: u64,
) -> Result<(), DnsUpdateError> {
    let message = read(answer, question)?;
    if message.op_code != OpCode::Update {
        return Err(DnsUpdateError::Answer("it is to another question"));
    }
    if message.response_code != ResponseCode::NoError {
        return Err(DnsUpdateError::Refused {
            code: message.response_code,
        });
    }
    let (signed, tsig) = parts(answer).ok_or(DnsUpdateError::NotSigned)?;
    let data = &tsig.data;
    let mut variables = Vec::new();
    let encoded = data.emit_tsig_for_mac(&mut BinEncoder::new(&mut variables), &key.name);
    let len = u16::try_from(question_mac.len())
        .unwrap_or_default()
        .to_be_bytes();
    let is_signed = encoded.is_ok()
        && tsig.name == key.name
        && tsig.dns_class == DNSClass::ANY
        && tsig.ttl == 0
        && data.algorithm == key.algorithm
        && data.error.is_none()
        && data.time.abs_diff(now) <= u64::from(FUDGE)
        && key.has_mac(&[&len, question_mac, &signed, &variables], &data.mac);
    match is_signed {
        true => Ok(()),
        false => Err(DnsUpdateError::NotSigned),
    }
}

/// What is signed of a message: all before its signature, which it does not count, with the number that it was made with.
pub(super) fn parts(message: &[u8]) -> Option<(Vec<u8>, Record<TSIG>)> {
    let mut decoder = BinDecoder::new(message);
    let counts = Header::read(&mut decoder).ok()?.counts;
    for _ in 0..counts.queries {
        Query::read(&mut decoder).ok()?;
    }
    let others = usize::from(counts.answers) + usize::from(counts.authorities);
    let others_after = counts.additionals.checked_sub(1)?;
    for _ in 0..others + usize::from(others_after) {
        Record::read(&mut decoder).ok()?;
    }
    let end = decoder.index();
    let last = Record::read(&mut decoder).ok()?;
    if !decoder.is_empty() {
        return None;
    }
    let tsig = last.map(|data| match data {
        RData::TSIG(tsig) => Some(tsig),
        _ => None,
    })?;
    let mut signed = message[..end].to_vec();
    signed[..2].copy_from_slice(&tsig.data.oid.to_be_bytes());
    signed[10..12].copy_from_slice(&others_after.to_be_bytes());
    Some((signed, tsig))
}
