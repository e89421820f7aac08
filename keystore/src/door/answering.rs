//! Requests find what answers them.

use alloc::sync::Arc;
use core::fmt;
use std::sync::{PoisonError, RwLock};
use std::time::SystemTime;

use super::access::{AccessList, Authenticated};
use super::call::{Call, Mount};
use super::paths::{Operation, Resource};
use super::refusal::Refusal;
use super::response::Response;
use super::{envelope, exporting, importing, keys, signing, system};
use crate::name::{InvalidName, KeyName};
use crate::policy::{Policy, Principal};
use crate::store::{Rotated, RotationEnded, Store, StoreError};

/// The most bytes of a body that is answered promptly: what is hashed for a signature takes time.
const MAX_PROMPT_LEN: usize = 16 * 1024;

/// A request, as far as the door reads it.
#[derive(Clone, Copy, Default)]
pub struct Request<'a> {
    /// The method, such as `POST` or `LIST`.
    pub method: &'a str,
    /// The path, from `/v1/` on.
    pub path: &'a str,
    /// What follows `?`.
    pub query: Option<&'a str>,
    /// The value of `X-Vault-Token`.
    pub vault_token: Option<&'a str>,
    /// The value of `Authorization`, of which `Bearer` and a token is read.
    pub authorization: Option<&'a str>,
    /// The value of `X-Vault-Namespace`: there are none, so a request for one is refused.
    pub namespace: Option<&'a str>,
    /// The value of `X-Vault-Wrap-TTL`: responses are not wrapped, so a request for that is refused.
    pub wrap_ttl: Option<&'a str>,
    /// The DER of the client's certificate, which TLS has verified.
    pub certificate: Option<&'a [u8]>,
    /// The body. Its length has to be bounded before it is in memory: [`Door::max_body_len`] says by what.
    pub body: &'a [u8],
    /// Says whether the client is gone, so that nobody waits for the answer. It is asked between the items of a batch.
    pub is_gone: Option<&'a (dyn Fn() -> bool + Sync)>,
    /// Asked for room for an answer that takes so many bytes of memory while it is made, before it is. It may wait. If it
    /// says no, the answer is one of 503.
    pub room: Option<&'a (dyn Fn(usize) -> bool + Sync)>,
}

impl fmt::Debug for Request<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Tokens and bodies are secrets.
        f.debug_struct("Request")
            .field("method", &self.method)
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

/// Answers the requests of Vault's Transit API by a store.
///
/// ```
/// # use std::sync::Arc;
/// # use pq_keystore::policy::Principal;
/// # use pq_keystore::sealing::{Argon2Cost, PassphraseKek};
/// # use pq_keystore::storage::MemoryStorage;
/// # use pq_keystore::{Store, StoreOptions};
/// use pq_keystore::door::{AccessList, Door, Request};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let kek = PassphraseKek::new(b"x").cost(Argon2Cost { memory: 64, passes: 1, lanes: 1 });
/// # let admin = Principal::new("admin")?;
/// # let store = Store::create(Arc::new(MemoryStorage::new()), &kek, &admin, StoreOptions::default())?;
/// let token = "hvs.a-random-token";
/// let access = format!("[[tokens]]\nsha256 = {:?}\nprincipal = \"admin\"", AccessList::digest(token.as_bytes()));
/// let door = Door::new(store, AccessList::from_toml(&access)?).mount("transit", "shop", "tokens")?;
///
/// let response = door.answer(&Request {
///     method: "POST",
///     path: "/v1/transit/keys/session",
///     vault_token: Some(token),
///     body: br#"{"type": "ml-dsa", "parameter_set": "65"}"#,
///     ..Request::default()
/// });
/// assert_eq!(response.status, 200);    // the key is shop/tokens/session
/// # Ok(())
/// # }
/// ```
pub struct Door {
    store: Store,
    mounts: Vec<Mount>,
    access: RwLock<Arc<AccessList>>,
    template: Policy,
    max_body_len: usize,
    clock: Arc<dyn Fn() -> SystemTime + Send + Sync>,
}

impl fmt::Debug for Door {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Door").finish_non_exhaustive()
    }
}

/// Why there is no such mount.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidMount {
    /// The path is no part of one, or has another meaning.
    #[error("a mount is named by a to z, 0 to 9, \"-\" and \"_\", and neither sys nor auth: {0:?}")]
    Path(String),
    /// There is a mount there already.
    #[error("there is a mount {0} already")]
    Taken(String),
    /// No key has such a name.
    #[error("{0}")]
    Name(InvalidName),
}

impl Door {
    /// A door to a store for those on a list, without a mount. A body has at most 2 MiB.
    pub fn new(store: Store, access: AccessList) -> Self {
        Self {
            store,
            mounts: Vec::new(),
            access: RwLock::new(access.into()),
            template: Policy::default(),
            max_body_len: 2 * 1024 * 1024,
            clock: Arc::new(SystemTime::now),
        }
    }

    /// Adds a mount: the key `tenant/purpose/NAME` is `NAME` there.
    ///
    /// # Errors
    ///
    /// If there can't be such a mount, or is one already.
    pub fn mount(mut self, path: &str, tenant: &str, purpose: &str) -> Result<Self, InvalidMount> {
        let is_path = |byte: u8| {
            byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_')
        };
        let is_ours = ["", "sys", "auth"].contains(&path);
        if is_ours || path.len() > 64 || !path.bytes().all(is_path) {
            return Err(InvalidMount::Path(path.into()));
        }
        if self.mounts.iter().any(|mount| mount.path == path) {
            return Err(InvalidMount::Taken(path.into()));
        }
        KeyName::new(tenant, purpose, "x").map_err(InvalidMount::Name)?;
        self.mounts.push(Mount {
            path: path.into(),
            tenant: tenant.into(),
            purpose: purpose.into(),
        });
        Ok(self)
    }

    /// The policy of new keys, beside what requests say of it.
    pub fn new_keys(self, template: Policy) -> Self {
        Self { template, ..self }
    }

    /// The most bytes of a body. What a request takes in memory is a few times as much.
    pub fn with_max_body_len(self, max_body_len: usize) -> Self {
        Self {
            max_body_len,
            ..self
        }
    }

    /// The most bytes of a body. A server reads no more.
    pub fn max_body_len(&self) -> usize {
        self.max_body_len
    }

    /// Where the time comes from by which tokens expire.
    pub fn clock(self, clock: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        Self {
            clock: Arc::new(clock),
            ..self
        }
    }

    /// Knows others from now on: what is not on this list is let in no more.
    pub fn replace_access(&self, access: AccessList) {
        let mut current = self.access.write().unwrap_or_else(PoisonError::into_inner);
        *current = access.into();
    }

    /// What is wrong with the store's storage as a whole, if trying again doesn't help, as seen within the last second or two.
    /// `sys/health` is answered with 503 then.
    pub fn problem(&self) -> Option<String> {
        self.store.problem()
    }

    /// Rotates the keys of the store, of all mounts and beside them, whose newest version is older than their policy wants, as
    /// `auto_rotate_period` says it: no request does that. A server calls it from time to time, and each server of a store may:
    /// who comes second finds nothing due. In the log the principal is `auto-rotate`, which needs no grant for it, and which no
    /// token or certificate may have. Ends early, between two keys, once `is_over`. Returns what became of the keys that were due.
    ///
    /// # Errors
    ///
    /// If the keys can't be listed, or something is due by a clock that the store doesn't believe. What was done before comes with the error.
    pub fn rotate_due(&self, is_over: &dyn Fn() -> bool) -> Result<Vec<Rotated>, RotationEnded> {
        self.store.rotate_by_itself(is_over)
    }

    /// Writes what was counted of uses and of refused attempts, which the store does every five seconds, and when nobody has it any
    /// more: for a server that ends while a request still has it.
    ///
    /// # Errors
    ///
    /// Those of the storage. What isn't written is kept for the next time.
    pub fn flush(&self) -> Result<(), StoreError> {
        self.store.flush()
    }

    /// The answer to a body that is longer than [`max_body_len`](Self::max_body_len), and was not read.
    pub fn too_long() -> Response {
        Refusal::new(413, "the body is too long").into()
    }

    /// Who sends a request, as all of it but its body says: so a server reads the bodies of nobody else. It doesn't wait.
    ///
    /// # Errors
    ///
    /// The answer, if it is nobody who is known, or if it is the same for everybody.
    pub fn admit(&self, request: &Request<'_>) -> Result<Principal, Response> {
        let (_, authenticated) = self.enter(request)?;
        Ok(authenticated.principal)
    }

    /// Answers a request. It may wait for the storage.
    pub fn answer(&self, request: &Request<'_>) -> Response {
        self.reply(request, dispatch)
    }

    /// The answer, if it waits for nothing and takes some 100 microseconds at most: a signature by a key that is in memory and
    /// signs quickly, such as one of ML-DSA, whose uses are not audited one by one. `None` says that [`answer`](Self::answer)
    /// has to be asked, on a thread that may block; nothing was done then. It asks neither the storage nor a token, and takes
    /// no lock that a commit holds. [`Request::room`] may not wait here.
    pub fn answer_promptly(&self, request: &Request<'_>) -> Option<Response> {
        match request.body.len() {
            ..=MAX_PROMPT_LEN => self.reply(request, dispatch_promptly),
            _ => None,
        }
    }

    /// The path under `/v1/`, and who asks for it.
    fn enter<'r>(&self, request: &Request<'r>) -> Result<(&'r str, Authenticated), Response> {
        let path = request.path.strip_prefix("/v1/").ok_or_else(unknown)?;
        if let Some(asked) = system::Asked::at(path) {
            let is_well = self.problem().is_none();
            let told = asked.answer(request.method, (self.clock)(), is_well);
            return Err(told.unwrap_or_else(Response::from));
        }
        let authenticated = self.authenticate(request);
        Ok((path, authenticated.ok_or_else(Refusal::denied)?))
    }

    /// What `dispatch` says, or what is said before it is asked.
    fn reply<R: From<Response>>(&self, request: &Request<'_>, dispatch: Dispatch<R>) -> R {
        let replied = match self.enter(request) {
            Ok((path, authenticated)) => self.find(request, path, &authenticated, dispatch),
            Err(response) => return response.into(),
        };
        replied.unwrap_or_else(|refusal| Response::from(refusal).into())
    }

    fn find<R: From<Response>>(
        &self,
        request: &Request<'_>,
        path: &str,
        authenticated: &Authenticated,
        dispatch: Dispatch<R>,
    ) -> Result<R, Refusal> {
        if request.body.len() > self.max_body_len {
            return Ok(Self::too_long().into());
        }
        // What would be another key in Vault, or no key in the clear, is not done in another way.
        if request
            .namespace
            .is_some_and(|name| !name.trim_matches('/').is_empty())
        {
            return Err(Refusal::bad(
                "there are no namespaces here; leave X-Vault-Namespace out",
            ));
        }
        if request
            .wrap_ttl
            .is_some_and(|time| !["", "0", "0s"].contains(&time))
        {
            return Err(Refusal::bad(
                "responses are not wrapped here; leave X-Vault-Wrap-TTL out",
            ));
        }
        let operation = Operation::of(request.method, request.query);
        if path == "auth/token/lookup-self" {
            return match operation {
                Some(Operation::Read) => system::lookup_self(authenticated).map(R::from),
                _ => Err(Refusal::unsupported()),
            };
        }
        let (mount, rest) = path.split_once('/').ok_or_else(unknown)?;
        let mut mounts = self.mounts.iter();
        let mount = mounts.find(|known| known.path == mount);
        let mount = mount.ok_or_else(unknown)?;
        let resource = Resource::at(rest).ok_or_else(unknown)?;
        let operation = operation.ok_or_else(Refusal::unsupported)?;
        let call = Call {
            store: &self.store,
            template: &self.template,
            mount,
            principal: &authenticated.principal,
            query: request.query,
            body: request.body,
            is_gone: request.is_gone.unwrap_or(&|| false),
            room: request.room.unwrap_or(&|_| true),
        };
        dispatch(&call, resource, operation)
    }

    fn authenticate(&self, request: &Request<'_>) -> Option<Authenticated> {
        let access = {
            let access = self.access.read().unwrap_or_else(PoisonError::into_inner);
            access.clone()
        };
        let now = (self.clock)();
        // Who shows a token is its principal or nobody.
        match (request.vault_token, request.authorization) {
            (Some(token), _) => access.by_token(token, now),
            (None, Some(field)) => {
                let (scheme, token) = field.split_once(' ')?;
                let is_bearer = scheme.eq_ignore_ascii_case("bearer");
                access.by_token(token, now).filter(|_| is_bearer)
            }
            (None, None) => access.by_certificate(request.certificate?, now),
        }
    }
}

fn unknown() -> Refusal {
    Refusal::new(404, "no handler for this route")
}

/// What becomes of a request under a mount.
type Dispatch<R> = fn(&Call<'_>, Resource<'_>, Operation) -> Result<R, Refusal>;

/// Does what is asked for, if that waits for nothing.
fn dispatch_promptly(
    call: &Call<'_>,
    resource: Resource<'_>,
    operation: Operation,
) -> Result<Option<Response>, Refusal> {
    match (resource, operation) {
        (Resource::Sign { name, hash }, Operation::Write) => {
            signing::sign_promptly(call, &call.name(name)?, hash)
        }
        _ => Ok(None),
    }
}

/// Does what is asked for, if there is something to be done.
fn dispatch(
    call: &Call<'_>,
    resource: Resource<'_>,
    operation: Operation,
) -> Result<Response, Refusal> {
    use Operation::{Delete, List, Read, Write};

    match (resource, operation) {
        (Resource::WrappingKey, Read) => importing::wrapping_key(call),
        (Resource::Keys, List) => keys::list(call),
        (Resource::Key(name), Read) => keys::read(call, &call.name(name)?),
        (Resource::Key(name), Write) => keys::create(call, &call.name(name)?),
        (Resource::Key(name), Delete) => keys::delete(call, &call.name(name)?),
        (Resource::Config(name), Write) => keys::configure(call, &call.name(name)?),
        (Resource::Rotate(name), Write) => keys::rotate(call, &call.name(name)?),
        (Resource::Trim(name), Write) => keys::trim(call, &call.name(name)?),
        (Resource::Import(name), Write) => importing::import(call, &call.name(name)?),
        (Resource::ImportVersion(name), Write) => {
            importing::import_version(call, &call.name(name)?)
        }
        (
            Resource::Export {
                kind,
                name,
                version,
            },
            Read,
        ) => exporting::export(call, kind, &call.name(name)?, version),
        (Resource::Sign { name, hash }, Write) => signing::sign(call, &call.name(name)?, hash),
        (Resource::Verify { name, hash }, Write) => signing::verify(call, &call.name(name)?, hash),
        (Resource::Encrypt(name), Write) => envelope::encrypt(call, &call.name(name)?),
        (Resource::Decrypt(name), Write) => envelope::decrypt(call, &call.name(name)?),
        (Resource::Rewrap(name), Write) => envelope::rewrap(call, &call.name(name)?),
        (Resource::DataKey { kind, name }, Write) => {
            envelope::data_key(call, kind, &call.name(name)?)
        }
        _ => Err(Refusal::unsupported()),
    }
}
