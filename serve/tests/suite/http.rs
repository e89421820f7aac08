//! What the server answers over HTTP: the page as text and as JSON, other paths and methods, and `/bytes`.

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use pq_serving::Limits;

use crate::harness::{Harness, Options};

#[tokio::test]
async fn page_as_text() {
    let server = Harness::start().await;
    for accept in [
        "",
        "\r\nAccept: */*",
        "\r\nAccept: text/*, application/json;q=0.9",
    ] {
        let answer = server
            .client()
            .ask(&format!("GET / HTTP/1.1{accept}"))
            .await
            .unwrap();
        assert_eq!(answer.status(), "200");
        assert_eq!(
            answer.header("content-type"),
            Some("text/plain; charset=utf-8")
        );
        assert_eq!(answer.header("vary"), Some("accept"));
        let expected = "protocol              TLS 1.3\n\
                        handshake             full\n\
                        key exchange group    X25519MLKEM768\n\
                        signature scheme      ML-DSA-65\n";
        assert!(answer.body.starts_with(expected), "{}", answer.body);
        assert!(answer.body.ends_with(
            "server name           localhost\n\
             client certificate    none\n"
        ));
    }
}

#[tokio::test]
async fn page_as_json() {
    let server = Harness::start().await;
    let answer = server
        .client()
        .ask("GET /?query=too HTTP/1.1\r\nAccept: application/json")
        .await
        .unwrap();
    assert_eq!(answer.status(), "200");
    assert_eq!(answer.header("content-type"), Some("application/json"));
    let page: serde_json::Value = serde_json::from_str(&answer.body).unwrap();
    let suite = page["cipher_suite"].clone();
    assert!(suite.as_str().unwrap().starts_with("TLS_"), "{suite}");
    assert_eq!(
        page,
        serde_json::json!({
            "protocol": "TLS 1.3",
            "handshake": "full",
            "group": "X25519MLKEM768",
            "signature_scheme": "ML-DSA-65",
            "cipher_suite": suite,
            "alpn": null,
            "server_name": "localhost",
            "client_certificate": null,
        })
    );
}

#[tokio::test]
async fn head_is_get_without_the_body() {
    let server = Harness::start().await;
    let client = server.client().without_resumption();
    let get = client.ask("GET / HTTP/1.1").await.unwrap();
    let head = client.ask("HEAD / HTTP/1.1").await.unwrap();
    assert_eq!(head.status(), "200");
    assert_eq!(head.body, "");
    for name in ["content-type", "content-length", "vary"] {
        assert!(get.header(name).is_some());
        assert_eq!(head.header(name), get.header(name));
    }
}

#[tokio::test]
async fn other_paths_are_not_found() {
    let server = Harness::start().await;
    for head in [
        "GET /missing HTTP/1.1",
        "POST //?/ HTTP/1.1",
        "OPTIONS * HTTP/1.1",
        "GET /bytes/1 HTTP/1.1",
        "POST /bytes HTTP/1.1\r\nContent-Length: 1",
        "GET /bytesandmore HTTP/1.1",
    ] {
        let answer = server.client().ask(head).await.unwrap();
        assert_eq!(answer.status(), "404", "{head}");
    }
}

#[tokio::test]
async fn zeros_are_for_servers_that_allow_them() {
    let server = Harness::with(with_bytes()).await;
    let answer = server.client().ask("GET /bytes/100000 HTTP/1.1").await;
    let answer = answer.unwrap();
    assert_eq!(answer.status(), "200");
    assert_eq!(answer.header("content-length"), Some("100000"));
    assert_eq!(answer.body, "\0".repeat(100_000));
    for path in ["0", "100001", "", "x"] {
        let head = format!("GET /bytes/{path} HTTP/1.1");
        let answer = server.client().ask(&head).await.unwrap();
        assert_eq!(answer.status(), "404", "{path}");
    }
}

#[tokio::test]
async fn bytes_are_counted_by_servers_that_allow_it() {
    let server = Harness::with(with_bytes()).await;
    for length in [0, 1, 100_000] {
        let head = format!("POST /bytes HTTP/1.1\r\nContent-Length: {length}");
        let body = vec![b'x'; length];
        let answer = server.client().ask_with_body(&head, &body).await.unwrap();
        assert_eq!(answer.status(), "200");
        assert_eq!(answer.body, format!("{length}\n"));
    }
}

#[tokio::test]
async fn bytes_that_are_not_announced_or_too_many_are_refused() {
    let server = Harness::with(with_bytes()).await;
    for (header, status) in [
        ("Content-Length: 100001", "413"),
        ("Content-Length: 9223372036854775807", "413"),
        ("Content-Length: many", "400"),
        ("Content-Length: 1\r\nContent-Length: 2", "400"),
        ("Transfer-Encoding: chunked", "411"),
        ("Accept: */*", "411"),
    ] {
        let head = format!("POST /bytes HTTP/1.1\r\n{header}");
        let answer = server.client().ask(&head).await.unwrap();
        assert_eq!(answer.status(), status, "{header}");
    }
}

#[tokio::test]
async fn a_client_is_told_to_go_on_only_with_what_is_counted() {
    let server = Harness::with(with_bytes()).await;
    for (length, status) in [(1, "HTTP/1.1 100"), (100_001, "HTTP/1.1 413")] {
        let mut tls = server.client().connect().await.unwrap();
        let head = format!(
            "POST /bytes HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n\
             Content-Length: {length}\r\n\r\n"
        );
        tls.write_all(head.as_bytes()).await.unwrap();
        let mut answer = vec![0; status.len()];
        tls.read_exact(&mut answer).await.unwrap();
        assert_eq!(String::from_utf8(answer).unwrap(), status);
    }
}

#[tokio::test]
async fn other_methods_are_not_allowed() {
    let server = Harness::with(with_bytes()).await;
    for (path, methods, allowed) in [
        (
            "/",
            &["POST", "PUT", "DELETE", "OPTIONS", "BREW"][..],
            "get, head",
        ),
        ("/bytes/1", &["POST", "PUT"], "get, head"),
        ("/bytes", &["GET", "HEAD", "PUT"], "post"),
    ] {
        for method in methods {
            let answer = server
                .client()
                .ask(&format!("{method} {path} HTTP/1.1\r\nContent-Length: 0"))
                .await
                .unwrap();
            assert_eq!(answer.status(), "405", "{method} {path}");
            assert_eq!(answer.header("allow"), Some(allowed), "{method} {path}");
        }
    }
}

#[tokio::test]
async fn one_connection_carries_many_requests() {
    let server = Harness::start().await;
    let mut tls = server.client().connect().await.unwrap();
    for _ in 0..3 {
        tls.write_all(b"HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            .await
            .unwrap();
        let mut answer = Vec::new();
        while !answer.ends_with(b"\r\n\r\n") {
            answer.push(tls.read_u8().await.unwrap());
        }
        assert!(answer.starts_with(b"HTTP/1.1 200 OK\r\n"));
    }
}

/// A server that sends and counts bytes.
fn with_bytes() -> Options {
    Options {
        limits: Limits {
            bytes: 100_000,
            ..Limits::default()
        },
        ..Options::default()
    }
}

/// Whoever goes by the host must not be told another one than whoever stands in front (RFC 9112, section 3.2).
#[tokio::test]
async fn a_request_is_for_one_host() {
    let server = Harness::start().await;
    for (head, status) in [
        ("GET / HTTP/1.1", "400"),
        (
            "GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost",
            "400",
        ),
        ("GET / HTTP/1.1\r\nHost: a\r\nhost: b", "400"),
        ("GET / HTTP/1.1\r\nHost:", "400"),
        ("GET / HTTP/1.1\r\nHost: a b", "400"),
        ("GET / HTTP/1.1\r\nHost: a/b", "400"),
        ("GET / HTTP/1.1\r\nHost: user@localhost", "400"),
        (
            "GET https://user@localhost/ HTTP/1.1\r\nHost: localhost",
            "400",
        ),
        ("GET / HTTP/1.0\r\nHost: a\r\nHost: b", "400"),
        ("GET / HTTP/1.0", "200"),
        ("GET / HTTP/1.1\r\nHost: localhost:8443", "200"),
        ("GET / HTTP/1.1\r\nHost: [::1]:8443", "200"),
        ("GET https://localhost/ HTTP/1.1\r\nHost: other", "200"),
    ] {
        let mut tls = server.client().connect().await.unwrap();
        let request = format!("{head}\r\nConnection: close\r\n\r\n");
        tls.write_all(request.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        tls.read_to_end(&mut answer).await.unwrap();
        let answer = String::from_utf8(answer).unwrap();
        let found = answer.split(' ').nth(1);
        assert_eq!(found, Some(status), "{head:?}: {answer}");
    }
}
