//! Signed requests, read and written.

use pq_jose::any::{AnyJwk, AnyJwsAlgorithm, AnyJwsError, Flattened, write_flattened};
use pq_keys::Signer;

use super::header::{Header, KeyId};
use crate::problem::Problem;

/// The most bytes of a request: one with a request for a certificate that SLH-DSA-256f signed has 91 KB.
pub const MAX_BODY_LEN: usize = 128 * 1024;

/// A signed request, before its signature is verified. Anybody may have written what it says.
#[derive(Debug)]
pub struct SignedRequest<'a> {
    header: Header,
    signature: Flattened<'a>,
}

/// Reads the body of a request.
///
/// # Errors
///
/// A [`Problem`] that says what is wrong with it: [`Malformed`](crate::problem::ProblemType::Malformed),
/// [`BadSignatureAlgorithm`](crate::problem::ProblemType::BadSignatureAlgorithm) or
/// [`BadPublicKey`](crate::problem::ProblemType::BadPublicKey). If its nonce is missing, that is
/// [`BadNonce`](crate::problem::ProblemType::BadNonce) for whoever checks nonces.
pub fn read(body: &[u8]) -> Result<SignedRequest<'_>, Problem> {
    let signature = Flattened::from_json(body, MAX_BODY_LEN)
        .map_err(|error| Problem::malformed(error.to_string()))?;
    Ok(SignedRequest {
        header: Header::read(signature.header())?,
        signature,
    })
}

/// Reads the content of a request to change an account's key, which the new key signed (RFC 8555, section 7.3.5): it brings
/// its key, has the same URL as the request, and no nonce.
///
/// # Errors
///
/// Those of [`read`], and [`Malformed`](crate::problem::ProblemType::Malformed) where the two don't belong together.
pub fn read_inner<'a>(
    content: &'a [u8],
    url: &str,
) -> Result<(SignedRequest<'a>, AnyJwk), Problem> {
    let inner = read(content)?;
    if inner.nonce().is_some() {
        return Err(Problem::malformed(
            "the inner signature has a \"nonce\", which belongs into the outer one alone (RFC 8555 section 7.3.5)",
        ));
    }
    if inner.url() != url {
        return Err(Problem::malformed(
            "the inner signature has another \"url\" than the outer one (RFC 8555 section 7.3.5)",
        ));
    }
    match inner.key() {
        KeyId::Key(key) => {
            let key = AnyJwk::clone(key);
            Ok((inner, key))
        }
        KeyId::Account(_) => Err(Problem::malformed(
            "the inner signature has no \"jwk\", the account's new key (RFC 8555 section 7.3.5)",
        )),
    }
}

impl SignedRequest<'_> {
    /// The URL that it is for.
    pub fn url(&self) -> &str {
        &self.header.url
    }

    /// The nonce, if there is one.
    pub fn nonce(&self) -> Option<&str> {
        self.header.nonce.as_deref()
    }

    /// Who signed it.
    pub fn key(&self) -> &KeyId {
        &self.header.key
    }

    /// The algorithm that it names.
    pub fn algorithm(&self) -> AnyJwsAlgorithm {
        self.header.algorithm
    }

    /// Verifies the signature by this key, and gives the content.
    ///
    /// # Errors
    ///
    /// [`Malformed`](crate::problem::ProblemType::Malformed) if it is not valid, or of another algorithm than the key.
    pub fn verify(&self, key: &AnyJwk) -> Result<Vec<u8>, Problem> {
        if key.algorithm() != self.header.algorithm {
            return Err(Problem::malformed(format!(
                "the protected header says \"alg\":\"{}\", but the account's key is one of {}",
                self.header.algorithm,
                key.algorithm()
            )));
        }
        let malformed = |error: AnyJwsError| Problem::malformed(error.to_string());
        self.signature.verify(key).map_err(malformed)?;
        self.signature.payload().map_err(malformed)
    }
}

/// Writes a request: `payload` is the JSON of its content, or nothing to ask for what is there (POST-as-GET). A nonce is
/// missing only in the inner request of a change of keys.
///
/// # Errors
///
/// If the key's algorithm has no name in JOSE, or it doesn't sign.
pub fn write(
    key: &(impl Signer + ?Sized),
    by: &KeyId,
    nonce: Option<&str>,
    url: &str,
    payload: &[u8],
) -> Result<String, AnyJwsError> {
    let text = |text: &str| serde_json::Value::from(text).to_string();
    let public = match by {
        KeyId::Key(public) => AnyJwk::clone(public),
        KeyId::Account(_) => AnyJwk::of(key)?,
    };
    let who = match by {
        KeyId::Key(public) => format!(r#""jwk":{}"#, public.to_json()),
        KeyId::Account(url) => format!(r#""kid":{}"#, text(url)),
    };
    let nonce = nonce.map(|nonce| format!(r#","nonce":{}"#, text(nonce)));
    let header = format!(
        r#"{{"alg":"{}",{who}{},"url":{}}}"#,
        public.algorithm(),
        nonce.unwrap_or_default(),
        text(url)
    );
    write_flattened(header.as_bytes(), payload, key)
}

#[cfg(test)]
mod tests {
    use pq_keys::classical::{ClassicalAlgorithm, ClassicalKey};
    use pq_keys::{SignatureAlgorithm, SigningKey};

    use super::*;
    use crate::problem::ProblemType;

    const URL: &str = "https://ca.example/acme/new-order";

    fn keys() -> Vec<Box<dyn Signer>> {
        let ml_dsa = [
            SignatureAlgorithm::MlDsa44,
            SignatureAlgorithm::MlDsa65,
            SignatureAlgorithm::MlDsa87,
        ];
        let classical = [
            ClassicalAlgorithm::EcdsaP256,
            ClassicalAlgorithm::EcdsaP384,
            ClassicalAlgorithm::Ed25519,
            ClassicalAlgorithm::Rsa2048,
        ];
        let ml_dsa = ml_dsa.map(|one| SigningKey::generate(one).unwrap());
        let classical = classical.map(|one| ClassicalKey::generate(one).unwrap());
        let ml_dsa = ml_dsa
            .into_iter()
            .map(|key| Box::new(key) as Box<dyn Signer>);
        let classical = classical
            .into_iter()
            .map(|key| Box::new(key) as Box<dyn Signer>);
        ml_dsa.chain(classical).collect()
    }

    #[test]
    fn requests_of_each_algorithm_are_read_as_written() {
        let keys = keys();
        for (key, algorithm) in keys.iter().zip(AnyJwsAlgorithm::ALL) {
            let public = AnyJwk::of(key).unwrap();
            assert_eq!(public.algorithm(), *algorithm);
            let read_key = AnyJwk::from_json(public.to_json().as_bytes()).unwrap();
            assert_eq!(read_key, public);
            for by in [
                KeyId::Key(Box::new(public.clone())),
                KeyId::Account("https://ca.example/acme/account/1".into()),
            ] {
                let body = write(key, &by, Some("abc"), URL, b"{}").unwrap();
                let request = read(body.as_bytes()).unwrap();
                assert_eq!((request.url(), request.nonce()), (URL, Some("abc")));
                assert_eq!(request.key(), &by);
                assert_eq!(request.verify(&public).unwrap(), b"{}");
                for other in &keys {
                    let other = AnyJwk::of(other).unwrap();
                    assert_eq!(request.verify(&other).is_ok(), other == public);
                }
            }
        }
    }

    #[test]
    fn headers_are_refused_for_what_they_have_too_much_or_lack() {
        let key = ClassicalKey::generate(ClassicalAlgorithm::EcdsaP256).unwrap();
        let public = AnyJwk::of(&key).unwrap().to_json();
        let kid = r#""kid":"https://ca.example/acme/account/1""#;
        let url = r#""url":"https://ca.example/acme/new-order""#;
        let good = format!(r#"{{"alg":"ES256",{kid},"nonce":"a",{url}}}"#);
        let refused = |header: &str| {
            let body = write_flattened(header.as_bytes(), b"{}", &key).unwrap();
            read(body.as_bytes()).map(|_| ()).unwrap_err().kind
        };
        let body = write_flattened(good.as_bytes(), b"{}", &key).unwrap();
        assert!(read(body.as_bytes()).is_ok());
        for bad in [
            format!(r#"{{"alg":"ES256","jwk":{public},{kid},"nonce":"a",{url}}}"#),
            format!(r#"{{"alg":"ES256","nonce":"a",{url}}}"#),
            format!(r#"{{"alg":"ES256",{kid},"nonce":"a"}}"#),
            format!(r#"{{{kid},"nonce":"a",{url}}}"#),
            format!(r#"{{"alg":"ES256",{kid},"nonce":"a",{url},"crit":[]}}"#),
            format!(r#"{{"alg":"ES256",{kid},"nonce":"a",{url},"crit":null}}"#),
            format!(r#"{{"alg":"ES256",{kid},"nonce":"a",{url},"b64":true}}"#),
            format!(r#"{{"alg":"ES256","alg":"ES256",{kid},"nonce":"a",{url}}}"#),
            format!(r#"{{"alg":"ES256",{kid},"nonce":1,{url}}}"#),
            format!(r#"{{"alg":"EdDSA","jwk":{public},"nonce":"a",{url}}}"#),
            format!(r#"{{"alg":"ES256",{kid},{kid},"nonce":"a",{url}}}"#),
            "[]".into(),
            String::new(),
        ] {
            assert_eq!(refused(&bad), ProblemType::Malformed, "{bad}");
        }
        for name in ["none", "HS256", "ES512", "es256", ""] {
            let header = good.replace("ES256", name);
            assert_eq!(refused(&header), ProblemType::BadSignatureAlgorithm);
        }
        for jwk in [
            r#"{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}"#,
            r#"{"kty":"oct","k":"AA"}"#,
            r#"{"kty":"RSA","n":"AQ","e":"AQAB"}"#,
            &public.replace("P-256", "P-384"),
        ] {
            let header = format!(r#"{{"alg":"ES256","jwk":{jwk},"nonce":"a",{url}}}"#);
            assert_eq!(refused(&header), ProblemType::BadPublicKey, "{jwk}");
        }
        let twice = good.replace("ES256", "none");
        let body = write_flattened(twice.as_bytes(), b"{}", &key).unwrap();
        let problem = read(body.as_bytes()).map(|_| ()).unwrap_err();
        assert_eq!(problem.algorithms.len(), AnyJwsAlgorithm::ALL.len());
    }

    #[test]
    fn bodies_have_one_signature_and_no_other_header() {
        let key = ClassicalKey::generate(ClassicalAlgorithm::Ed25519).unwrap();
        let by = KeyId::Account("a".into());
        let good = write(&key, &by, Some("a"), URL, b"").unwrap();
        let with = |member: &str| good.replacen('{', &format!("{{{member},"), 1);
        assert!(read(with(r#""other":{}"#).as_bytes()).is_ok());
        for bad in [
            with(r#""header":{}"#),
            with(r#""signatures":[]"#),
            with(r#""payload":"""#),
            good.replace("\"payload\"", "\"other\""),
            good.replace("\"signature\"", "\"other\""),
            format!("[{good}]"),
            format!("{good}x"),
            format!("{good}{}", " ".repeat(MAX_BODY_LEN)),
        ] {
            let kind = read(bad.as_bytes()).map(|_| ()).unwrap_err().kind;
            assert_eq!(kind, ProblemType::Malformed, "{bad:.100}");
        }
    }
}
