//! vaultrs, unchanged. It knows only Transit's classical types of keys, and says by them what a client in Rust sends.

use std::env;
use std::error::Error;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use vaultrs::api::transit::{HashAlgorithm, KeyType};
use vaultrs::api::transit::requests::{
    CreateKeyRequest, ExportKeyType, ExportVersion, SignDataRequest,
    UpdateKeyConfigurationRequest, VerifySignedDataRequest,
};
use vaultrs::api::transit::responses::ReadKeyData;
use vaultrs::client::{VaultClient, VaultClientSettingsBuilder};
use vaultrs::error::ClientError;
use vaultrs::transit::{data, key};
use vaultrs::token;

const MOUNT: &str = "transit";

fn client(token: &str) -> Result<VaultClient, Box<dyn Error>> {
    let settings = VaultClientSettingsBuilder::default()
        .address(env::var("VAULT_ADDR")?)
        .token(token)
        .ca_certs(vec![env::var("VAULT_CACERT")?])
        .build()?;
    Ok(VaultClient::new(settings)?)
}

/// The status and the errors of a refusal.
fn refusal<T>(answer: Result<T, ClientError>) -> (u16, Vec<String>) {
    match answer {
        Err(ClientError::APIError { code, errors }) => (code, errors),
        Err(error) => panic!("no refusal of the server's: {error:?}"),
        Ok(_) => panic!("it was not refused"),
    }
}

/// How a key signs: Vault's default is SHA-256, and what is not that has to be named.
fn hash_of(name: &str) -> HashAlgorithm {
    match name.ends_with("p384") {
        true => HashAlgorithm::Sha2_384,
        false => HashAlgorithm::Sha2_256,
    }
}

async fn sign(
    client: &VaultClient,
    name: &str,
    input: &str,
    version: Option<u64>,
) -> Result<String, ClientError> {
    let mut options = SignDataRequest::builder();
    options.hash_algorithm(hash_of(name));
    if let Some(version) = version {
        options.key_version(version);
    }
    Ok(data::sign(client, MOUNT, name, input, Some(&mut options)).await?.signature)
}

async fn verifies(
    client: &VaultClient,
    name: &str,
    input: &str,
    signature: &str,
) -> Result<bool, ClientError> {
    let mut options = VerifySignedDataRequest::builder();
    let options = options.signature(signature.to_owned()).hash_algorithm(hash_of(name));
    Ok(data::verify(client, MOUNT, name, input, Some(options)).await?.valid)
}

async fn lifecycle(client: &VaultClient, name: &str, kind: KeyType) -> Result<(), Box<dyn Error>> {
    let message = BASE64_STANDARD.encode("message");
    let mut options = CreateKeyRequest::builder();
    let options = options.key_type(kind).exportable(true);
    key::create(client, MOUNT, name, Some(options)).await?;
    assert!(key::list(client, MOUNT).await?.keys.iter().any(|key| key == name));

    let first = sign(client, name, &message, None).await?;
    key::rotate(client, MOUNT, name).await?;
    let second = sign(client, name, &message, None).await?;
    assert!(first.starts_with("vault:v1:") && second.starts_with("vault:v2:"));
    for signature in [&first, &second] {
        assert!(verifies(client, name, &message, signature).await?);
        assert!(!verifies(client, name, "AAAA", signature).await?);
    }
    let by_first = sign(client, name, &message, Some(1)).await?;
    assert!(by_first.starts_with("vault:v1:"));

    let exported = key::export(client, MOUNT, name, ExportKeyType::SigningKey, ExportVersion::All);
    assert_eq!(exported.await?.keys.len(), 2);
    let exported = key::export(client, MOUNT, name, ExportKeyType::SigningKey, ExportVersion::Version(2));
    assert!(exported.await?.keys["2"].contains("PRIVATE KEY"));

    let mut options = UpdateKeyConfigurationRequest::builder();
    let options = options.min_decryption_version(2_u64).min_encryption_version(2_u64);
    key::update(client, MOUNT, name, Some(options)).await?;
    assert_eq!(refusal(verifies(client, name, &message, &first).await).0, 400);
    key::trim(client, MOUNT, name, 2).await?;
    let read = key::read(client, MOUNT, name).await?;
    let ReadKeyData::Asymmetric(versions) = read.keys else {
        panic!("the key has no public keys");
    };
    assert_eq!(versions.keys().collect::<Vec<_>>(), ["2"]);
    assert!(verifies(client, name, &message, &second).await?);

    assert_eq!(refusal(key::delete(client, MOUNT, name).await).0, 400);
    let mut options = UpdateKeyConfigurationRequest::builder();
    key::update(client, MOUNT, name, Some(options.deletion_allowed(true))).await?;
    key::delete(client, MOUNT, name).await?;
    assert_eq!(refusal(key::read(client, MOUNT, name).await), (404, vec![]));
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    // A provider that needs no C compiler.
    let provider = rustls_graviola::default_provider();
    provider.install_default().map_err(|_| "there is a provider already")?;
    let known = client(&env::var("VAULT_TOKEN")?)?;
    assert_eq!(token::lookup_self(&known).await?.display_name, "client");
    lifecycle(&known, "vaultrs-ed25519", KeyType::Ed25519).await?;
    lifecycle(&known, "vaultrs-ecdsa-p256", KeyType::EcdsaP256).await?;
    lifecycle(&known, "vaultrs-ecdsa-p384", KeyType::EcdsaP384).await?;

    let (status, errors) = refusal(key::create(&known, MOUNT, "vaultrs-none", None).await);
    assert_eq!((status, errors.len()), (400, 1));
    let stranger = client(&env::var("STRANGER")?)?;
    for name in ["vaultrs-ed25519", "vaultrs-missing"] {
        let refused = refusal(key::read(&stranger, MOUNT, name).await);
        assert_eq!(refused, (403, vec!["permission denied".into()]));
    }
    Ok(())
}
