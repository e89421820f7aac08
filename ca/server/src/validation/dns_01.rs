//! `dns-01` (RFC 8555, section 8.4): a text in DNS that is the digest of the key authorization.

use pq_acme::challenge::dns_name;
use pq_acme::identifier::Identifier;

use super::Validator;
use super::outcome::{Refusal, Steps, Verdict, quoted};
use super::question::Question;
use pq_acme::problem::ProblemType;

/// Texts that are shown of those that are others.
const SHOWN: usize = 3;

impl Validator {
    pub(super) async fn dns_01(
        &self,
        question: &Question,
        steps: &mut Steps,
    ) -> Result<String, Verdict> {
        let Identifier::Dns(name) = &question.identifier else {
            let detail =
                "dns-01 is for DNS names only (RFC 8738, section 7); use http-01 or tls-alpn-01";
            return Err(Refusal::new(ProblemType::Malformed, detail).into());
        };
        let record = dns_name(name);
        let expected = question.authorization.dns_value();
        let texts = self.resolver.texts(&record, steps).await;
        let texts = texts.map_err(|mut missing| {
            missing.detail += &format!("; put a TXT record there: {record} = {expected}");
            missing
        })?;
        if texts.iter().any(|text| *text == expected.as_bytes()) {
            steps.add(format!("{record} has the expected text"));
            return Ok(format!("TXT of {record}"));
        }
        let mut shown: Vec<String> = texts.iter().take(SHOWN).map(|text| quoted(text)).collect();
        if texts.len() > SHOWN {
            shown.push(format!("and {} more", texts.len() - SHOWN));
        }
        let detail = format!(
            "the TXT records of {record} are {}, and none is {expected}; if it has just been put there, \
             ask again once all servers of the zone have it",
            shown.join(", ")
        );
        Err(Refusal::new(ProblemType::IncorrectResponse, detail).into())
    }
}
