//! The command `pqtls ca issue`, and the options for profile and validity that `pqtls ca sign` shares.

use core::time::Duration;

use clap::ArgGroup;
use pq_ca::issuing::{Issuance, Terms};
use pq_ca::policy::{Profile, UnknownProfile, parse_duration};
use pq_x509::certificate::AlternativeName;

use super::ca_key::CaKeyOptions;
use super::issued::CertificateOptions;
use super::own_keys::OwnKeys;
use super::place::{Actor, Place};
use super::shortened::OwnEnd;
use super::subject_key::SubjectKeyOptions;
use super::which_key::WhichKey;
use crate::arguments::{Named, alternative_name};
use crate::commands::delivery::Delivery;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;

/// Issue a certificate for a key
///
/// The CA's ledger has the certificate before its file is written. In the file, the CAs between it and the
/// root follow it, as servers and clients send them. It is up to you to check that the names belong to whoever
/// gets the certificate.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[command(mut_args(for_responders))]
#[command(group(ArgGroup::new("whose key").args(["key", "new_key"]).required(true)))]
pub(crate) struct Arguments {
    /// A DNS name (its first label may be "*"), an IP address, an e-mail address or a URI such as a SPIFFE ID
    #[arg(value_name = "NAME", required_unless_present = "common_name", value_parser = alternative_name)]
    names: Vec<AlternativeName>,

    #[command(flatten)]
    pub(super) key: SubjectKeyOptions,

    #[command(flatten)]
    terms: TermsOptions,

    /// The subject's common name; without it the subject is empty
    #[arg(long, value_name = "NAME")]
    common_name: Option<String>,

    #[command(flatten)]
    pub(super) certificate: CertificateOptions,

    #[command(flatten)]
    which_key: WhichKey,

    #[command(flatten)]
    ca_key: CaKeyOptions,

    #[command(flatten)]
    pub(super) place: Place,

    #[command(flatten)]
    actor: Actor,
}

/// What can be requested besides names; by default, the policy decides.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(super) struct TermsOptions {
    /// What the certificate is for: server, client, server+client, any or ocsp-responder [default:
    /// the policy's first profile, whatever the key: one of ML-KEM, with which no server authenticates, too]
    #[arg(
        long,
        value_name = "PROFILE",
        value_parser = PROFILES,
        hide_possible_values = true,
    )]
    profile: Option<Profile>,

    /// How long it is valid, such as 30d or 12h [default: what the policy says]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    validity: Option<Duration>,
}

const PROFILES: Named<Profile> = Named {
    names: || Profile::ALL.map(Profile::name).to_vec(),
    read: |name| {
        name.parse()
            .map_err(|error: UnknownProfile| error.to_string())
    },
};

impl From<TermsOptions> for Terms {
    fn from(options: TermsOptions) -> Self {
        let TermsOptions { profile, validity } = options;
        Self {
            profile,
            validity,
            ..Self::default()
        }
    }
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls ca issue www.example.org 192.0.2.1 --new-key web.key --out web.pem
  $ pqtls ca issue bot.example.org --profile client --validity 30d --key web.key --out bot.pem";

/// Another key than the one that issues still certifies who answers for it.
fn for_responders(argument: clap::Arg) -> clap::Arg {
    match argument.get_id().as_str() {
        "issuer" => argument.help(
            "Use this key of the CA, such as issuing-2, in place of the one that issues: only for a responder that answers \
             for it (--profile ocsp-responder); anything else is refused, with exit status 1",
        ),
        _ => argument,
    }
}

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let options = &arguments.certificate;
    let delivery = Delivery::to_public(&[&options.output.out], options.output.force, json)?;
    arguments
        .key
        .check(&options.output.out, options.output.force, json)?;
    let folder = arguments.place.open()?;
    let role = arguments.which_key.or_issuing(&folder)?;
    let chain = folder.chain_of(role)?;
    let authority = arguments.ca_key.authority_to_issue(&folder, role)?;
    let own_keys = OwnKeys::of(&folder, role)?;
    let own_end = OwnEnd::of(&authority, &folder, &arguments.place)?;
    let terms = Terms {
        names: arguments.names.clone(),
        common_name: arguments.common_name.clone(),
        ..arguments.terms.into()
    };
    let issued = arguments
        .key
        .issue(&authority, &arguments.actor.name(), |key| {
            let key = key.expect("clap asks for --key or --new-key");
            own_keys.refuse(key)?;
            Ok(Issuance::for_key(key, &terms)?)
        })?;
    if terms.validity.is_none() {
        own_end.warn(own_end.shortens(&issued.entry).into());
    }
    options.deliver(delivery, &issued, &chain, arguments.key.new_key.as_ref())
}
