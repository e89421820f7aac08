//! The policy: a TOML file that says what a CA may issue.
//!
//! This room uses `time`, and nothing else of this crate.

mod acme;
mod est;
mod file;
mod forbidden;
mod permitted;
mod rules;
mod values;
mod wanted;

use core::fmt;
use core::time::Duration;

use pq_x509::certificate::{AlternativeName, Certificate};
use pq_x509::pki_types::UnixTime;
use sha2::{Digest, Sha256};

pub use acme::AcmePolicy;
pub use est::EstPolicy;
pub use file::PolicyError;
use file::Source;
use forbidden::Findings;
pub use forbidden::{Forbidden, Reason, Refusal};
pub use permitted::Permitted;
use rules::Rules;
pub use values::{
    AcmeChallenge, AcmeLimits, DurationError, EmailPattern, EmailPatternError, KeyAlgorithm,
    ListUrl, ListUrlError, NamePattern, NamePatternError, Network, NetworkError, PageUrl,
    PageUrlError, Profile, Rate, TextPattern, TextPatternError, UnknownAcmeChallenge,
    UnknownKeyAlgorithm, UnknownProfile, UriPattern, UriPatternError, parse_duration,
};
pub use wanted::Wanted;

/// A policy: a TOML file that says what a CA may issue, by names, keys, validity and usages.
///
/// [`default_text`](Self::default_text) is such a file, with comments that explain all settings.
///
/// ```
/// use pq_ca::policy::{Policy, Wanted};
/// use pq_x509::pki_types::UnixTime;
/// use pq_x509::issuing::{CertificateBuilder, Issuer};
/// use pq_x509::keys::{SignatureAlgorithm, SigningKey};
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
    digest: [u8; 32],
}

impl Policy {
    /// Reads a policy. The file's name is used in messages.
    ///
    /// # Errors
    ///
    /// A [`PolicyError`] if the text is not TOML, if it has unknown keys or invalid values, or if the default
    /// validity is longer than the maximum.
    pub fn parse(text: &str, file_name: &str) -> Result<Self, PolicyError> {
        let source = Source::new(file_name, text);
        let rules: Rules = toml::from_str(text).map_err(|error| {
            let offset = error.span().map_or(0, |span| span.start);
            // Serde calls TOML's keys fields.
            match error.message().strip_prefix("unknown field ") {
                Some(rest) => PolicyError::new(&source, offset, format_args!("unknown key {rest}")),
                None => PolicyError::new(&source, offset, error.message()),
            }
        })?;
        rules.validity.check_settings(&source)?;
        if let Some(acme) = &rules.acme {
            acme.check_settings(&source)?;
        }
        if let Some(est) = &rules.est {
            est.check_settings(&source)?;
        }
        Ok(Self {
            source,
            rules,
            digest: Sha256::digest(text).into(),
        })
    }

    /// The SHA-256 digest of its text, which `sha256sum` prints of the file.
    pub fn digest(&self) -> [u8; 32] {
        self.digest
    }

    /// The text of a policy that permits these names and addresses for servers and clients with ML-DSA keys.
    /// Certificates point to the CA's revocation list at these URLs. Comments in the text explain all other
    /// settings.
    pub fn default_text(dns: &[NamePattern], ip: &[Network], list_urls: &[ListUrl]) -> String {
        format!(
            include_str!("default.toml"),
            dns = strings(dns),
            ip = strings(ip),
            urls = strings(list_urls)
        )
    }

    /// Checks whether the CA with this certificate may issue a wanted certificate at this time. The result has
    /// everything as wanted, and the policy's defaults for the rest.
    ///
    /// This does not check that the names belong to whoever asks for them: the CA has to do that.
    ///
    /// # Errors
    ///
    /// [`Forbidden`], which lists everything that is forbidden.
    pub fn check(
        &self,
        wanted: &Wanted,
        ca: &Certificate,
        now: UnixTime,
    ) -> Result<Permitted, Forbidden> {
        let mut findings = Findings::default();
        self.rules.names.check(&wanted.names, &mut findings);
        self.rules.subject.check(wanted, &mut findings);
        self.rules.keys.check(wanted, &mut findings);
        let times = self
            .rules
            .validity
            .check(wanted.validity, ca, now, &mut findings);
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

    /// What clients may get by ACME, or `None` if the file has no table `[acme]`, and so they get nothing.
    pub fn acme(&self) -> Option<AcmePolicy<'_>> {
        AcmePolicy::of(&self.rules)
    }

    /// Checks whether a client may order a certificate for these names by ACME, of this profile or else the default one.
    /// Returns the profile. The key is not known yet: [`check`](Self::check) the whole certificate before it is issued.
    ///
    /// # Errors
    ///
    /// [`Forbidden`], which lists everything that is forbidden.
    pub fn check_acme_order(
        &self,
        names: &[AlternativeName],
        profile: Option<Profile>,
    ) -> Result<Profile, Forbidden> {
        let mut findings = Findings::default();
        self.rules.names.check(names, &mut findings);
        let permitted = self.rules.usages.permitted();
        let chosen = match &self.rules.acme {
            Some(acme) => acme.check(names, profile, permitted, &mut findings),
            None => {
                findings.add_always(Reason::NoAcme);
                None
            }
        };
        findings.into_result(&self.source)?;
        Ok(chosen.unwrap_or(Profile::Server))
    }

    /// What devices may get by EST, or `None` if the file has no table `[est]`, and so they get nothing.
    pub fn est(&self) -> Option<EstPolicy<'_>> {
        EstPolicy::of(&self.rules)
    }

    /// Checks whether a user, or without one whoever has a certificate with these names, may get a certificate by EST, of the
    /// wanted profile or else the default one. Returns the profile. [`check`](Self::check) the whole certificate, too.
    ///
    /// # Errors
    ///
    /// [`Forbidden`], which lists everything that the table `[est]` forbids.
    pub fn check_est(&self, wanted: &Wanted, user: Option<&str>) -> Result<Profile, Forbidden> {
        let mut findings = Findings::default();
        let permitted = self.rules.usages.permitted();
        let chosen = match &self.rules.est {
            Some(est) => est.check(wanted, user, permitted, &mut findings),
            None => {
                findings.add_always(Reason::NoEst);
                None
            }
        };
        findings.into_result(&self.source)?;
        Ok(chosen.unwrap_or(Profile::Client))
    }

    /// Checks whether the CA with this certificate may issue one that is valid for so long from this time on: for whoever
    /// knows neither key nor names yet.
    ///
    /// # Errors
    ///
    /// [`Forbidden`], if it is longer than the policy or the CA permits.
    pub fn check_validity(
        &self,
        asked: Duration,
        ca: &Certificate,
        now: UnixTime,
    ) -> Result<(), Forbidden> {
        let mut findings = Findings::default();
        self.rules
            .validity
            .check(Some(asked), ca, now, &mut findings);
        findings.into_result(&self.source)
    }

    /// How long revocation lists are valid.
    pub fn revocation_list_validity(&self) -> Duration {
        self.rules.revocation_lists.validity_or(7)
    }

    /// How long answers of an OCSP responder are valid.
    pub fn ocsp_validity(&self) -> Duration {
        self.rules.ocsp.validity_or(1)
    }

    /// The URLs of the OCSP responder, which are put into certificates.
    pub fn ocsp_urls(&self) -> &[ListUrl] {
        self.rules.ocsp.urls()
    }

    /// The URLs of the revocation list, which are put into certificates.
    pub fn revocation_list_urls(&self) -> &[ListUrl] {
        self.rules.revocation_lists.urls()
    }
}

/// The strings of a TOML list. These types contain no character that would end a string.
fn strings(items: &[impl fmt::Display]) -> String {
    let strings: Vec<_> = items.iter().map(|item| format!("\"{item}\"")).collect();
    strings.join(", ")
}
