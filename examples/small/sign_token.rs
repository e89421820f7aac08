//! Signs a JSON Web Token with ML-DSA, and verifies it by a policy.
#![forbid(unsafe_code)]

use core::error::Error;
use core::time::Duration;

use pq_jose::jwk::PrivateJwk;
use pq_jose::jws::Header;
use pq_jose::jwt::{Claims, Policy};
use pq_x509::keys::{SignatureAlgorithm, SigningKey};
use pq_x509::pki_types::UnixTime;

fn main() -> Result<(), Box<dyn Error>> {
    let key = PrivateJwk::new(SigningKey::generate(SignatureAlgorithm::MlDsa44)?)?;
    let now = UnixTime::now();
    let token = Claims::new()
        .with_issuer("https://id.example.org")
        .with_audience("shop")
        .with_subject("alice")
        .with_lifetime(now, Duration::from_secs(600))
        .sign(&Header::new(), &key)?;
    println!("a token of {} bytes", token.len());

    let policy = |audience| {
        let policy = Policy::new().issuer("https://id.example.org");
        policy.audience(audience)
    };
    let verified = policy("shop").verify(&token, key.public(), now)?;
    println!("good: {}", verified.claims().subject().unwrap_or("nobody"));
    if let Err(error) = policy("bank").verify(&token, key.public(), now) {
        println!("for another audience: {error}");
    }
    Ok(())
}
