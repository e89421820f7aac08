//! instant-acme obtains, renews and revokes certificates by dns-01, one of them for a request that pqtls made.
#![forbid(unsafe_code)]

use std::env;
use std::error::Error;
use std::fs;
use std::io::Write;

use instant_acme::{
    Account, AuthorizationStatus, CertificateIdentifier, ChallengeType, Identifier, NewAccount, NewOrder, OrderStatus,
    RetryPolicy, RevocationReason, RevocationRequest,
};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, CertificateSigningRequestDer};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// The chain for an order, whose challenges are done; the request is its own without one.
async fn obtain(account: &Account, order: &NewOrder<'_>, request: Option<&[u8]>) -> Outcome<String> {
    let mut order = account.new_order(order).await?;
    let mut authorizations = order.authorizations();
    while let Some(authorization) = authorizations.next().await {
        let mut authorization = authorization?;
        if authorization.status == AuthorizationStatus::Valid {
            continue;
        }
        let mut challenge = authorization.challenge(ChallengeType::Dns01).ok_or("no dns-01")?;
        let mut texts = fs::OpenOptions::new().create(true).append(true).open(env::var("TEXTS")?)?;
        let text = challenge.key_authorization().dns_value();
        writeln!(texts, "_acme-challenge.{} {text}", challenge.identifier())?;
        challenge.set_ready().await?;
    }
    let status = order.poll_ready(&RetryPolicy::default()).await?;
    if status != OrderStatus::Ready {
        return Err(format!("the order is {status:?}").into());
    }
    match request {
        Some(request) => order.finalize_csr(request).await?,
        None => drop(order.finalize().await?),
    }
    Ok(order.poll_certificate(&RetryPolicy::default()).await?)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome<()> {
    let account = NewAccount {
        contact: &["mailto:admin@example.org"],
        terms_of_service_agreed: true,
        only_return_existing: false,
    };
    let builder = Account::builder_with_root(env::var("ROOT")?)?;
    let (mut account, _) = builder.create(&account, env::var("DIRECTORY")?, None).await?;
    let name = env::var("NAME")?;
    let names = [Identifier::Dns(name.clone()), Identifier::Dns(format!("www.{name}"))];

    let first = obtain(&account, &NewOrder::new(&names), None).await?;
    fs::write("revoked.pem", &first)?;

    // When it is to be renewed, and the order says which certificate it replaces.
    let leaf = CertificateDer::from_pem_slice(first.as_bytes())?;
    let identifier = CertificateIdentifier::try_from(&leaf)?;
    let (info, _) = account.renewal_info(&identifier).await?;
    println!("renewed from {} on", info.suggested_window.start);
    let renewed = obtain(&account, &NewOrder::new(&names).replaces(identifier), None).await?;
    fs::write("valid.pem", renewed)?;
    let revocation = RevocationRequest {
        certificate: &leaf,
        reason: Some(RevocationReason::Superseded),
    };
    account.revoke(&revocation).await?;

    let _credentials = account.update_key().await?;
    let request = CertificateSigningRequestDer::from_pem_file("request.pem")?;
    fs::write("pq.pem", obtain(&account, &NewOrder::new(&names).profile("server"), Some(&request)).await?)?;

    let refused = [Identifier::Dns("refused.example.com".into())];
    match obtain(&account, &NewOrder::new(&refused), None).await {
        Ok(_) => return Err("a name that the policy refuses was not refused".into()),
        Err(error) => fs::write("refused", error.to_string())?,
    }
    account.deactivate().await?;
    Ok(())
}
