//! Who may do what with a key, and what the key is used for.

// This room uses `name` and `encoding`.

mod file;
mod grants;
pub(crate) mod grants_file;
mod principal;
mod rules;
mod verb;

pub use self::file::{InvalidPolicyFile, MAX_POLICY_FILE_LEN};
pub use self::grants::{Grants, MAX_GRANTS};
pub use self::principal::{InvalidPrincipal, Principal};
pub use self::rules::{Input, InputKind, Inputs, Policy, UseAudit, WhenAway};
pub use self::verb::{Role, UnknownVerb, Verb, Verbs};
