//! A client that hides the name which it asks for (Encrypted ClientHello), and tries once more if the server has a newer
//! configuration. Without a configuration it pretends to have one (GREASE).
//!
//! ```sh
//! dig +short HTTPS www.example.org    # the value of ech=, if there is one
//! encrypted-client-hello 192.0.2.1:443 www.example.org roots.pem AEX+DQ…
//! ```
#![forbid(unsafe_code)]

extern crate alloc;

use alloc::sync::Arc;
use core::error::Error;
use std::net::TcpStream;
use std::{env, fs};

use base64ct::{Base64, Encoding};
use rustls::client::{EchConfig, EchGreaseConfig, EchMode, EchStatus};
use rustls::pki_types::EchConfigListBytes;
use rustls::{ClientConfig, ClientConnection, RootCertStore};
use rustls_pq::hpke::EchRejection;
use rustls_pq::pq_x509::certificate::Certificate;
use rustls_pq::{Builder, Negotiated, hpke};

pub(crate) type Connected = (EchStatus, Negotiated);

pub(crate) fn connect(
    address: &str,
    name: &str,
    roots: &RootCertStore,
    list: Option<EchConfigListBytes<'_>>,
) -> Result<Connected, Box<dyn Error>> {
    let mode = match list {
        Some(list) => EchMode::Enable(EchConfig::new(list, hpke::ALL_SUPPORTED_SUITES)?),
        None => {
            let suite = hpke::DH_KEM_X25519_HKDF_SHA256_AES_128;
            let (placeholder, _) = suite.generate_key_pair()?;
            EchMode::Grease(EchGreaseConfig::new(suite, placeholder))
        }
    };
    let provider = Builder::with_default_base()?.roots(roots).build()?;
    let config = ClientConfig::builder_with_provider(provider.into())
        .with_ech(mode)?
        .with_root_certificates(roots.clone())
        .with_no_client_auth();
    let mut tls = ClientConnection::new(Arc::new(config), name.to_owned().try_into()?)?;
    tls.complete_io(&mut TcpStream::connect(address)?)?;
    Ok((
        tls.ech_status(),
        Negotiated::of(&tls).ok_or("no handshake")?,
    ))
}

/// Connects by the list, and if the server rejects it by the one that it sends, or else without.
pub(crate) fn connect_again(
    address: &str,
    name: &str,
    roots: &RootCertStore,
    list: EchConfigListBytes<'_>,
) -> Result<Connected, Box<dyn Error>> {
    connect(address, name, roots, Some(list)).or_else(|error| {
        let rejection = EchRejection::of(&*error).ok_or(error)?;
        // Without a newer list the name can't be hidden: where it has to be, give up here.
        connect(address, name, roots, rejection.retry_configs)
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = env::args().skip(1).collect();
    let (address, name, file, list) = match &arguments[..] {
        [address, name, file] => (address, name, file, None),
        [address, name, file, list] => (address, name, file, Some(Base64::decode_vec(list)?)),
        _ => return Err("arguments: ADDRESS:PORT NAME ROOTS [ECHCONFIGLIST]".into()),
    };
    let mut roots = RootCertStore::empty();
    for root in Certificate::chain_from_pem(&fs::read(file)?)? {
        roots.add(root.into_der())?;
    }
    let (status, negotiated) = match list {
        Some(list) => connect_again(address, name, &roots, list.into())?,
        None => connect(address, name, &roots, None)?,
    };
    println!("{status:?}: {negotiated}");
    Ok(())
}
