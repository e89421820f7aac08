use core::sync::atomic::{AtomicUsize, Ordering};
use std::net::TcpListener;

use hickory_proto::op::{MessageType, OpCode};
use hickory_proto::rr::Record;
use hickory_proto::rr::rdata::SOA;
use hickory_proto::rr::rdata::tsig::{TSIG, TsigAlgorithm, make_tsig_record};
use hickory_proto::serialize::binary::BinEncoder;

use super::super::key::InvalidTsigKey;
use super::super::message;
use super::super::message::verify;
use super::*;

const SECRET: &str = "q4J/aEprwKU/p0qtzL7nBDP2uoBKXHbwGcDU9JGMWmo=";

fn file(name: &str, algorithm: &str, secret: &str) -> String {
    format!("key \"{name}\" {{ algorithm {algorithm}; secret \"{secret}\"; }};")
}

fn key() -> TsigKey {
    TsigKey::parse(&file("acme", "hmac-sha256", SECRET)).unwrap()
}

#[test]
fn files_of_keys() {
    let as_bind_writes =
        format!("key \"acme\" {{\n\talgorithm hmac-sha256;\n\tsecret \"{SECRET}\";\n}};\n");
    for text in [
        as_bind_writes.clone(),
        format!("// a // comment\n/* {{ }} */ # more\n{as_bind_writes}"),
        format!("key acme{{secret {SECRET};algorithm HMAC-SHA512;}};"),
        file("acme.example.org.", "hmac-sha384", SECRET),
    ] {
        assert!(TsigKey::parse(&text).is_ok(), "{text}");
    }
    let two = format!("{as_bind_writes}{as_bind_writes}");
    for (text, error) in [
        ("", InvalidTsigKey::Syntax),
        ("zone \"a\" { };", InvalidTsigKey::Syntax),
        (
            "key \"a\" { algorithm hmac-sha256; };",
            InvalidTsigKey::Syntax,
        ),
        ("key \"a\" { /* ", InvalidTsigKey::Syntax),
        (&*two, InvalidTsigKey::Several),
        (&file("a", "hmac-md5", SECRET), InvalidTsigKey::Algorithm),
        (&file("a", "hmac-sha256", "AAAA"), InvalidTsigKey::Secret),
        (
            &file("a", "hmac-sha256", &SECRET[1..]),
            InvalidTsigKey::Secret,
        ),
        (&file(".", "hmac-sha256", SECRET), InvalidTsigKey::Name),
        (&file("a..b", "hmac-sha256", SECRET), InvalidTsigKey::Name),
        (
            &format!("key a {{ algorithm hmac-sha256; algorithm hmac-sha256; secret {SECRET}; }};"),
            InvalidTsigKey::Syntax,
        ),
    ] {
        assert_eq!(TsigKey::parse(text).unwrap_err(), error, "{text}");
    }
    // Nobody reads the secret in a log.
    assert!(!format!("{:?}", key()).contains("q4J"));
}

/// A server that answers what this says, each on a connection of its own.
fn server(answers: impl Fn(&[u8]) -> Vec<u8> + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut len = [0; 2];
            if stream.read_exact(&mut len).is_err() {
                continue;
            }
            let mut question = vec![0; usize::from(u16::from_be_bytes(len))];
            stream.read_exact(&mut question).unwrap();
            let answer = answers(&question);
            let len = u16::try_from(answer.len()).unwrap().to_be_bytes();
            // Whoever asked may be gone.
            let _ = stream.write_all(&[&len[..], &answer].concat());
        }
    });
    address
}

fn at(server: SocketAddr) -> DnsUpdate {
    let mut update = DnsUpdate::new(server, key());
    update.patience = Duration::from_secs(1);
    update
}

/// How an answer to a change is signed.
#[derive(Clone)]
struct Signing {
    key: Arc<TsigKey>,
    later: u64,
    mac_len: usize,
}

impl Default for Signing {
    fn default() -> Self {
        Self {
            key: Arc::new(key()),
            later: 0,
            mac_len: 32,
        }
    }
}

/// What a server answers: it has the zone example.org, and makes all changes there.
fn answer(question: &[u8], code: ResponseCode, signing: Option<&Signing>) -> Vec<u8> {
    let asked = Message::from_vec(question).unwrap();
    let mut answer = Message::new(asked.id, MessageType::Response, asked.op_code);
    answer.metadata.response_code = code;
    for query in &asked.queries {
        answer.add_query(query.clone());
    }
    if asked.op_code == OpCode::Query {
        let zone = Name::from_ascii("example.org.").unwrap();
        answer.metadata.authoritative = true;
        if zone.zone_of(asked.queries[0].name()) {
            let soa = SOA::new(zone.clone(), zone.clone(), 1, 1, 1, 1, 1);
            answer.add_authority(Record::from_rdata(zone, 60, RData::SOA(soa)));
        } else {
            answer.metadata.response_code = ResponseCode::Refused;
        }
        return answer.to_vec().unwrap();
    }
    let Some(signing) = signing else {
        return answer.to_vec().unwrap();
    };
    let (_, tsig) = message::parts(question).unwrap();
    let request_mac = tsig.data.mac;
    let (key, time) = (&signing.key, now() + signing.later);
    let tsig = TSIG::new(
        TsigAlgorithm::HmacSha256,
        time,
        300,
        Vec::new(),
        asked.id,
        None,
        Vec::new(),
    );
    let mut variables = Vec::new();
    tsig.emit_tsig_for_mac(&mut BinEncoder::new(&mut variables), &key.name)
        .unwrap();
    let len = u16::try_from(request_mac.len()).unwrap().to_be_bytes();
    let mut mac = key.mac(&[&len, &request_mac, &answer.to_vec().unwrap(), &variables]);
    mac.truncate(signing.mac_len);
    let tsig = make_tsig_record(key.name.clone(), tsig.set_mac(mac));
    answer.signature = Some(Box::new(tsig));
    answer.to_vec().unwrap()
}

#[test]
fn what_is_confirmed_is_done() {
    let update = at(server(|question| {
        answer(question, ResponseCode::NoError, Some(&Signing::default()))
    }));
    for _ in 0..2 {
        update
            .add("_acme-challenge.a.b.example.org", "text")
            .unwrap();
        update
            .remove("_acme-challenge.a.b.example.org", "text")
            .unwrap();
    }
    let elsewhere = update.add("a.example.com", "text");
    assert!(
        matches!(elsewhere, Err(DnsUpdateError::NoZone(_))),
        "{elsewhere:?}"
    );
}

#[test]
fn what_is_not_signed_is_not_done() {
    let other = TsigKey::parse(&file("acme", "hmac-sha256", &SECRET.replace('q', "r"))).unwrap();
    let renamed = TsigKey::parse(&file("acme2", "hmac-sha256", SECRET)).unwrap();
    let good = Signing::default();
    for signing in [
        None,
        Some(Signing {
            key: Arc::new(other),
            ..good.clone()
        }),
        Some(Signing {
            key: Arc::new(renamed),
            ..good.clone()
        }),
        Some(Signing {
            later: 310,
            ..good.clone()
        }),
        Some(Signing {
            mac_len: 16,
            ..good.clone()
        }),
        Some(Signing { mac_len: 0, ..good }),
    ] {
        let update = at(server(move |question| {
            answer(question, ResponseCode::NoError, signing.as_ref())
        }));
        let added = update.add("a.example.org", "text");
        assert!(matches!(added, Err(DnsUpdateError::NotSigned)), "{added:?}");
    }
}

/// Servers can't sign for a key that they don't know.
#[test]
fn refusals_are_told_as_they_are() {
    for code in [
        ResponseCode::NotAuth,
        ResponseCode::Refused,
        ResponseCode::ServFail,
    ] {
        let update = at(server(move |question| answer(question, code, None)));
        let added = update.add("a.example.org", "text");
        assert!(
            matches!(&added, Err(DnsUpdateError::Refused { code: said }) if *said == code),
            "{added:?}"
        );
    }
}

/// Whatever bit of a signed answer is another, it confirms nothing.
#[test]
fn no_changed_answer_confirms() {
    let key = key();
    let name = Name::from_ascii("a.example.org.").unwrap();
    let zone = Name::from_ascii("example.org.").unwrap();
    let Signed { bytes, mac } = Signed::new(added(name, &zone, "text"), &key, now()).unwrap();
    let good = answer(&bytes, ResponseCode::NoError, Some(&Signing::default()));
    verify(&good, &bytes, &mac, &key, now()).unwrap();
    for bit in 0..8 * good.len() {
        let mut changed = good.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        // Names are the same in both cases of letters, also for the signature.
        let same = good.eq_ignore_ascii_case(&changed);
        let verified = verify(&changed, &bytes, &mac, &key, now());
        assert!(verified.is_err() || same, "bit {bit}: {verified:?}");
    }
    for len in 0..good.len() {
        assert!(
            verify(&good[..len], &bytes, &mac, &key, now()).is_err(),
            "{len}"
        );
    }
    // Nor an answer to another change.
    let name = Name::from_ascii("b.example.org.").unwrap();
    let other = Signed::new(added(name, &zone, "text"), &key, now()).unwrap();
    assert!(verify(&good, &other.bytes, &other.mac, &key, now()).is_err());
}

#[test]
fn a_server_that_is_slow_or_talks_too_much_is_given_up() {
    // It never answers.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let began = Instant::now();
    let added = at(listener.local_addr().unwrap()).add("a.example.org", "text");
    assert!(
        matches!(added, Err(DnsUpdateError::Network(_))),
        "{added:?}"
    );
    assert!(began.elapsed() < Duration::from_secs(5));
    // What follows the answer is not read.
    let garbage = at(server(|_| vec![0xff; 60_000])).add("a.example.org", "text");
    assert!(
        matches!(garbage, Err(DnsUpdateError::Answer(_))),
        "{garbage:?}"
    );
}

#[test]
fn servers_of_a_zone_are_waited_for() {
    let asked = AtomicUsize::new(0);
    let late = server(move |question| {
        let query = Message::from_vec(question).unwrap();
        let mut answer = Message::new(query.id, MessageType::Response, OpCode::Query);
        // Beside another one, and only from the third time on.
        for text in ["other", "text"] {
            let has = text == "other" || asked.fetch_add(1, Ordering::SeqCst) >= 2;
            if has {
                let texts = hickory_proto::rr::rdata::TXT::new(vec![text.into()]);
                answer.add_answer(Record::from_rdata(
                    query.queries[0].name().clone(),
                    1,
                    RData::TXT(texts),
                ));
            }
        }
        answer.to_vec().unwrap()
    });
    let update = at(late);
    let name = Name::from_ascii("a.example.org.").unwrap();
    let until = Instant::now() + Duration::from_secs(60);
    assert!(update.has_until(late, &name, "text", until).unwrap());
    assert!(
        !update
            .has_until(late, &name, "tex", Instant::now())
            .unwrap()
    );
}
