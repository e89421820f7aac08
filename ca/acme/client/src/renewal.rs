//! What a CA says about when a certificate is to be renewed (RFC 9773).

use core::time::Duration;

use pq_acme::client::{Method, Request, renewal};
use pq_acme::objects::{Directory, RenewalInfo, Time};
use pq_keys::pki_types::UnixTime;
use pq_x509::certificate::Certificate;
use serde_json::from_slice;

use crate::https::{Https, NoAnswer};

/// What the CA says of a certificate.
#[derive(Clone, Debug)]
pub struct RenewalAdvice {
    /// When it is to be renewed, if the CA says anything of certificates.
    pub info: Option<RenewalInfo>,
    /// How long to wait before it is asked again, if it says so (RFC 9773, section 4.3).
    pub again_after: Option<Duration>,
}

/// Why it is not known what the CA says.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NoRenewalInfo {
    /// There is no answer.
    #[error("{url}: {why}")]
    NoAnswer {
        /// What was asked.
        url: String,
        /// Why there is no answer.
        why: NoAnswer,
    },
    /// The answer has another status than 200.
    #[error("{url}: status {status}")]
    Status {
        /// What was asked.
        url: String,
        /// The status.
        status: u16,
    },
    /// The answer is not what was asked for.
    #[error("{url}: {error}")]
    Json {
        /// What was asked.
        url: String,
        /// What is wrong with it.
        error: serde_json::Error,
    },
}

/// Asks the CA with this directory when a certificate is to be renewed.
///
/// # Errors
///
/// [`NoRenewalInfo`] if it doesn't answer, or with something else.
pub async fn renewal_advice(
    https: &mut Https,
    directory: &str,
    certificate: &Certificate,
) -> Result<RenewalAdvice, NoRenewalInfo> {
    let (body, _) = get(https, directory).await?;
    let read: Directory = from_slice(&body).map_err(of_json(directory))?;
    let Some(url) = renewal::url(&read, certificate) else {
        return Ok(RenewalAdvice {
            info: None,
            again_after: None,
        });
    };
    let (body, again_after) = get(https, &url).await?;
    Ok(RenewalAdvice {
        info: Some(from_slice(&body).map_err(of_json(&url))?),
        again_after,
    })
}

fn of_json(url: &str) -> impl FnOnce(serde_json::Error) -> NoRenewalInfo {
    move |error| NoRenewalInfo::Json {
        url: url.into(),
        error,
    }
}

/// The body, and how long to wait before the next request.
async fn get(https: &mut Https, url: &str) -> Result<(Vec<u8>, Option<Duration>), NoRenewalInfo> {
    let request = Request {
        method: Method::Get,
        url: url.into(),
        body: None,
        accept: "application/json",
    };
    let url = request.url.clone();
    match https.send(&request).await {
        Ok(answer) if answer.status == 200 => {
            let again_after = answer.wait(Time::from(UnixTime::now()));
            Ok((answer.body, again_after))
        }
        Ok(answer) => Err(NoRenewalInfo::Status {
            url,
            status: answer.status,
        }),
        Err(why) => Err(NoRenewalInfo::NoAnswer { url, why }),
    }
}
