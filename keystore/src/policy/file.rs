//! The policy of a key as a file.

use alloc::collections::BTreeMap;
use core::time::Duration;

use serde::Deserialize;

use super::grants_file::{self, InvalidGrants};
use super::principal::InvalidPrincipal;
use super::rules::{InputKind, Policy, UseAudit, WhenAway};
use super::verb::{UnknownVerb, Verbs};
use crate::name::Version;

/// The most bytes of a policy file.
pub const MAX_POLICY_FILE_LEN: usize = 64 * 1024;

/// Why a text is no policy.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidPolicyFile {
    /// It is too long.
    #[error("a policy file has at most {MAX_POLICY_FILE_LEN} bytes")]
    TooLong,
    /// It is no TOML, or has a key that a policy doesn't have.
    #[error("{0}")]
    Toml(String),
    /// A grant names something else than a verb or a role.
    #[error("grants: {0}")]
    Verb(UnknownVerb),
    /// A grant is for no principal.
    #[error("grants: {0}")]
    Principal(InvalidPrincipal),
    /// A time is not a number with its unit after it.
    #[error(
        "{key}: {value:?} is no time, such as \"90d\"; write a number and then s, m (or min), h, d, w or y"
    )]
    Time {
        /// Where it stands.
        key: &'static str,
        /// What stands there.
        value: String,
    },
    /// A value can't be there.
    #[error("{key}: {problem}")]
    Value {
        /// Where it stands.
        key: &'static str,
        /// What is wrong.
        problem: String,
    },
}

/// The file, as it stands there.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct File {
    #[serde(default)]
    grants: BTreeMap<String, Vec<String>>,
    min_version: Option<u32>,
    min_signing_version: Option<u32>,
    rotate_after: Option<String>,
    exportable: Option<bool>,
    inputs: Option<Vec<String>>,
    max_message: Option<u64>,
    when_away: Option<String>,
    audit: Option<String>,
    destroy_after: Option<String>,
}

impl Policy {
    /// Reads a policy from TOML. What a file doesn't say is as in the [default](Self::default).
    ///
    /// ```
    /// use core::time::Duration;
    ///
    /// use pq_keystore::policy::Policy;
    ///
    /// let policy = Policy::from_toml(r#"
    ///     exportable = false          # never changes after the key was created
    ///     min-version = 1             # older versions don't verify
    ///     min-signing-version = 1     # older versions don't sign
    ///     rotate-after = "90d"        # or "never"
    ///     inputs = ["message", "mu"]  # and "digest"
    ///     max-message = 1048576       # bytes
    ///     when-away = "60s"           # or "refuse": while the storage can't be reached
    ///     audit = "counted"           # or "each"
    ///     destroy-after = "30d"       # the least time before a destruction
    ///
    ///     [grants]                    # verbs or roles
    ///     "ci" = ["sign"]
    ///     "operators" = ["manager"]
    ///     "*" = ["public"]            # everybody
    /// "#)?;
    /// assert_eq!(policy.rotate_after, Some(Duration::from_secs(90 * 86_400)));
    /// assert_eq!(Policy::from_toml(&policy.to_toml())?, policy);
    /// # Ok::<_, pq_keystore::policy::InvalidPolicyFile>(())
    /// ```
    ///
    /// A role grants what of it a key can grant.
    ///
    /// # Errors
    ///
    /// An [`InvalidPolicyFile`] that says what is wrong.
    pub fn from_toml(text: &str) -> Result<Self, InvalidPolicyFile> {
        if text.len() > MAX_POLICY_FILE_LEN {
            return Err(InvalidPolicyFile::TooLong);
        }
        let file: File = toml::from_str(text)
            .map_err(|error| InvalidPolicyFile::Toml(error.to_string().trim_end().into()))?;
        let mut policy = Self {
            grants: grants_file::read(&file.grants, Verbs::of_keys())?,
            ..Self::default()
        };
        for (key, number, version) in [
            ("min-version", file.min_version, &mut policy.min_version),
            (
                "min-signing-version",
                file.min_signing_version,
                &mut policy.min_signing_version,
            ),
        ] {
            if let Some(number) = number {
                let problem = || value(key, "versions begin with 1");
                *version = Version::new(number).ok_or_else(problem)?;
            }
        }
        policy.rotate_after = match file.rotate_after.as_deref() {
            None | Some("never") => None,
            Some(text) => Some(time("rotate-after", text)?),
        };
        policy.exportable = file.exportable.unwrap_or(policy.exportable);
        if let Some(names) = file.inputs {
            let kind = |name: &String| {
                let found = InputKind::ALL.into_iter().find(|kind| kind.name() == name);
                found.ok_or_else(|| {
                    value(
                        "inputs",
                        format!("{name:?} is none of message, digest and mu"),
                    )
                })
            };
            policy.inputs = names.iter().map(kind).collect::<Result<_, _>>()?;
        }
        policy.max_message = file.max_message.unwrap_or(policy.max_message);
        match file.when_away.as_deref() {
            None => {}
            Some("refuse") => policy.when_away = WhenAway::Refuse,
            Some(text) => policy.when_away = WhenAway::UseFor(time("when-away", text)?),
        }
        match file.audit.as_deref() {
            None => {}
            Some("counted") => policy.audit = UseAudit::Counted,
            Some("each") => policy.audit = UseAudit::Each,
            Some(_) => return Err(value("audit", "it is counted or each")),
        }
        if let Some(text) = file.destroy_after {
            policy.destroy_after = time("destroy-after", &text)?;
        }
        match policy.problem() {
            Some(problem) => Err(value("policy", problem)),
            None => Ok(policy),
        }
    }

    /// The policy as a file, with verbs instead of roles.
    pub fn to_toml(&self) -> String {
        let kinds = InputKind::ALL
            .into_iter()
            .filter(|kind| self.inputs.contains(*kind));
        let inputs: Vec<_> = kinds.map(|kind| format!("{:?}", kind.name())).collect();
        let rotate_after = self.rotate_after.map_or_else(|| "never".into(), seconds);
        let when_away = match self.when_away {
            WhenAway::Refuse => "refuse".into(),
            WhenAway::UseFor(time) => seconds(time),
        };
        let audit = match self.audit {
            UseAudit::Each => "each",
            UseAudit::Counted => "counted",
        };
        let mut text = format!(
            "exportable = {}\nmin-version = {}\nmin-signing-version = {}\nrotate-after = {rotate_after:?}\ninputs = [{}]\nmax-message = {}\n\
             when-away = {when_away:?}\naudit = {audit:?}\ndestroy-after = {:?}\n",
            self.exportable,
            self.min_version,
            self.min_signing_version,
            inputs.join(", "),
            self.max_message,
            seconds(self.destroy_after),
        );
        text.push_str("\n[grants]\n");
        grants_file::write(&mut text, &self.grants);
        text
    }
}

impl From<InvalidGrants> for InvalidPolicyFile {
    fn from(error: InvalidGrants) -> Self {
        match error {
            InvalidGrants::Verb(error) => Self::Verb(error),
            InvalidGrants::Principal(error) => Self::Principal(error),
        }
    }
}

fn value(key: &'static str, problem: impl Into<String>) -> InvalidPolicyFile {
    let problem = problem.into();
    InvalidPolicyFile::Value { key, problem }
}

/// Reads a number with its unit.
fn time(key: &'static str, text: &str) -> Result<Duration, InvalidPolicyFile> {
    let problem = || InvalidPolicyFile::Time {
        key,
        value: text.chars().take(40).collect(),
    };
    let seconds = |text: &str| {
        const DAY: u64 = 24 * 60 * 60;
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (number, unit) = text.split_at_checked(digits)?;
        let unit = match unit {
            "s" => 1,
            "m" | "min" => 60,
            "h" => 60 * 60,
            "d" => DAY,
            "w" => 7 * DAY,
            "y" => 365 * DAY,
            _ => return None,
        };
        let number: u64 = number.parse().ok()?;
        number.checked_mul(unit)
    };
    seconds(text).map(Duration::from_secs).ok_or_else(problem)
}

fn seconds(time: Duration) -> String {
    format!("{}s", time.as_secs())
}
