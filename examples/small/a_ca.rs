//! A CA in a program: it issues what its policy permits, refuses the rest, and revokes.
#![forbid(unsafe_code)]

use core::error::Error;

use pq_ca::authority::{Authority, Order};
use pq_ca::ledger::{LocalLedger, SerialNumber};
use pq_ca::policy::Policy;
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::{SignatureAlgorithm, SigningKey};
use pq_x509::pki_types::UnixTime;
use pq_x509::revocation::CrlReason;

fn main() -> Result<(), Box<dyn Error>> {
    let key = SigningKey::generate(SignatureAlgorithm::MlDsa65)?;
    let issuer = Issuer::self_signed(CertificateBuilder::ca("Example CA"), key)?;
    // A policy is a file; this is the one that permits these names.
    let policy = Policy::default_text(&[".example.org".parse()?], &[], &[]);
    let policy = Policy::parse(&policy, "policy.toml")?;
    // The ledger outlives the program. This one doesn't.
    let folder = tempfile::tempdir()?;
    let ledger = LocalLedger::create(folder.path())?;
    let ca = Authority::new("issuing", issuer, policy, ledger);

    let key = SigningKey::generate(SignatureAlgorithm::MlDsa65)?;
    let order = |name: &'static str| {
        let order = Order::for_key(&key)?;
        Ok::<_, Box<dyn Error>>(order.with(|wanted| wanted.dns_name(name)))
    };
    let now = UnixTime::now();
    let certificate = ca.issue(&order("www.example.org")?, "alice", now)?;
    println!("issued for {}", certificate.dns_names().join(", "));
    if let Err(error) = ca.issue(&order("www.example.com")?, "alice", now) {
        println!("refused: {error}");
    }

    let number = SerialNumber::of(&certificate)?;
    ca.revoke(&number, CrlReason::Superseded, "bob", now)?;
    let list = ca.revocation_list(now, None)?;
    ca.confirm_list(&list)?;
    println!("on the list: {}", list.entries().len());
    Ok(())
}
