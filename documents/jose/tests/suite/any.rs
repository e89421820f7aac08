//! Keys of several algorithms as JSON Web Keys, and their signatures.

use pq_jose::any::{AnyJwk, AnyJwsAlgorithm, AnyJwsError, Flattened, sign, write_flattened};
use pq_keys::Signer;
use pq_keys::classical::{ClassicalAlgorithm, ClassicalKey};
use pq_keys::{SignatureAlgorithm, SigningKey};

/// The key and the signature of RFC 7515, appendix A.3 (ES256), whose header and content are in base64url.
#[test]
fn the_example_of_es256() {
    let key = r#"{"kty":"EC","crv":"P-256",
        "x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
        "y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}"#;
    let text = r#"{
        "protected":"eyJhbGciOiJFUzI1NiJ9",
        "payload":"eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ",
        "signature":"DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"}"#;
    let key = AnyJwk::from_json(key.as_bytes()).unwrap();
    let read = Flattened::from_json(text.as_bytes(), 10_000).unwrap();
    assert_eq!(read.header(), br#"{"alg":"ES256"}"#);
    read.verify(&key).unwrap();
    let changed = text.replace("DtEh", "DtEi");
    let changed = Flattened::from_json(changed.as_bytes(), 10_000).unwrap();
    assert!(matches!(changed.verify(&key), Err(AnyJwsError::Invalid)));
}

/// The key and the signature of RFC 8037, appendix A.4, and the key's thumbprint there (A.3).
#[test]
fn the_example_of_ed25519() {
    let key = r#"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#;
    let key = AnyJwk::from_json(key.as_bytes()).unwrap();
    assert_eq!(
        key.thumbprint().to_string(),
        "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"
    );
    let text = r#"{"protected":"eyJhbGciOiJFZERTQSJ9","payload":"RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc",
        "signature":"hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg"}"#;
    let read = Flattened::from_json(text.as_bytes(), 10_000).unwrap();
    read.verify(&key).unwrap();
    assert_eq!(read.payload().unwrap(), b"Example of Ed25519 signing");
}

/// The thumbprint of RFC 7638, section 3.1.
#[test]
fn the_example_of_rsa() {
    let key = r#"{"kty":"RSA","n":"0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw","e":"AQAB","alg":"RS256","kid":"2011-04-29"}"#;
    let key = AnyJwk::from_json(key.as_bytes()).unwrap();
    assert_eq!(key.algorithm(), AnyJwsAlgorithm::Rs256);
    assert_eq!(
        key.thumbprint().to_string(),
        "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs"
    );
}

#[test]
fn keys_that_are_weak_private_or_malformed_are_refused() {
    let key = ClassicalKey::generate(ClassicalAlgorithm::EcdsaP256).unwrap();
    let good = AnyJwk::of(&key).unwrap().to_json();
    let rsa = ClassicalKey::generate(ClassicalAlgorithm::Rsa2048).unwrap();
    let rsa = AnyJwk::of(&rsa).unwrap().to_json();
    let ml_dsa = SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
    let ml_dsa = AnyJwk::of(&ml_dsa).unwrap().to_json();
    let with = |key: &str, member: &str| key.replacen('{', &format!("{{{member},"), 1);
    for good in [&good, &rsa, &ml_dsa] {
        assert!(AnyJwk::from_json(with(good, r#""kid":1,"use":"x""#).as_bytes()).is_ok());
    }
    for bad in [
        with(&good, r#""d":"AA""#),
        with(&good, r#""priv":"AA""#),
        with(&good, r#""alg":"ES384""#),
        with(&good, r#""x":"AA""#),
        good.replace("P-256", "P-384"),
        good.replace("P-256", "P-521"),
        good.replace("\"y\"", "\"z\""),
        good.replace("\"EC\"", "\"OKP\""),
        // a point that is not on the curve
        good.replace(&good[good.len() - 20..good.len() - 2], "AAAAAAAAAAAAAAAAAA"),
        rsa.replace("AQAB", "AQ"),
        rsa.replace("AQAB", "AAEAAQ"),
        rsa.replace("AQAB", ""),
        ml_dsa.replace("ML-DSA-44", "ML-DSA-65"),
        ml_dsa.replace("AKP", "RSA"),
        r#"{"kty":"oct","k":"AA"}"#.into(),
        r#"{"kty":"OKP","crv":"Ed25519","x":"AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}"#.into(),
        "[]".into(),
        "{}".into(),
    ] {
        assert!(AnyJwk::from_json(bad.as_bytes()).is_err(), "{bad}");
    }
}

#[test]
fn ecdsa_signatures_have_two_numbers_of_one_length() {
    for (algorithm, len) in [
        (ClassicalAlgorithm::EcdsaP256, 64),
        (ClassicalAlgorithm::EcdsaP384, 96),
    ] {
        let key = ClassicalKey::generate(algorithm).unwrap();
        let public = AnyJwk::of(&key).unwrap();
        for number in 0..300_u32 {
            let message = number.to_be_bytes();
            let signature = sign(&message, &key).unwrap();
            assert_eq!(signature.len(), len);
            public.verify(&message, &signature).unwrap();
        }
        let der = Signer::sign(&key, b"message").unwrap();
        assert!(public.verify(b"message", &der).is_err());
        assert!(public.verify(b"message", &vec![0; len]).is_err());
    }
}

#[test]
fn a_key_without_a_name_in_jose_does_not_sign() {
    let key = SigningKey::generate(SignatureAlgorithm::SlhDsaSha2_128f).unwrap();
    assert!(AnyJwk::of(&key).is_err());
    let error = write_flattened(b"{}", b"", &key).unwrap_err();
    assert!(matches!(error, AnyJwsError::Algorithm(_)), "{error}");
}
