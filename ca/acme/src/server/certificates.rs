//! Certificates (RFC 8555, section 7.4.2), and when to renew them (RFC 9773).

use super::Server;
use super::accounts::another;
use super::answer::{Answer, Refusal};
use super::content;
use super::orders::nothing_here;
use super::policy::Policy;
use super::posts::Post;
use crate::objects::{CertificateId, Time};
use crate::problem::Problem;
use crate::store::Store;

impl<S: Store, P: Policy> Server<S, P> {
    pub(super) fn certificate(
        &self,
        post: &Post,
        id: &str,
        chain: usize,
    ) -> Result<Answer, Refusal> {
        let found = self.store.certificate(id)?;
        let found = found.ok_or_else(|| nothing_here("certificate"))?;
        if found.account != post.account()?.id {
            return Err(another().into());
        }
        content::nothing(&post.content)?;
        let pem = found.chains.get(chain);
        let pem = pem.ok_or_else(|| nothing_here("certificate"))?;
        let answer = Answer::empty(200).of_type(PEM_CHAIN, pem.clone().into_bytes());
        let others = (0..found.chains.len()).filter(|other| *other != chain);
        Ok(others.fold(answer, |answer, other| {
            answer.linked(&self.urls.certificate(id, other), "alternate")
        }))
    }

    pub(super) fn renewal_info(&self, name: &str, now: Time) -> Result<Answer, Refusal> {
        name.parse::<CertificateId>()
            .map_err(|error| Problem::malformed(format!("the end of the URL is {error}")))?;
        let found = self.store.certificate_named(name)?;
        let found = found.ok_or_else(|| nothing_here("certificate"))?;
        let (info, again) = self.policy.renewal(&found, now);
        Ok(Answer::json(200, &info).with("Retry-After", again.as_secs().max(1).to_string()))
    }
}

const PEM_CHAIN: &str = "application/pem-certificate-chain";
