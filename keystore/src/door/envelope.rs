//! Data is encrypted to keys of ML-KEM and X-Wing, and data keys are made.
//!
//! A ciphertext is `vault:vN:` and the base64 of
//!
//! ```text
//! length of the KEM's ciphertext, 2 bytes || the KEM's ciphertext || nonce, 24 bytes || encrypted text || tag, 16 bytes
//! ```
//!
//! The text is encrypted by XChaCha20-Poly1305, with the client's `associated_data`, under
//! HMAC-SHA-256(shared secret, label || name of the version || 0 || the KEM's ciphertext): so a ciphertext is of one version
//! of one key, and no other use of the shared secret gives the same key.

use hmac::{Hmac, KeyInit, Mac};
use pq_keys::random;
use serde::{Deserialize, Serialize, Serializer};
use sha2::Sha256;
use zeroize::Zeroizing;

use base64ct::{Base64, Encoding};

use super::body::{self, Asked, Batch, Flag, NO_PADDING, Number, Text, is_set, refuse_asked};
use super::call::{Call, ITEM_LEN, base64_len};
use super::refusal::Refusal;
use super::response::Response;
use crate::name::{KeyId, KeyName};
use crate::policy::Verb;
use crate::sealing::{KEY_LEN, open, seal};
use crate::store::StoreError;
use crate::versioned::Versioned;

const LABEL: &[u8] = b"pq-keystore door 1 ";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Encrypt<'a> {
    padding_scheme: Option<Asked>,
    #[serde(borrow)]
    name: Option<Text<'a>>,
    #[serde(borrow)]
    plaintext: Option<Text<'a>>,
    #[serde(borrow)]
    associated_data: Option<Text<'a>>,
    #[serde(borrow)]
    context: Option<Text<'a>>,
    #[serde(borrow)]
    nonce: Option<Text<'a>>,
    key_version: Option<Number>,
    #[serde(borrow)]
    batch_input: Option<Batch<EncryptItem<'a>>>,
    partial_failure_response_code: Option<Number>,
    /// For items of a batch.
    #[serde(borrow, rename = "reference")]
    _reference: Option<Text<'a>>,
    #[serde(borrow)]
    r#type: Option<Text<'a>>,
    convergent_encryption: Option<Flag>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EncryptItem<'a> {
    padding_scheme: Option<Asked>,
    #[serde(borrow)]
    plaintext: Option<Text<'a>>,
    #[serde(borrow)]
    associated_data: Option<Text<'a>>,
    #[serde(borrow)]
    context: Option<Text<'a>>,
    #[serde(borrow)]
    nonce: Option<Text<'a>>,
    key_version: Option<Number>,
    #[serde(borrow)]
    reference: Option<Text<'a>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Decrypt<'a> {
    padding_scheme: Option<Asked>,
    #[serde(borrow)]
    name: Option<Text<'a>>,
    #[serde(borrow)]
    ciphertext: Option<Text<'a>>,
    #[serde(borrow)]
    associated_data: Option<Text<'a>>,
    #[serde(borrow)]
    context: Option<Text<'a>>,
    #[serde(borrow)]
    nonce: Option<Text<'a>>,
    #[serde(borrow)]
    batch_input: Option<Batch<DecryptItem<'a>>>,
    partial_failure_response_code: Option<Number>,
    /// For items of a batch.
    #[serde(borrow, rename = "reference")]
    _reference: Option<Text<'a>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DecryptItem<'a> {
    padding_scheme: Option<Asked>,
    #[serde(borrow)]
    ciphertext: Option<Text<'a>>,
    #[serde(borrow)]
    associated_data: Option<Text<'a>>,
    #[serde(borrow)]
    context: Option<Text<'a>>,
    #[serde(borrow)]
    nonce: Option<Text<'a>>,
    #[serde(borrow)]
    reference: Option<Text<'a>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rewrap<'a> {
    #[serde(borrow)]
    name: Option<Text<'a>>,
    #[serde(borrow)]
    batch_input: Option<Batch<RewrapItem<'a>>>,
    /// For items of a batch.
    #[serde(borrow, rename = "reference")]
    _reference: Option<Text<'a>>,
    #[serde(borrow)]
    ciphertext: Option<Text<'a>>,
    #[serde(borrow)]
    context: Option<Text<'a>>,
    #[serde(borrow)]
    nonce: Option<Text<'a>>,
    key_version: Option<Number>,
    decrypt_padding_scheme: Option<Asked>,
    encrypt_padding_scheme: Option<Asked>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RewrapItem<'a> {
    #[serde(borrow)]
    ciphertext: Option<Text<'a>>,
    #[serde(borrow)]
    context: Option<Text<'a>>,
    #[serde(borrow)]
    nonce: Option<Text<'a>>,
    key_version: Option<Number>,
    decrypt_padding_scheme: Option<Asked>,
    encrypt_padding_scheme: Option<Asked>,
    #[serde(borrow)]
    reference: Option<Text<'a>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewDataKey<'a> {
    padding_scheme: Option<Asked>,
    #[serde(borrow)]
    name: Option<Text<'a>>,
    bits: Option<Number>,
    key_version: Option<Number>,
    #[serde(borrow)]
    context: Option<Text<'a>>,
    #[serde(borrow)]
    nonce: Option<Text<'a>>,
}

/// Bytes that are written in base64, and wiped.
struct SecretBytes(Zeroizing<Vec<u8>>);

impl Serialize for SecretBytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&Zeroizing::new(Base64::encode_string(&self.0)))
    }
}

#[derive(Default, Serialize)]
struct Item {
    #[serde(skip_serializing_if = "Option::is_none")]
    plaintext: Option<SecretBytes>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ciphertext: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key_version: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reference: Option<String>,
}

#[derive(Serialize)]
struct Items {
    batch_results: Vec<Item>,
}

/// Answers the items of a batch. `failed` is what an item has beside its error, and `status` says what was refused.
fn batch<T>(
    call: &Call<'_>,
    items: &[T],
    status: impl Fn(&[Refusal]) -> (u16, Option<String>),
    failed: fn() -> Item,
    reference: impl Fn(&T) -> Option<&Text<'_>>,
    answer: impl Fn(&T) -> Result<Item, Refusal>,
) -> Result<Response, Refusal> {
    if items.is_empty() {
        return Err(Refusal::bad("missing batch_input to process"));
    }
    let mut batch_results = Vec::with_capacity(items.len());
    let mut refusals = Vec::new();
    for item in items {
        call.check_client()?;
        let answer = answer(item).unwrap_or_else(|mut refusal| {
            let error = refusal.errors.join("; ");
            refusal.errors.clear();
            refusals.push(refusal);
            Item {
                error: Some(error),
                ..failed()
            }
        });
        let reference = reference(item).map(Text::as_str);
        batch_results.push(Item {
            reference: Some(reference.unwrap_or_default().into()),
            ..answer
        });
    }
    let (status, warning) = status(&refusals);
    let warnings: Vec<_> = warning.into_iter().collect();
    Ok(Response {
        status,
        problem: refusals.into_iter().find_map(|refusal| refusal.problem),
        ..Response::data_with(&Items { batch_results }, &warnings)?
    })
}

/// The status of a batch of so many items, some of which may have been refused, as Vault has it: 400, or 500 if clients can't
/// help it; and in its place what the client wants, if some were not refused. Warns if the client wants what it can't have.
fn status_of(refusals: &[Refusal], items: usize, wanted: Option<Number>) -> (u16, Option<String>) {
    if refusals.is_empty() {
        return (200, None);
    }
    let is_own = |refusal: &Refusal| refusal.status < 500;
    let status = if refusals.iter().any(is_own) {
        400
    } else {
        500
    };
    match wanted {
        Some(Number(wanted)) if refusals.len() < items => match u16::try_from(wanted) {
            // Answers of the others have no body.
            Ok(wanted @ (200..=203 | 206..=303 | 305..=599)) => (wanted, None),
            _ => (
                status,
                Some(format!(
                    "invalid HTTP response code override from partial_failure_response_code, reverting to {status}"
                )),
            ),
        },
        _ => (status, None),
    }
}

/// What a failed item of a decryption has.
fn undecrypted() -> Item {
    Item {
        plaintext: Some(SecretBytes(Zeroizing::default())),
        ..Item::default()
    }
}

/// What the longest ciphertext has besides the text: that of ML-KEM-1024, its length, a nonce and a tag.
const MAX_CIPHERTEXT_LEN: usize = 2 + 1568 + 24 + 16;

/// Waits for room for an answer which, item by item, has texts of the body and so much more: once alone, and once as JSON.
fn reserve(call: &Call<'_>, items: Option<usize>, more: usize) -> Result<(), Refusal> {
    let items = items.unwrap_or(1) * (more + ITEM_LEN);
    call.reserve(2 * (call.body.len() + items))
}

/// What only other keys of Vault have.
struct Unsaid<'i, 'b> {
    context: &'i Option<Text<'b>>,
    nonce: &'i Option<Text<'b>>,
    padding: [(&'static str, Option<Asked>); 2],
}

macro_rules! unsaid {
    ($said:expr) => {
        unsaid!($said, padding_scheme, padding_scheme)
    };
    ($said:expr, $one:ident, $other:ident) => {
        Unsaid {
            context: &$said.context,
            nonce: &$said.nonce,
            padding: [
                (stringify!($one), $said.$one),
                (stringify!($other), $said.$other),
            ],
        }
    };
}

/// Checks that nothing of that is asked for.
fn check_unsaid(unsaid: &Unsaid<'_, '_>) -> Result<(), Refusal> {
    refuse_asked(&unsaid.padding, NO_PADDING)?;
    for (field, value) in [("context", unsaid.context), ("nonce", unsaid.nonce)] {
        if is_said(value) {
            return Err(Refusal::bad(format!(
                "{field} is for derived and convergent keys, which there are none of here"
            )));
        }
    }
    Ok(())
}

fn needed<'t>(ciphertext: &'t Option<Text<'_>>) -> Result<&'t str, Refusal> {
    let ciphertext = ciphertext.as_ref().map(Text::as_str);
    ciphertext.ok_or_else(|| Refusal::bad("missing ciphertext"))
}

fn is_said(text: &Option<Text<'_>>) -> bool {
    text.as_ref().is_some_and(|text| !text.as_str().is_empty())
}

fn bytes(text: &Option<Text<'_>>, field: &str) -> Result<Zeroizing<Vec<u8>>, Refusal> {
    let text = text.as_ref();
    let text = text.ok_or_else(|| Refusal::bad(format!("missing {field}")))?;
    text.decode(field)
}

fn associated(text: &Option<Text<'_>>) -> Result<Zeroizing<Vec<u8>>, Refusal> {
    match text {
        None => Ok(Zeroizing::default()),
        Some(text) => text.decode("associated_data"),
    }
}

fn no_key(error: StoreError) -> Refusal {
    match error {
        StoreError::NotFound(_) => Refusal::bad("encryption key not found"),
        error => error.into(),
    }
}

pub(super) fn encrypt(call: &Call<'_>, name: &KeyName) -> Result<Response, Refusal> {
    call.require(Verb::Encapsulate, name)?;
    let body: Encrypt<'_> = body::read(call.body)?;
    call.check_named(name, &body.name)?;
    let items = body.batch_input.as_ref().map(|Batch(items)| items.len());
    reserve(call, items, base64_len(MAX_CIPHERTEXT_LEN))?;
    if is_set(body.convergent_encryption) {
        return Err(Refusal::bad("convergent_encryption is not supported"));
    }
    // Vault takes it as the type of a key that it makes on the way, which happens to none here.
    drop(body.r#type);
    let one = |plaintext: &Option<Text<'_>>,
               associated_data: &Option<Text<'_>>,
               version,
               unsaid: Unsaid<'_, '_>| {
        check_unsaid(&unsaid)?;
        encrypt_one(
            call,
            name,
            version,
            &associated(associated_data)?,
            &bytes(plaintext, "plaintext")?,
        )
    };
    match &body.batch_input {
        Some(_) if is_said(&body.plaintext) => {
            Err(Refusal::bad("give plaintext or batch_input, not both"))
        }
        Some(Batch(items)) => batch(
            call,
            items,
            |refusals| status_of(refusals, items.len(), body.partial_failure_response_code),
            Item::default,
            |item| item.reference.as_ref(),
            |item| {
                one(
                    &item.plaintext,
                    &item.associated_data,
                    item.key_version,
                    unsaid!(item),
                )
            },
        ),
        None => Response::data(&one(
            &body.plaintext,
            &body.associated_data,
            body.key_version,
            unsaid!(body),
        )?),
    }
}

pub(super) fn decrypt(call: &Call<'_>, name: &KeyName) -> Result<Response, Refusal> {
    call.require(Verb::Decapsulate, name)?;
    let body: Decrypt<'_> = body::read(call.body)?;
    call.check_named(name, &body.name)?;
    let items = body.batch_input.as_ref().map(|Batch(items)| items.len());
    reserve(call, items, 0)?;
    let one = |ciphertext: &Option<Text<'_>>,
               associated_data: &Option<Text<'_>>,
               unsaid: Unsaid<'_, '_>| {
        check_unsaid(&unsaid)?;
        let ciphertext = needed(ciphertext)?;
        decrypt_one(call, name, &associated(associated_data)?, ciphertext)
    };
    match &body.batch_input {
        Some(_) if is_said(&body.ciphertext) => {
            Err(Refusal::bad("give ciphertext or batch_input, not both"))
        }
        Some(Batch(items)) => batch(
            call,
            items,
            |refusals| status_of(refusals, items.len(), body.partial_failure_response_code),
            undecrypted,
            |item| item.reference.as_ref(),
            |item| one(&item.ciphertext, &item.associated_data, unsaid!(item)),
        ),
        None => Response::data(&one(
            &body.ciphertext,
            &body.associated_data,
            unsaid!(body),
        )?),
    }
}

/// Encrypts anew, to the newest version, without a word of the plaintext.
pub(super) fn rewrap(call: &Call<'_>, name: &KeyName) -> Result<Response, Refusal> {
    for verb in [Verb::Decapsulate, Verb::Encapsulate] {
        call.require(verb, name)?;
    }
    let body: Rewrap<'_> = body::read(call.body)?;
    call.check_named(name, &body.name)?;
    let items = body.batch_input.as_ref().map(|Batch(items)| items.len());
    reserve(call, items, base64_len(MAX_CIPHERTEXT_LEN))?;
    let one = |ciphertext: &Option<Text<'_>>, version, unsaid: Unsaid<'_, '_>| {
        check_unsaid(&unsaid)?;
        let plaintext = decrypt_one(call, name, &[], needed(ciphertext)?)?.plaintext;
        let SecretBytes(plaintext) =
            plaintext.ok_or_else(|| Refusal::internal("nothing was decrypted"))?;
        encrypt_one(call, name, version, &[], &plaintext)
    };
    match &body.batch_input {
        Some(_) if is_said(&body.ciphertext) => {
            Err(Refusal::bad("give ciphertext or batch_input, not both"))
        }
        Some(Batch(items)) => batch(
            call,
            items,
            // As with Vault, what clients did wrong is told of the items alone.
            |refusals| match refusals.iter().any(|refusal| refusal.status >= 500) {
                true => (500, None),
                false => (200, None),
            },
            Item::default,
            |item| item.reference.as_ref(),
            |item| {
                one(
                    &item.ciphertext,
                    item.key_version,
                    unsaid!(item, decrypt_padding_scheme, encrypt_padding_scheme),
                )
            },
        ),
        None => Response::data(&one(
            &body.ciphertext,
            body.key_version,
            unsaid!(body, decrypt_padding_scheme, encrypt_padding_scheme),
        )?),
    }
}

pub(super) fn data_key(call: &Call<'_>, kind: &str, name: &KeyName) -> Result<Response, Refusal> {
    let is_shown = match kind {
        "plaintext" => true,
        "wrapped" => false,
        _ => return Err(Refusal::bad("invalid path, must be plaintext or wrapped")),
    };
    call.require(Verb::Encapsulate, name)?;
    let body: NewDataKey<'_> = body::read(call.body)?;
    call.check_named(name, &body.name)?;
    check_unsaid(&unsaid!(body))?;
    let len = match body.bits {
        None | Some(Number(256)) => 32,
        Some(Number(128)) => 16,
        Some(Number(512)) => 64,
        Some(_) => return Err(Refusal::bad("invalid bit length: bits is 128, 256 or 512")),
    };
    let key = random::secret(len).map_err(StoreError::from)?;
    let made = encrypt_one(call, name, body.key_version, &[], &key)?;
    Response::data(&Item {
        plaintext: is_shown.then_some(SecretBytes(key)),
        ..made
    })
}

fn encrypt_one(
    call: &Call<'_>,
    name: &KeyName,
    version: Option<Number>,
    associated_data: &[u8],
    text: &[u8],
) -> Result<Item, Refusal> {
    let made = call.store.encapsulate(call.principal, name);
    let made = made.map_err(no_key)?;
    if let Some(version) = version.and_then(Number::version)
        && version != made.id.version()
    {
        return Err(Refusal::bad("data is encrypted to the newest version only"));
    }
    let len = u16::try_from(made.ciphertext.len())
        .map_err(|_| Refusal::internal("the ciphertext of a KEM is too long"))?;
    let key = text_key(&made.id, &made.secret, &made.ciphertext)?;
    let sealed = seal(&key, associated_data, text).map_err(StoreError::from)?;
    let whole = [&len.to_be_bytes(), &*made.ciphertext, &*sealed].concat();
    Ok(Item {
        ciphertext: Some(Versioned::write(made.id.version(), &whole)),
        key_version: Some(made.id.version().get()),
        ..Item::default()
    })
}

fn decrypt_one(
    call: &Call<'_>,
    name: &KeyName,
    associated_data: &[u8],
    ciphertext: &str,
) -> Result<Item, Refusal> {
    let no_ciphertext = || Refusal::bad("invalid ciphertext");
    let whole = Versioned::parse(ciphertext).ok_or_else(no_ciphertext)?;
    let (len, rest) = whole.bytes.split_first_chunk().ok_or_else(no_ciphertext)?;
    let len = usize::from(u16::from_be_bytes(*len));
    let (encapsulated, sealed) = rest.split_at_checked(len).ok_or_else(no_ciphertext)?;
    let id = name.at(whole.version);
    let secret = call
        .store
        .decapsulate(call.principal, &id, encapsulated)
        .map_err(no_key)?;
    let key = text_key(&id, &secret, encapsulated)?;
    let text = open(&key, associated_data, sealed);
    let text = text.map_err(|_| Refusal::bad("the ciphertext was changed, or is another key's"))?;
    Ok(Item {
        plaintext: Some(SecretBytes(text)),
        ..Item::default()
    })
}

/// The key that encrypts the text.
fn text_key(
    id: &KeyId,
    secret: &[u8; 32],
    encapsulated: &[u8],
) -> Result<Zeroizing<[u8; KEY_LEN]>, Refusal> {
    let mac = Hmac::<Sha256>::new_from_slice(secret);
    let mut mac = mac.map_err(|_| Refusal::internal("HMAC takes keys of any length"))?;
    for part in [LABEL, id.to_string().as_bytes(), &[0], encapsulated] {
        mac.update(part);
    }
    Ok(Zeroizing::new(mac.finalize().into_bytes().into()))
}
