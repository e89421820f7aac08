//! The CA's certificates, and what there is over plain HTTP alone.

use pq_x509::certificate::Certificate;

use crate::asking::ask;
use crate::made::Served;

#[tokio::test]
async fn in_der_and_in_pem() {
    let served = Served::start().await;
    let own = served.ca.issuer().certificate();
    for name in ["root", "issuing"] {
        let der = served.get(&format!("/certificates/{name}.crt"), "").await;
        assert_eq!(der.status(), 200);
        der.has("content-type", "application/pkix-cert");
        assert_eq!(der.body, own.der().as_ref());
        let pem = served.get(&format!("/certificates/{name}.pem"), "").await;
        pem.has("content-type", "application/pem-certificate-chain");
        assert_eq!(&Certificate::from_pem(pem.text()).unwrap(), own);
    }
    let der = served.get("/certificates/issuing.crt", "").await;
    der.has(
        "cache-control",
        "max-age=86400, public, no-transform, must-revalidate",
    );
    let modified = der.field("last-modified").unwrap();
    for (status, field) in [
        (
            304,
            format!("If-None-Match: {}", der.field("etag").unwrap()),
        ),
        (304, format!("If-Modified-Since: {modified}")),
        (
            200,
            "If-Modified-Since: Thu, 01 Jan 1970 00:00:00 GMT".into(),
        ),
        (200, "If-None-Match: \"a\"".into()),
    ] {
        let again = served
            .get("/certificates/issuing.crt", &format!("{field}\r\n"))
            .await;
        assert_eq!(again.status(), status, "{field}");
    }
    for path in [
        "/certificates/chain.pem",
        "/certificates/",
        "/certificates/../ledger/journal",
        "/certificates/issuing",
        "/certificates/issuing.key",
        "/",
        "/health",
        "/lists/other.crl",
    ] {
        let answer = served.get(path, "").await;
        assert_eq!(answer.status(), 404, "{path}");
        answer.has("cache-control", "no-store");
    }
    let put = ask(served.address(), "PUT /certificates/root.crt", "", b"a").await;
    assert_eq!(put.status(), 405);
    put.has("allow", "GET, HEAD");
}
