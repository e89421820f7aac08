//! HKDF of the cipher suites of TLS 1.3, over each base.

use rustls::Tls13CipherSuite;
use rustls::crypto::tls13::{HkdfExpander, OkmBlock};
use sha2::{Sha256, Sha384};

use crate::bases::Base;
use crate::derived::Hkdf;
use crate::operation::{Operation, fresh};
use crate::operation_name;
use crate::sought::Sought;

pub(crate) fn operations() -> Vec<Operation> {
    let of_base = |base: Base| {
        let suites = base.provider().cipher_suites.into_iter();
        let suites = suites.filter_map(|suite| suite.tls13());
        let of_suite = move |suite: &'static Tls13CipherSuite| {
            let name = format!("{:?}", suite.common.suite);
            match suite.common.hash_provider.output_len() {
                32 => of::<Sha256>(base, name, suite),
                _ => of::<Sha384>(base, name, suite),
            }
        };
        suites.flat_map(of_suite)
    };
    Base::all().flat_map(of_base).collect()
}

fn of<H: Hkdf>(base: Base, suite_name: String, suite: &'static Tls13CipherSuite) -> [Operation; 6] {
    let name = |operation| operation_name(base.name, &format!("{suite_name} {operation}"));
    let hkdf = suite.hkdf_provider;
    let extracted = |secret: &[u8; 64]| H::hmac(SALT, &[secret]);
    let prk = move |secret: &[u8; 64]| {
        let sought = Sought::default().secret("the secret", secret);
        sought.and(H::key("the extracted key", &extracted(secret)))
    };
    let expand = move |secret: &[u8; 64], info: &[u8], len: usize| {
        let (prk, mut output, mut block) = (extracted(secret), Vec::new(), Vec::new());
        for counter in 1.. {
            block = H::hmac(&prk, &[&block, info, &[counter]]);
            output.extend_from_slice(&block);
            if output.len() >= len {
                break;
            }
        }
        output
    };
    let expander = move || {
        let secret = fresh::<64>();
        let expander = hkdf.extract_from_secret(Some(SALT), &secret[..]);
        (secret, expander)
    };
    let block = move || {
        let (secret, expander) = expander();
        let block = Box::new(expander.expand_block(&[INFO]));
        let bytes = OkmBlock::as_ref(&block).to_vec();
        assert_eq!(bytes, expand(&secret, INFO, 1));
        (block, bytes)
    };
    [
        Operation::new(
            name("extract_from_secret"),
            fresh::<64>,
            move |secret| hkdf.extract_from_secret(Some(SALT), &secret[..]),
            move |secret, _| prk(secret),
        ),
        Operation::new(
            name("expand_slice"),
            expander,
            |(_, expander): &(Box<[u8; 64]>, Box<dyn HkdfExpander>)| {
                let mut output = vec![0; LEN];
                expander
                    .expand_slice(&[INFO], &mut output)
                    .expect("not too long");
                output
            },
            move |(secret, _), output| {
                let expanded = expand(secret, INFO, LEN);
                assert_eq!(expanded[..LEN], output[..]);
                prk(secret).secret("the output", &expanded)
            },
        ),
        Operation::new(
            name("expand_block, dropped"),
            expander,
            |(_, expander)| drop(expander.expand_block(&[INFO])),
            move |(secret, _), ()| prk(secret).secret("the output", &expand(secret, INFO, 1)),
        ),
        Operation::new(
            name("expander_for_okm"),
            block,
            move |(block, _): &(Box<OkmBlock>, Vec<u8>)| hkdf.expander_for_okm(block),
            |(_, bytes), _| H::key("the key", bytes),
        ),
        Operation::new(
            name("hmac_sign"),
            block,
            move |(block, _)| drop(hkdf.hmac_sign(block, b"a message")),
            |(_, bytes), ()| H::key("the key", bytes),
        ),
        Operation::new(
            name("expander, dropped"),
            move || {
                let (secret, expander) = expander();
                (secret, std::sync::Mutex::new(Some(expander)))
            },
            |(_, expander)| drop(expander.lock().expect("one thread").take()),
            move |(secret, _), ()| prk(secret),
        ),
    ]
}

const SALT: &[u8] = b"salt";
const INFO: &[u8] = b"info";

/// Bytes of output, of several blocks.
const LEN: usize = 100;
