use tokio::io::{AsyncReadExt, AsyncWriteExt};

use tls_server::Limits;

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
    ] {
        let answer = server.client().ask(head).await.unwrap();
        assert_eq!(answer.status(), "404", "{head}");
    }
}

#[tokio::test]
async fn zeros_are_for_servers_that_allow_them() {
    let server = Harness::with(Options {
        limits: Limits {
            download: 100_000,
            ..Limits::default()
        },
        ..Options::default()
    })
    .await;
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
async fn other_methods_are_not_allowed() {
    let server = Harness::start().await;
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "BREW"] {
        let answer = server
            .client()
            .ask(&format!("{method} / HTTP/1.1\r\nContent-Length: 0"))
            .await
            .unwrap();
        assert_eq!(answer.status(), "405", "{method}");
        assert_eq!(answer.header("allow"), Some("get, head"), "{method}");
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
