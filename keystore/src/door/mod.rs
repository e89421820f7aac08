//! The network door, without I/O: requests of Vault's Transit API to responses.
//!
//! A [`Door`] gets the method, path, tokens and body of a request, and gives back a status and JSON, so that existing clients
//! of Transit work unchanged with a [`Store`](crate::Store). Who reads requests from connections is up to the program. Everything here may
//! wait for the store's storage, so a server calls it on a thread that may block. What waits for nothing, such as most
//! signatures, [`Door::answer_promptly`] answers without one.
//!
//! | method and path, under `/v1/` | what it does | verb |
//! |---|---|---|
//! | `LIST transit/keys`, `GET transit/keys?list=true` | names; `after` and `limit` for pages | list |
//! | `POST transit/keys/NAME` | a new key of a `type`, such as `ml-dsa` with `parameter_set`, or `mldsa-65`; a new one's `key_version` | create |
//! | `GET transit/keys/NAME` | versions and public keys | show |
//! | `DELETE transit/keys/NAME` | destroys all versions, if `deletion_allowed` | disable, schedule, destroy |
//! | `POST transit/keys/NAME/config` | `min_decryption_version`, `min_encryption_version`, `deletion_allowed`, `auto_rotate_period` | set-policy |
//! | `POST transit/keys/NAME/rotate` | a new version, and its `key_version` | rotate |
//! | `POST transit/keys/NAME/trim` | removes versions before `min_available_version`, which is at most either minimum | destroy |
//! | `GET transit/wrapping_key` | the public key under which keys are wrapped that are imported | import |
//! | `POST transit/keys/NAME/import` | a new key of a `type`, from its `ciphertext` | import |
//! | `POST transit/keys/NAME/import_version` | a new version, from its `ciphertext` | import |
//! | `GET transit/export/TYPE/NAME[/VERSION]` | `signing-key`, `encryption-key` or `public-key`; `format` is `pem`, `der` or `raw` | export, or show |
//! | `POST transit/sign/NAME[/HASH]` | signs `input` or `batch_input` | sign |
//! | `POST transit/verify/NAME[/HASH]` | verifies `signature` | verify |
//! | `POST transit/encrypt/NAME` | encrypts `plaintext` to a key of ML-KEM or X-Wing | encapsulate |
//! | `POST transit/decrypt/NAME` | the reverse | decapsulate |
//! | `POST transit/datakey/plaintext/NAME`, `…/wrapped/NAME` | a new data key, encrypted | encapsulate |
//! | `POST transit/rewrap/NAME` | encrypts a `ciphertext` anew, to the newest version | decapsulate, encapsulate |
//! | `GET auth/token/lookup-self` | who the client is, and until when | |
//! | `GET sys/health`, `sys/seal-status`, `sys/init`, `sys/leader` | for everybody; 503 if the storage can't be used | |
//!
//! A private key comes in as its `ciphertext`, in base64: a random AES-256 key under the wrapping key, by RSA-OAEP with
//! SHA-256, and then the PKCS#8 under the AES key, by AES-KWP (RFC 5649). Who has the right to import some keys gets the
//! wrapping key, which is made at the first request and stays.
//!
//! `docs/vault-api.md` has all parameters, what differs from Vault, and what is refused.
//!
//! `PUT` is `POST`. Signatures and ciphertexts are `vault:vN:` and base64. Errors are `{"errors": […]}`. Who has no right to
//! something is told nothing but `permission denied`, whether there is such a key or not, and for each the storage is asked as
//! often. The time of an answer is not made constant: a row that is there takes some microseconds more than one that isn't.

// This room uses `name`, `policy`, `record`, `sealing`, `store` and `versioned`.

mod access;
mod algorithms;
mod answering;
mod body;
mod call;
mod envelope;
mod exporting;
mod importing;
mod keys;
mod paths;
mod quoting;
mod refusal;
mod response;
mod signing;
mod system;

pub use self::access::{AccessList, Authenticated, InvalidAccessList};
pub use self::answering::{Door, InvalidMount, Request};
pub use self::response::Response;

/// The most items of a batch.
pub const MAX_BATCH: usize = 256;
