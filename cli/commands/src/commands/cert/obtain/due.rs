//! Whether a certificate has to be renewed: because it is not what is asked for, because its CA says so, or because of its age.

use pq_acme::client::lacking_name;
use pq_acme::client::renewal::{self, By, Moment};
use pq_acme::objects::{CertificateId, Time};
use pq_acme_client::{Https, NoRenewalInfo, renewal_advice};
use pq_keys::SubjectKey;
use pq_x509::certificate::Certificate;
use pq_x509::pki_types::UnixTime;

use super::Arguments;
use super::key;
use crate::documents;
use crate::failure::{Failure, advice_on_no_answer as advice};
use crate::files::{Destination, Source};
use crate::report;

/// Whether to renew.
pub(super) enum Due {
    Now {
        why: String,
        /// The certificate that the new one replaces, for the CA.
        replaced: Option<String>,
    },
    Later(Moment),
}

pub(super) async fn look(
    https: &mut Https,
    arguments: &Arguments,
    old: &Certificate,
) -> Result<Due, Failure> {
    let replaced = CertificateId::of(old).map(|id| id.to_string());
    if let Some(why) = differs(arguments, old)? {
        // It is another certificate, which takes no other's place.
        return Ok(Due::Now {
            why,
            replaced: None,
        });
    }
    let info = match renewal_advice(https, &arguments.from, old).await {
        Ok(advice) => advice.info,
        Err(why) => {
            let trust = match &why {
                NoRenewalInfo::NoAnswer { why, .. } => advice(why),
                _ => "",
            };
            report::warn(format_args!(
                "the CA doesn't say when the certificate is to be renewed, so its age decides: {why}{trust}"
            ));
            None
        }
    };
    let now = Time::from(UnixTime::now());
    let moment = renewal::moment(old, info.as_ref());
    // Whatever the CA says: a certificate that is over is of no use.
    let is_over = Time::from(old.not_after()) <= now;
    if moment.at > now && !is_over {
        return Ok(Due::Later(moment));
    }
    let why = match &moment.by {
        _ if is_over => format!("it expired at {}", Time::from(old.not_after())),
        By::Ca(None) => format!("the CA says so, since {}", moment.at),
        By::Ca(Some(page)) => format!("the CA says so, since {}: see {page}", moment.at),
        By::Lifetime => format!("two thirds of its time were over at {}", moment.at),
    };
    Ok(Due::Now { why, replaced })
}

/// What the certificate is not that it should be.
fn differs(arguments: &Arguments, old: &Certificate) -> Result<Option<String>, Failure> {
    let options = &arguments.key;
    let mut wanted = arguments.names.clone();
    let mut key = None;
    if let Some(file) = &options.csr {
        let request = key::read(file)?;
        wanted = key::names_of(&request, file)?;
        let spki = request.verify_with(crate::keys::other_verification())?;
        key = Some(spki.spki().into_owned());
    } else if let Some(source) = &options.key {
        let signer = options.store.signer(source, &options.passphrase)?;
        key = Some(signer.spki().into_owned());
    } else if let Some(Destination::File(path)) = &options.new_key {
        if !path.exists() {
            return Ok(Some(format!("its key is not in {}", path.display())));
        }
        let source = Source::File(path.clone());
        let public = documents::any_public_key(&source, &options.passphrase)?;
        key = Some(public.spki().into_owned());
    }
    if key.is_some_and(|key| key != old.spki()) {
        return Ok(Some("it is for another key".into()));
    }
    let lacking = lacking_name(old, &wanted);
    Ok(lacking.map(|name| format!("it is not for {name}")))
}
