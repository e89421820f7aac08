//! What Vault does where a client could notice it: forms of values that it takes, and what it says of keys.

use serde_json::{Value, json};

use crate::kit::House;

/// Go's base64 skips line breaks, which `base64 FILE` makes.
#[test]
fn base64_may_have_line_breaks() {
    let house = House::new();
    house.create("a", "mldsa-44");
    house.create("kem", "mlkem-768");
    let valid = |body: Value| {
        let verified = house.post("verify/a", &body.to_string()).expect(200);
        assert_eq!(verified["data"]["valid"], true, "{body}");
    };
    let context = "Yy4=";
    let sign = json!({"input": "\r\naGVs\r\nbG8=\r\n", "signature_context": "Yy\n4=\n"});
    let signed = house.post("sign/a", &sign.to_string()).expect(200);
    let signature = signed["data"]["signature"].as_str().unwrap();
    valid(json!({"input": "aGVsbG8=", "signature_context": context, "signature": signature}));
    let (prefix, base64) = signature.split_at("vault:v1:".len());
    let lines: Vec<_> = base64.as_bytes().chunks(76).collect();
    let broken = format!("{prefix}{}\n", String::from_utf8(lines.join(&b'\n')).unwrap());
    valid(json!({"input": "aGVsbG8=\n", "signature_context": context, "signature": broken}));

    let body = json!({"plaintext": "aGVsbG8\n=", "associated_data": "YWQ=\n"});
    let made = house.post("encrypt/kem", &body.to_string()).expect(200);
    let ciphertext = made["data"]["ciphertext"].as_str().unwrap();
    let (begin, end) = ciphertext.split_at(100);
    let body = json!({"ciphertext": format!("{begin}\r\n{end}\n"), "associated_data": "YWQ="});
    let opened = house.post("decrypt/kem", &body.to_string()).expect(200);
    assert_eq!(opened["data"]["plaintext"], "aGVsbG8=");

    // Nothing else is skipped, and nothing outside of base64.
    for input in ["aGVs bG8=", "aGVs\tbG8=", "aGVsbG8\n", " aGVsbG8="] {
        let body = json!({"input": input}).to_string();
        house.post("sign/a", &body).error(400);
    }
    for signature in [
        format!("\n{signature}"),
        signature.replacen(':', ":\n", 1),
        signature.replacen("v1", "v1\n", 1),
    ] {
        let body = json!({"input": "aGVsbG8=", "signature": signature}).to_string();
        house.post("verify/a", &body).error(400);
    }
}
