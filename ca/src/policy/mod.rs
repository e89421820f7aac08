//! The policy: what a CA may issue, said by a file in TOML.
//!
//! This room uses [`time`](crate::time), and nothing else of this crate.

mod file;
mod forbidden;
mod permitted;
mod rules;
mod values;
mod wanted;

use core::fmt;
use core::time::Duration;

use pq_x509::Certificate;
use pq_x509::pki_types::UnixTime;

pub use file::PolicyError;
use file::Source;
use forbidden::Findings;
pub use forbidden::{Forbidden, Reason, Refusal};
pub use permitted::Permitted;
use rules::Rules;
pub use values::{
    DurationError, EmailPattern, EmailPatternError, KeyAlgorithm, ListUrl, ListUrlError,
    NamePattern, NamePatternError, Network, NetworkError, Profile, TextPattern, TextPatternError,
    UnknownKeyAlgorithm, UnknownProfile, UriPattern, UriPatternError, parse_duration,
};
pub use wanted::Wanted;

/// What a CA may issue, as a file in TOML says it: names, keys, validity and usages.
///
/// [`default_text`](Self::default_text) is such a file, with comments that say what may be in it.
///
/// ```
/// use pq_ca::{Policy, Wanted};
/// use pq_x509::pki_types::UnixTime;
/// use pq_x509::{CertificateBuilder, Issuer, SignatureAlgorithm, SigningKey};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let text = Policy::default_text(&[".example.org".parse()?], &[], &[]);
/// let policy = Policy::parse(&text, "policy.toml")?;
/// # let ca_key = SigningKey::generate(SignatureAlgorithm::MlDsa44)?;
/// # let ca = Issuer::self_signed(CertificateBuilder::ca("Example CA"), ca_key)?;
///
/// let key = SigningKey::generate(SignatureAlgorithm::MlDsa65)?;
/// let wanted = Wanted::new(&key)?.dns_name("www.example.org");
/// let permitted = policy.check(&wanted, ca.certificate(), UnixTime::now())?;
/// let certificate = ca.issue(permitted.certificate(), &key)?;
/// assert_eq!(certificate.dns_names(), ["www.example.org"]);
///
/// let wanted = Wanted::new(&key)?.dns_name("www.example.com");
/// let forbidden = policy.check(&wanted, ca.certificate(), UnixTime::now()).unwrap_err();
/// assert_eq!(
///     forbidden.to_string(),
///     "policy.toml:14: names.dns permits \".example.org\", not \"www.example.com\"; \
///      ask for another name, or permit it there\n  \
///      14 | dns = [\".example.org\"]"
/// );
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Policy {
    source: Source,
    rules: Rules,
}

impl Policy {
    /// Reads a policy. The file's name is for messages.
    ///
    /// # Errors
    ///
    /// A [`PolicyError`] for what is no TOML, for keys and values that a policy doesn't have, and
    /// if the default validity is longer than the longest that is permitted.
    pub fn parse(text: &str, file_name: &str) -> Result<Self, PolicyError> {
        let source = Source::new(file_name, text);
        let rules: Rules = toml::from_str(text).map_err(|error| {
            let offset = error.span().map_or(0, |span| span.start);
            // TOML has keys where serde has fields.
            match error.message().strip_prefix("unknown field ") {
                Some(rest) => PolicyError::new(&source, offset, format_args!("unknown key {rest}")),
                None => PolicyError::new(&source, offset, error.message()),
            }
        })?;
        rules.validity.check_settings(&source)?;
        Ok(Self { source, rules })
    }

    /// The text of a policy that permits these names and addresses to servers and clients with keys
    /// of ML-DSA, and has certificates say that the CA's revocation list is to be had at these
    /// URLs. Its comments say what else a policy may say.
    pub fn default_text(dns: &[NamePattern], ip: &[Network], list_urls: &[ListUrl]) -> String {
        format!(
            include_str!("default.toml"),
            dns = strings(dns),
            ip = strings(ip),
            urls = strings(list_urls)
        )
    }

    /// Whether the CA with this certificate may issue what is wanted, at this time. Everything in
    /// the answer is as it is wanted; for what is not said, it has the policy's defaults.
    ///
    /// Whether names belong to whoever asks for them is for the CA to find out.
    ///
    /// # Errors
    ///
    /// [`Forbidden`], which says everything that is forbidden.
    pub fn check(
        &self,
        wanted: &Wanted,
        ca: &Certificate,
        now: UnixTime,
    ) -> Result<Permitted, Forbidden> {
        let mut findings = Findings::default();
        self.rules.names.check(wanted, &mut findings);
        self.rules.subject.check(wanted, &mut findings);
        self.rules.keys.check(wanted, &mut findings);
        let times = self.rules.validity.check(wanted, ca, now, &mut findings);
        let profile = self.rules.usages.check(wanted, &mut findings);
        findings.into_result(&self.source)?;
        Ok(Permitted::new(
            wanted.certificate(),
            profile,
            times,
            self.rules.revocation_lists.urls(),
            self.rules.ocsp.urls(),
        ))
    }

    /// How long revocation lists are to be valid.
    pub fn revocation_list_validity(&self) -> Duration {
        self.rules.revocation_lists.validity_or(7)
    }

    /// How long answers of an OCSP responder are to be valid.
    pub fn ocsp_validity(&self) -> Duration {
        self.rules.ocsp.validity_or(1)
    }

    /// Where the OCSP responder is to be asked, as certificates say it.
    pub fn ocsp_urls(&self) -> &[ListUrl] {
        self.rules.ocsp.urls()
    }

    /// Where the revocation list is to be had, as certificates say it.
    pub fn revocation_list_urls(&self) -> &[ListUrl] {
        self.rules.revocation_lists.urls()
    }
}

/// The strings of a list in TOML: none of these types has a character in it that would end one.
fn strings(items: &[impl fmt::Display]) -> String {
    let strings: Vec<_> = items.iter().map(|item| format!("\"{item}\"")).collect();
    strings.join(", ")
}
