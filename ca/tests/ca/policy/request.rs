//! Certificate requests (PKCS #10) from the check by the policy to the issued certificate.

use pq_ca::policy::{Policy, Profile, Wanted};
use pq_x509::request::CertificateRequest;

use crate::policy::{CA, check, new_key, policy};

#[test]
fn a_request_is_issued_with_what_was_checked() {
    let text = Policy::default_text(
        &[".example.org".parse().unwrap()],
        &["10.0.0.0/8".parse().unwrap()],
        &[],
    );
    let policy = policy(&text);
    let key = new_key();
    let request = CertificateRequest::builder()
        .dns_name("www.example.org")
        .ip_address("10.0.0.1".parse().unwrap())
        .common_name("www.example.org")
        .sign(&key)
        .unwrap()
        .verify()
        .unwrap();
    let wanted = Wanted::of_request(&request).unwrap();
    let permitted = check(&policy, &wanted).unwrap();
    assert_eq!(permitted.profile(), Profile::Server);
    let certificate = CA.issue(permitted.certificate(), &request).unwrap();
    assert_eq!(certificate.dns_names(), request.dns_names());
    assert_eq!(certificate.ip_addresses(), request.ip_addresses());
    assert_eq!(certificate.subject(), request.subject());
}

#[test]
fn a_request_with_a_name_in_its_subject_alone_is_forbidden() {
    let policy = policy(&Policy::default_text(&[".".parse().unwrap()], &[], &[]));
    let request = CertificateRequest::builder()
        .common_name("www.example.org")
        .sign(&new_key())
        .unwrap()
        .verify()
        .unwrap();
    for profile in [Profile::Server, Profile::Client] {
        let wanted = Wanted::of_request(&request).unwrap().profile(profile);
        let forbidden = check(&policy, &wanted).unwrap_err();
        let refusal = &forbidden.refusals()[0];
        assert_eq!(refusal.key(), Some("subject.common-name"));
        assert_eq!(refusal.line_text(), Some("common-name = [\"*\"]"));
        assert_eq!(refusal.file_name(), "policy.toml");
    }
}
