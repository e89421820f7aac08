//! Signatures are made and verified, one or a batch.

use pq_keys::any::AnyAlgorithm;
use pq_keys::classical::ClassicalAlgorithm;
use pq_keys::signing::PreHash;
use pq_keys::{Algorithm, KeyAlgorithm};
use serde::{Deserialize, Serialize, Serializer};
use zeroize::Zeroizing;

use super::body::{self, Asked, Batch, Flag, Number, Parameter, Text, is_set, refuse_asked};
use super::call::{Call, ITEM_LEN, base64_len};
use super::quoting::Quoted;
use super::refusal::Refusal;
use super::response::Response;
use crate::name::{KeyName, Version};
use crate::policy::{Input, Verb};
use crate::store::{SignRequest, Signed, StoreError, VerifyRequest};
use crate::versioned::Versioned;

/// What of both bodies says how a message is signed.
struct Manner<'a> {
    hash: Option<&'a str>,
    prehashed: bool,
    signature_algorithm: Option<&'a str>,
    marshaling: Option<&'a str>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sign<'a> {
    #[serde(borrow)]
    name: Option<Text<'a>>,
    #[serde(borrow)]
    input: Option<Text<'a>>,
    #[serde(borrow)]
    batch_input: Option<Batch<SignItem<'a>>>,
    key_version: Option<Number>,
    #[serde(borrow)]
    hash_algorithm: Option<Text<'a>>,
    /// The former name of `hash_algorithm`.
    #[serde(borrow)]
    algorithm: Option<Text<'a>>,
    prehashed: Option<Flag>,
    #[serde(borrow)]
    signature_algorithm: Option<Text<'a>>,
    #[serde(borrow)]
    marshaling_algorithm: Option<Text<'a>>,
    salt_length: Option<Parameter>,
    /// For items of a batch.
    #[serde(borrow, rename = "reference")]
    _reference: Option<Text<'a>>,
    #[serde(borrow)]
    context: Option<Text<'a>>,
    #[serde(borrow)]
    signature_context: Option<Text<'a>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SignItem<'a> {
    #[serde(borrow)]
    input: Option<Text<'a>>,
    #[serde(borrow)]
    context: Option<Text<'a>>,
    #[serde(borrow)]
    signature_context: Option<Text<'a>>,
    #[serde(borrow)]
    reference: Option<Text<'a>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Verify<'a> {
    #[serde(borrow)]
    name: Option<Text<'a>>,
    #[serde(borrow)]
    input: Option<Text<'a>>,
    #[serde(borrow)]
    signature: Option<Text<'a>>,
    #[serde(borrow)]
    batch_input: Option<Batch<VerifyItem<'a>>>,
    hmac: Option<Asked>,
    cmac: Option<Asked>,
    mac_length: Option<Asked>,
    #[serde(borrow)]
    hash_algorithm: Option<Text<'a>>,
    #[serde(borrow)]
    algorithm: Option<Text<'a>>,
    prehashed: Option<Flag>,
    #[serde(borrow)]
    signature_algorithm: Option<Text<'a>>,
    #[serde(borrow)]
    marshaling_algorithm: Option<Text<'a>>,
    salt_length: Option<Parameter>,
    /// For items of a batch.
    #[serde(borrow, rename = "reference")]
    _reference: Option<Text<'a>>,
    #[serde(borrow)]
    context: Option<Text<'a>>,
    #[serde(borrow)]
    signature_context: Option<Text<'a>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct VerifyItem<'a> {
    #[serde(borrow)]
    input: Option<Text<'a>>,
    #[serde(borrow)]
    signature: Option<Text<'a>>,
    hmac: Option<Asked>,
    cmac: Option<Asked>,
    #[serde(borrow)]
    context: Option<Text<'a>>,
    #[serde(borrow)]
    signature_context: Option<Text<'a>>,
    #[serde(borrow)]
    reference: Option<Text<'a>>,
}

/// What is signed, decoded.
struct Message {
    kind: Kind,
    bytes: Zeroizing<Vec<u8>>,
    context: Vec<u8>,
}

#[derive(Clone, Copy)]
enum Kind {
    Message,
    Digest(PreHash),
    Mu,
}

impl Message {
    fn input(&self) -> Result<Input<'_>, Refusal> {
        let (bytes, context) = (&**self.bytes, &*self.context);
        Ok(match self.kind {
            Kind::Message => Input::Message {
                message: bytes,
                context,
            },
            Kind::Digest(hash) => Input::Digest {
                hash,
                digest: bytes,
                context,
            },
            Kind::Mu => match (bytes.try_into(), context) {
                (Ok(mu), []) => Input::Mu(mu),
                (Ok(_), _) => return Err(Refusal::bad("µ has its context in it")),
                (Err(_), _) => {
                    return Err(Refusal::bad(
                        "without a hash_algorithm, prehashed input of ML-DSA is µ, which has 64 bytes",
                    ));
                }
            },
        })
    }
}

const HASHES: [(&str, PreHash); 8] = [
    ("sha2-224", PreHash::Sha224),
    ("sha2-256", PreHash::Sha256),
    ("sha2-384", PreHash::Sha384),
    ("sha2-512", PreHash::Sha512),
    ("sha3-224", PreHash::Sha3_224),
    ("sha3-256", PreHash::Sha3_256),
    ("sha3-384", PreHash::Sha3_384),
    ("sha3-512", PreHash::Sha3_512),
];

fn hash_named(name: &str) -> Result<PreHash, Refusal> {
    let found = HASHES.iter().find(|(known, _)| *known == name);
    found
        .map(|(_, hash)| *hash)
        .ok_or_else(|| Refusal::bad(format!("invalid hash algorithm {}", Quoted(name))))
}

impl Manner<'_> {
    /// What the input is, for a key of this algorithm.
    fn kind(&self, algorithm: AnyAlgorithm) -> Result<Kind, Refusal> {
        // Clients name a hash function always, also where there is none to be chosen; one that nobody has is a mistake.
        if let Some(hash) = self.hash.filter(|hash| !["none", "sha1"].contains(hash)) {
            hash_named(hash)?;
        }
        match self.marshaling {
            None | Some("asn1") => {}
            Some("jws") => {
                return Err(Refusal::bad(
                    "marshaling_algorithm jws is not supported; it is asn1 here",
                ));
            }
            Some(form) => {
                return Err(Refusal::bad(format!(
                    "invalid marshaling type {}",
                    Quoted(form)
                )));
            }
        }
        // Only ML-DSA has µ.
        let has_mu = match algorithm {
            AnyAlgorithm::PostQuantum(Algorithm::Signature(algorithm)) => {
                algorithm.name().starts_with("ML-DSA")
            }
            AnyAlgorithm::Classical(algorithm) => {
                self.check_classical(algorithm)?;
                return Ok(Kind::Message);
            }
            AnyAlgorithm::Composite(_) => {
                return match self.prehashed {
                    false => Ok(Kind::Message),
                    true => Err(Refusal::bad(not_prehashed(algorithm))),
                };
            }
            _ => return Err(Refusal::bad(format!("a key of {algorithm} does not sign"))),
        };
        match (self.prehashed, self.hash) {
            (false, _) => Ok(Kind::Message),
            (true, None | Some("none")) if has_mu => Ok(Kind::Mu),
            (true, None | Some("none")) => Err(Refusal::bad(
                "hash_algorithm has to be named for prehashed input",
            )),
            (true, Some(hash)) => hash_named(hash).map(Kind::Digest),
        }
    }

    /// Classical keys sign messages, each in one way.
    fn check_classical(&self, algorithm: ClassicalAlgorithm) -> Result<(), Refusal> {
        if self.prehashed {
            return Err(Refusal::bad(not_prehashed(algorithm.into())));
        }
        let hash = match algorithm {
            ClassicalAlgorithm::Ed25519 => return Ok(()),
            ClassicalAlgorithm::EcdsaP384 => "sha2-384",
            _ => "sha2-256",
        };
        // Vault's default is SHA-256, so that what is not said is not taken for something else.
        let is_default = hash == "sha2-256";
        if self.hash.map_or(!is_default, |named| named != hash) {
            return Err(Refusal::bad(format!(
                "a key of {algorithm} signs with hash_algorithm {hash} here{has_to_be}",
                algorithm = algorithm.name(),
                has_to_be = if is_default {
                    ""
                } else {
                    ", which has to be named"
                },
            )));
        }
        let is_rsa = !matches!(
            algorithm,
            ClassicalAlgorithm::EcdsaP256 | ClassicalAlgorithm::EcdsaP384
        );
        // Vault's default is PSS, so that what is not said is not taken for something else.
        match is_rsa && self.signature_algorithm != Some("pkcs1v15") {
            true => Err(Refusal::bad(
                "keys of RSA sign with signature_algorithm pkcs1v15 here, which has to be named",
            )),
            false => Ok(()),
        }
    }
}

fn not_prehashed(algorithm: AnyAlgorithm) -> String {
    format!("a key of {algorithm} takes no prehashed input here; give the message")
}

/// What was given, if it says anything.
fn said<'a>(text: &'a Option<Text<'_>>) -> Option<&'a str> {
    let text = text.as_ref().map(Text::as_str);
    text.filter(|text| !text.is_empty())
}

fn message(
    kind: Kind,
    input: &Option<Text<'_>>,
    derivation: &Option<Text<'_>>,
    context: &Option<Text<'_>>,
) -> Result<Message, Refusal> {
    if said(derivation).is_some() {
        return Err(Refusal::bad(
            "context is for derived keys, which there are none of here; the context of a signature is signature_context",
        ));
    }
    let input = input.as_ref();
    let input = input.ok_or_else(|| Refusal::bad("missing input"))?;
    let context = context
        .as_ref()
        .map(|text| text.decode("signature_context"));
    Ok(Message {
        kind,
        bytes: input.decode("input")?,
        context: match context.transpose()? {
            Some(context) => context.to_vec(),
            None => Vec::new(),
        },
    })
}

/// A batch instead of one, and not both.
fn not_both<T>(
    batch: Option<Batch<T>>,
    single: &Option<Text<'_>>,
) -> Result<Option<Vec<T>>, Refusal> {
    match batch {
        Some(_) if said(single).is_some() => {
            Err(Refusal::bad("give input or batch_input, not both"))
        }
        Some(Batch(items)) if items.is_empty() => {
            Err(Refusal::bad("missing batch_input to process"))
        }
        batch => Ok(batch.map(|Batch(items)| items)),
    }
}

/// What became of an item of a batch.
#[derive(Default, Serialize)]
struct Item {
    #[serde(skip_serializing_if = "Option::is_none")]
    signature: Option<Written>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key_version: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    valid: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reference: Option<String>,
}

/// A signature, whose text is made when it is written: a batch of them is long.
struct Written(Versioned);

impl Serialize for Written {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Versioned { version, bytes } = &self.0;
        serializer.serialize_str(&Versioned::write(*version, bytes))
    }
}

#[derive(Serialize)]
struct Items {
    batch_results: Vec<Item>,
}

impl Item {
    fn signed(signed: Signed) -> Self {
        let version = signed.id.version();
        Self {
            signature: Some(Written(Versioned {
                version,
                bytes: signed.signature,
            })),
            key_version: Some(version.get()),
            ..Self::default()
        }
    }

    fn valid(valid: bool) -> Self {
        Self {
            valid: Some(valid),
            ..Self::default()
        }
    }

    /// What an item has beside its error that could not be signed.
    fn unsigned() -> Self {
        Self {
            key_version: Some(0),
            ..Self::default()
        }
    }

    /// The same of one that could not be verified.
    fn unverified() -> Self {
        Self::valid(false)
    }
}

/// The status of these batches says nothing of their items, as with Vault.
fn batch(
    results: impl IntoIterator<Item = Result<Item, Refusal>>,
    references: impl IntoIterator<Item = String>,
    failed: fn() -> Item,
) -> Result<Response, Refusal> {
    let mut problem = None;
    let results = results.into_iter().zip(references);
    let batch_results = results.map(|(result, reference)| {
        let item = result.unwrap_or_else(|refusal| {
            problem = problem.take().or(refusal.problem);
            Item {
                error: Some(refusal.errors.join("; ")),
                ..failed()
            }
        });
        Item {
            reference: Some(reference),
            ..item
        }
    });
    let batch_results = batch_results.collect();
    Ok(Response {
        problem,
        ..Response::data(&Items { batch_results })?
    })
}

fn no_key(error: StoreError, used: &str) -> Refusal {
    match error {
        StoreError::NotFound(_) => Refusal::bad(format!("{used} key not found")),
        error => error.into(),
    }
}

pub(super) fn sign(
    call: &Call<'_>,
    name: &KeyName,
    hash: Option<&str>,
) -> Result<Response, Refusal> {
    let found = call.store.algorithm(call.principal, Verb::Sign, name);
    let algorithm = found.map_err(|error| no_key(error, "signing"))?;
    let asked = ToSign::read(call, name, hash, algorithm)?;
    let (kind, version, len) = (asked.kind, asked.version, asked.len);
    let items = match asked.messages {
        Messages::One(message) => {
            let input = message.input()?;
            call.reserve(len)?;
            return one(sign_one(call, name, version, input));
        }
        Messages::Batch(items) => items,
    };
    let repeats = items.iter().any(|item| item.reference.is_some());
    call.reserve_batch(items.len(), len, repeats)?;
    let messages: Vec<_> = items
        .iter()
        .map(|item| message(kind, &item.input, &item.context, &item.signature_context))
        .collect();
    let inputs: Vec<_> = messages.iter().map(decoded).collect();
    let references = items.iter().map(|item| reference(&item.reference));
    let signed: Vec<_> = match version {
        Some(_) => inputs
            .into_iter()
            .map(|input| {
                call.check_client()?;
                Ok(sign_one(call, name, version, input?)?)
            })
            .collect(),
        None => {
            let requests = inputs.iter().filter_map(|input| {
                let input = *input.as_ref().ok()?;
                Some(SignRequest { key: name, input })
            });
            let requests: Vec<_> = requests.collect();
            let made = call
                .store
                .sign_batch_unless(call.principal, &requests, call.is_gone);
            let mut made = made.into_iter();
            in_places(inputs, || made.next())
        }
    };
    call.check_client()?;
    let results = signed.into_iter().map(|signed| signed.map(Item::signed));
    batch(results, references, Item::unsigned)
}

/// Signs one message by a key that is at hand and signs quickly.
pub(super) fn sign_promptly(
    call: &Call<'_>,
    name: &KeyName,
    hash: Option<&str>,
) -> Result<Option<Response>, Refusal> {
    let Some(key) = call.store.at_hand(call.principal, name) else {
        return Ok(None);
    };
    let asked = ToSign::read(call, name, hash, key.algorithm())?;
    let (None, Messages::One(message)) = (asked.version, &asked.messages) else {
        return Ok(None);
    };
    if !(call.room)(asked.len) {
        return Ok(None);
    }
    let signed = key.sign(call.principal, message.input()?).transpose();
    signed.map(one).transpose()
}

/// What a body asks to be signed.
struct ToSign<'a> {
    kind: Kind,
    version: Option<Version>,
    /// How long a signature is, as bytes and in the answer.
    len: usize,
    messages: Messages<'a>,
}

enum Messages<'a> {
    One(Message),
    Batch(Vec<SignItem<'a>>),
}

impl<'a> ToSign<'a> {
    fn read(
        call: &Call<'a>,
        name: &KeyName,
        hash: Option<&str>,
        algorithm: AnyAlgorithm,
    ) -> Result<Self, Refusal> {
        let body: Sign<'a> = body::read(call.body)?;
        call.check_named(name, &body.name)?;
        let manner = Manner {
            hash: hash
                .or_else(|| said(&body.hash_algorithm))
                .or_else(|| said(&body.algorithm)),
            prehashed: is_set(body.prehashed),
            signature_algorithm: said(&body.signature_algorithm),
            marshaling: said(&body.marshaling_algorithm),
        };
        check_salt(&body.salt_length)?;
        let kind = manner.kind(algorithm)?;
        let signature_len = signature_len(algorithm);
        Ok(Self {
            kind,
            version: body.key_version.and_then(Number::version),
            len: signature_len + base64_len(signature_len),
            messages: match not_both(body.batch_input, &body.input)? {
                Some(items) => Messages::Batch(items),
                None => Messages::One(message(
                    kind,
                    &body.input,
                    &body.context,
                    &body.signature_context,
                )?),
            },
        })
    }
}

/// The answer about one message.
fn one(signed: Result<Signed, StoreError>) -> Result<Response, Refusal> {
    let signed = signed.map_err(|error| no_key(error, "signing"))?;
    let len = base64_len(signed.signature.len()) + ITEM_LEN;
    Response::public_data(len, &Item::signed(signed))
}

/// The length of the longest signature.
fn signature_len(algorithm: AnyAlgorithm) -> usize {
    match algorithm {
        AnyAlgorithm::Composite(composite) => composite.max_signature_len(),
        algorithm => KeyAlgorithm::from(algorithm)
            .max_signature_len()
            .unwrap_or(0),
    }
}

fn decoded(message: &Result<Message, Refusal>) -> Result<Input<'_>, Refusal> {
    match message {
        Ok(message) => message.input(),
        Err(refusal) => Err(Refusal::bad(refusal.errors.join("; "))),
    }
}

/// The results of those items that could be asked for, among those that could not.
fn in_places<I, T>(
    items: Vec<Result<I, Refusal>>,
    mut next: impl FnMut() -> Option<Result<T, StoreError>>,
) -> Vec<Result<T, Refusal>> {
    let mut place = |item: Result<I, Refusal>| {
        item?;
        match next() {
            Some(result) => Ok(result?),
            None => Err(Refusal::internal("a batch has fewer results than items")),
        }
    };
    items.into_iter().map(&mut place).collect()
}

fn reference(reference: &Option<Text<'_>>) -> String {
    let text = reference.as_ref().map(Text::as_str);
    text.unwrap_or_default().into()
}

fn sign_one(
    call: &Call<'_>,
    name: &KeyName,
    version: Option<Version>,
    input: Input<'_>,
) -> Result<Signed, StoreError> {
    let (store, principal) = (call.store, call.principal);
    match version {
        Some(version) => store.sign_by(principal, &name.at(version), input),
        None => store.sign(principal, name, input),
    }
}

/// The length of a salt is for PSS, which no key signs with here.
fn check_salt(salt_length: &Option<Parameter>) -> Result<(), Refusal> {
    match salt_length.as_ref().map(|Parameter(text)| text.as_str()) {
        None | Some("" | "auto" | "hash") => Ok(()),
        Some(_) => Err(Refusal::bad(
            "salt_length is for PSS, which is not supported",
        )),
    }
}

pub(super) fn verify(
    call: &Call<'_>,
    name: &KeyName,
    hash: Option<&str>,
) -> Result<Response, Refusal> {
    let found = call.store.algorithm(call.principal, Verb::Verify, name);
    let algorithm = found.map_err(|error| no_key(error, "signature verification"))?;
    let body: Verify<'_> = body::read(call.body)?;
    call.check_named(name, &body.name)?;
    let of_items = body
        .batch_input
        .as_ref()
        .map_or(&[][..], |Batch(items)| items);
    let asked = of_items
        .iter()
        .flat_map(|item| [("hmac", item.hmac), ("cmac", item.cmac)]);
    let asked = asked.chain([
        ("hmac", body.hmac),
        ("cmac", body.cmac),
        ("mac_length", body.mac_length),
    ]);
    refuse_asked(
        &asked.collect::<Vec<_>>(),
        "is for keys of HMAC and CMAC, which there are none of here",
    )?;
    let manner = Manner {
        hash: hash
            .or_else(|| said(&body.hash_algorithm))
            .or_else(|| said(&body.algorithm)),
        prehashed: is_set(body.prehashed),
        signature_algorithm: said(&body.signature_algorithm),
        marshaling: said(&body.marshaling_algorithm),
    };
    check_salt(&body.salt_length)?;
    let kind = manner.kind(algorithm)?;
    let Some(items) = not_both(body.batch_input, &body.input)? else {
        let message = message(kind, &body.input, &body.context, &body.signature_context)?;
        let signature = signature(&body.signature)?;
        let verified = call.store.verify(
            call.principal,
            name,
            Some(signature.version),
            message.input()?,
            &signature.bytes,
        );
        return Response::data(&valid(verified)?);
    };
    match items.iter().filter(|item| item.signature.is_none()).count() {
        0 => {}
        missing if missing == items.len() => {
            return Err(Refusal::bad("no batch_input elements have 'signature'"));
        }
        _ => {
            return Err(Refusal::bad(
                "some elements of batch_input are missing 'signature'",
            ));
        }
    }
    let repeats = items.iter().any(|item| item.reference.is_some());
    call.reserve_batch(items.len(), 0, repeats)?;
    let asked: Vec<_> = items
        .iter()
        .map(|item| {
            let message = message(kind, &item.input, &item.context, &item.signature_context)?;
            Ok((message, signature(&item.signature)?))
        })
        .collect();
    let requests: Vec<Result<_, Refusal>> = asked
        .iter()
        .map(|asked: &Result<_, Refusal>| match asked {
            Ok((message, signature)) => Ok(VerifyRequest {
                key: name,
                version: Some(signature.version),
                input: Message::input(message)?,
                signature: &signature.bytes,
            }),
            Err(refusal) => Err(Refusal::bad(refusal.errors.join("; "))),
        })
        .collect();
    let good: Vec<_> = requests
        .iter()
        .filter_map(|request| request.as_ref().ok().copied())
        .collect();
    let verified = call
        .store
        .verify_batch_unless(call.principal, &good, call.is_gone);
    call.check_client()?;
    let mut verified = verified.into_iter().map(|verified| match verified {
        Err(StoreError::InvalidSignature) => Ok(false),
        verified => verified.map(|_| true),
    });
    let results = in_places(requests, || verified.next());
    let references = items.iter().map(|item| reference(&item.reference));
    batch(
        results.into_iter().map(|valid| valid.map(Item::valid)),
        references,
        Item::unverified,
    )
}

fn valid(verified: Result<crate::name::KeyId, StoreError>) -> Result<Item, Refusal> {
    match verified {
        Ok(_) => Ok(Item::valid(true)),
        Err(StoreError::InvalidSignature) => Ok(Item::valid(false)),
        Err(error) => Err(no_key(error, "signature verification")),
    }
}

fn signature(text: &Option<Text<'_>>) -> Result<Versioned, Refusal> {
    let text = text.as_ref();
    let text = text.ok_or_else(|| Refusal::bad("missing signature"))?;
    Versioned::parse(text.as_str())
        .ok_or_else(|| Refusal::bad("a signature is vault:vN: and base64"))
}
