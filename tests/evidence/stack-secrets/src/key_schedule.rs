//! HKDF of the cipher suites of TLS 1.3, over each base.

use rustls::Tls13CipherSuite;
use rustls::crypto::tls13::{HkdfExpander, OkmBlock};
use sha2::{Digest, Sha256, Sha384};

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

fn of<H: Hkdf>(base: Base, suite_name: String, suite: &'static Tls13CipherSuite) -> [Operation; 7] {
    let name = |operation| operation_name(base.name, &format!("{suite_name} {operation}"));
    let hkdf = suite.hkdf_provider;
    let extracted = |salt: &[u8; 32], secret: &[u8]| {
        let sought = Sought::default().and(H::key("the salt", salt));
        sought.and(H::key("the extracted key", &H::hmac(salt, &[secret])))
    };
    let prk = move |Inputs { salt, secret }: &Inputs| {
        extracted(salt, &secret[..]).secret("the secret", &secret[..])
    };
    let expand = move |Inputs { salt, secret }: &Inputs, info: &[u8], len: usize| {
        let prk = H::hmac(&salt[..], &[&secret[..]]);
        let (mut output, mut block) = (Vec::new(), Vec::new());
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
        let inputs = Inputs::fresh();
        let expander = hkdf.extract_from_secret(Some(&inputs.salt[..]), &inputs.secret[..]);
        (inputs, expander)
    };
    let block = move || {
        let (inputs, expander) = expander();
        let block = Box::new(expander.expand_block(&[INFO]));
        let bytes = OkmBlock::as_ref(&block).to_vec();
        assert_eq!(bytes, expand(&inputs, INFO, 1));
        (block, bytes)
    };
    [
        Operation::new(
            name("extract_from_secret"),
            Inputs::fresh,
            move |Inputs { salt, secret }| hkdf.extract_from_secret(Some(&salt[..]), &secret[..]),
            move |inputs, _| prk(inputs),
        ),
        Operation::new(
            name("extract_from_zero_ikm"),
            fresh::<32>,
            move |salt| hkdf.extract_from_zero_ikm(Some(&salt[..])),
            move |salt, _| extracted(salt, &[0; 64][..<H as Digest>::output_size()]),
        ),
        Operation::new(
            name("expand_slice"),
            expander,
            |(_, expander): &(Inputs, Box<dyn HkdfExpander>)| {
                let mut output = vec![0; LEN];
                expander
                    .expand_slice(&[INFO], &mut output)
                    .expect("not too long");
                output
            },
            move |(inputs, _), output| {
                let expanded = expand(inputs, INFO, LEN);
                assert_eq!(expanded[..LEN], output[..]);
                prk(inputs).secret("the output", &expanded)
            },
        ),
        Operation::new(
            name("expand_block, dropped"),
            expander,
            |(_, expander)| drop(expander.expand_block(&[INFO])),
            move |(inputs, _), ()| prk(inputs).secret("the output", &expand(inputs, INFO, 1)),
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
            |(_, bytes), ()| {
                let tag = H::hmac(bytes, &[b"a message"]);
                H::key("the key", bytes).secret("the tag", &tag)
            },
        ),
        Operation::new(
            name("expander, dropped"),
            move || {
                let (inputs, expander) = expander();
                (inputs, std::sync::Mutex::new(Some(expander)))
            },
            |(_, expander)| drop(expander.lock().expect("one thread").take()),
            move |(inputs, _), ()| prk(inputs),
        ),
    ]
}

/// The inputs of an extraction. In TLS the salt is a secret, too: it is derived from the secret before it.
struct Inputs {
    salt: Box<[u8; 32]>,
    secret: Box<[u8; 64]>,
}

impl Inputs {
    fn fresh() -> Self {
        Self {
            salt: fresh(),
            secret: fresh(),
        }
    }
}

const INFO: &[u8] = b"info";

/// The length of the output in bytes: several blocks.
const LEN: usize = 100;
