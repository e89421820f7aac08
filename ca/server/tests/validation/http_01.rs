//! `http-01`.

use alloc::sync::Arc;

use pq_acme::objects::ChallengeKind;
use pq_acme::problem::ProblemType;
use pq_ca_server::validation::{Limits, Verdict};

use super::dns::{Manner, NameServer};
use super::target::{Reply, Target};
use super::{AUTHORIZATION, NAME, TOKEN, evidence, question, refusal, validator};

const PATH: &str = "/.well-known/acme-challenge/DGyRejmCefe7v4NfDGDKfA";

async fn dns() -> NameServer {
    let dns = NameServer::start().await;
    dns.address(NAME, "127.0.0.1");
    dns
}

#[tokio::test]
async fn a_page_with_the_key_authorization_is_evidence() {
    let dns = dns().await;
    let target = Target::start(|path, host| {
        assert_eq!(path, PATH);
        let (name, _) = host.rsplit_once(':').unwrap();
        assert!([NAME, "127.0.0.1"].contains(&name), "{host}");
        Reply::page(&format!("{AUTHORIZATION} \t\r\n\n"))
    })
    .await;
    let validator = validator(&dns, target.port());
    for name in [NAME, "127.0.0.1"] {
        let seen = evidence(
            validator
                .validate(&question(ChallengeKind::Http01, name))
                .await,
        );
        assert_eq!(seen, format!("from {}", target.address));
    }
}

#[tokio::test]
async fn other_pages_are_not() {
    let dns = dns().await;
    for (reply, kind, what) in [
        (
            Reply::page("hello\n"),
            ProblemType::IncorrectResponse,
            r#"the page is "hello\n""#,
        ),
        (
            Reply::page(TOKEN),
            ProblemType::IncorrectResponse,
            "and has to be \"DGy",
        ),
        (
            Reply::page(&format!(" {AUTHORIZATION}")),
            ProblemType::IncorrectResponse,
            "the page is",
        ),
        (
            Reply::of("404 Not Found", "", AUTHORIZATION),
            ProblemType::IncorrectResponse,
            "the answer is 404 Not Found",
        ),
        (
            Reply::of("204 No Content", "", ""),
            ProblemType::IncorrectResponse,
            "the answer is 204",
        ),
        (
            Reply::page(&"a".repeat(9000)),
            ProblemType::IncorrectResponse,
            "more than 8192 bytes",
        ),
        (
            Reply::Bytes(b"SSH-2.0-x\r\n".to_vec()),
            ProblemType::Connection,
            "no answer",
        ),
        (
            Reply::Bytes(Vec::new()),
            ProblemType::Connection,
            "no answer",
        ),
        (
            Reply::Bytes(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort".to_vec()),
            ProblemType::IncorrectResponse,
            "ends early",
        ),
        (
            Reply::Endless(b"HTTP/1.1 200 OK\r\n".to_vec(), b"a: b\r\n".repeat(1000)),
            ProblemType::Connection,
            "no answer",
        ),
        (
            Reply::Endless(b"HTTP/1.1 200 OK\r\na: ".to_vec(), vec![b'a'; 10_000]),
            ProblemType::Connection,
            "no answer",
        ),
    ] {
        let target = Target::start(move |_, _| reply.clone()).await;
        let outcome = validator(&dns, target.port())
            .validate(&question(ChallengeKind::Http01, NAME))
            .await;
        refusal(outcome, kind, what);
    }
}

#[tokio::test]
async fn a_body_without_end_is_not_read_to_the_end() {
    let dns = dns().await;
    let begin = b"HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\n".to_vec();
    let target = Target::start(move |_, _| Reply::Endless(begin.clone(), vec![b'a'; 65536])).await;
    let outcome = validator(&dns, target.port())
        .validate(&question(ChallengeKind::Http01, NAME))
        .await;
    refusal(
        outcome,
        ProblemType::IncorrectResponse,
        "more than 8192 bytes",
    );
    // What the operating system buffers is sent, too.
    let sent = target.sent.load(core::sync::atomic::Ordering::Relaxed);
    assert!(sent < 64 << 20, "{sent}");
}

#[tokio::test]
async fn redirects_are_followed() {
    let dns = dns().await;
    dns.address("other.example.net", "127.0.0.1");
    let target = Target::start(|path, host| {
        let port = host.rsplit_once(':').unwrap().1;
        match path {
            PATH => Reply::redirect("/one"),
            "/one" => Reply::redirect("two/three"),
            "/two/three" => Reply::redirect(&format!("//{host}/four?a=b")),
            "/four?a=b" => Reply::redirect(&format!("http://OTHER.example.net:{port}/five#f")),
            "/five" => Reply::redirect(&format!("http://127.0.0.1:{port}/six")),
            "/six" => Reply::page(AUTHORIZATION),
            _ => Reply::of("404 Not Found", "", ""),
        }
    })
    .await;
    let outcome = validator(&dns, target.port())
        .validate(&question(ChallengeKind::Http01, NAME))
        .await;
    assert!(
        outcome
            .steps
            .iter()
            .any(|step| step.contains("other.example.net")),
        "{outcome:?}"
    );
    evidence(outcome);
}

/// What a page behind a redirect says is in the record, and not told to whoever named it.
#[tokio::test]
async fn pages_behind_redirects_are_not_read_out() {
    let dns = dns().await;
    let target = Target::start(|path, _| match path {
        PATH => Reply::redirect("/private"),
        _ => Reply::page("a secret"),
    })
    .await;
    let outcome = validator(&dns, target.port())
        .validate(&question(ChallengeKind::Http01, NAME))
        .await;
    let step = "the page is \\\"a secret\\\"";
    assert!(format!("{:?}", outcome.steps).contains(step), "{outcome:?}");
    assert!(
        !format!("{:?}", outcome.verdict).contains("secret"),
        "{outcome:?}"
    );
    refusal(
        outcome,
        ProblemType::IncorrectResponse,
        "the page is another one",
    );
}

#[tokio::test]
async fn as_many_redirects_as_allowed_and_no_more() {
    let dns = dns().await;
    for (redirects, is_followed) in [(10, true), (11, false)] {
        let target = Target::start(move |path, _| {
            let done: usize = path[1..].parse().unwrap_or(0);
            match done == redirects {
                true => Reply::page(AUTHORIZATION),
                false => Reply::redirect(&format!("/{}", done + 1)),
            }
        })
        .await;
        let outcome = validator(&dns, target.port())
            .validate(&question(ChallengeKind::Http01, NAME))
            .await;
        match is_followed {
            true => drop(evidence(outcome)),
            false => refusal(outcome, ProblemType::Connection, "more than 10 redirects"),
        }
    }
}

/// A redirect leads nowhere where the first request may not.
#[tokio::test]
async fn redirects_to_where_nobody_may_ask_are_refused() {
    let dns = dns().await;
    dns.address("metadata.example.net", "169.254.169.254");
    dns.address("local.example.net", "::1");
    dns.address("mapped.example.net", "::ffff:127.0.0.2");
    let other = Target::start(|_, _| Reply::page(AUTHORIZATION)).await;
    for (to, kind, what) in [
        (
            "http://127.0.0.2:PORT/",
            ProblemType::RejectedIdentifier,
            "loopback",
        ),
        (
            "http://127.1.1:PORT/",
            ProblemType::RejectedIdentifier,
            "loopback",
        ),
        (
            "http://0x7f000002:PORT/",
            ProblemType::RejectedIdentifier,
            "loopback",
        ),
        (
            "http://2130706434:PORT/",
            ProblemType::RejectedIdentifier,
            "loopback",
        ),
        (
            "http://0:PORT/",
            ProblemType::RejectedIdentifier,
            "this machine",
        ),
        (
            "http://10.0.0.1:PORT/",
            ProblemType::RejectedIdentifier,
            "private",
        ),
        (
            "http://[::1]:PORT/",
            ProblemType::RejectedIdentifier,
            "loopback",
        ),
        (
            "https://[::1]:PORT/",
            ProblemType::RejectedIdentifier,
            "loopback",
        ),
        (
            "http://[::ffff:7f00:2]:PORT/",
            ProblemType::RejectedIdentifier,
            "loopback",
        ),
        (
            "http://[64:ff9b::7f00:2]:PORT/",
            ProblemType::RejectedIdentifier,
            "loopback",
        ),
        (
            "http://[fd00::1]:PORT/",
            ProblemType::RejectedIdentifier,
            "unique local",
        ),
        (
            "http://metadata.example.net:PORT/",
            ProblemType::RejectedIdentifier,
            "link-local",
        ),
        (
            "http://local.example.net:PORT/",
            ProblemType::RejectedIdentifier,
            "loopback",
        ),
        (
            "http://mapped.example.net:PORT/",
            ProblemType::RejectedIdentifier,
            "loopback",
        ),
        (
            "http://nowhere.example.net:PORT/",
            ProblemType::Dns,
            "there is no nowhere",
        ),
        (
            "http://127.0.0.1:OTHER/",
            ProblemType::Connection,
            "ports other than",
        ),
        (
            "http://127.0.0.1/",
            ProblemType::Connection,
            "ports other than",
        ),
        (
            "https://127.0.0.1/",
            ProblemType::Connection,
            "ports other than",
        ),
        (
            "ftp://127.0.0.1:PORT/",
            ProblemType::Connection,
            "neither http nor https",
        ),
        (
            "file:///etc/passwd",
            ProblemType::Connection,
            "neither http nor https",
        ),
        (
            "gopher://127.0.0.1:PORT/x",
            ProblemType::Connection,
            "neither http nor https",
        ),
        (
            "http://a:b@127.0.0.1:PORT/",
            ProblemType::Connection,
            "a user's name",
        ),
        ("http://", ProblemType::Connection, "no URL"),
    ] {
        let other_port = other.port().to_string();
        let to = Arc::new(to.replace("OTHER", &other_port));
        let reply = to.clone();
        let target = Target::start(move |path, host| match path {
            PATH => Reply::redirect(&reply.replace("PORT", host.rsplit_once(':').unwrap().1)),
            _ => Reply::page(AUTHORIZATION),
        })
        .await;
        let outcome = validator(&dns, target.port())
            .validate(&question(ChallengeKind::Http01, NAME))
            .await;
        println!("{to}");
        refusal(outcome, kind, what);
    }
    let asked = other
        .connections
        .load(core::sync::atomic::Ordering::Relaxed);
    assert_eq!(asked, 0, "nobody connects where it is refused");
    let far = format!("/{}", "a".repeat(3000));
    let target = Target::start(move |_, _| Reply::redirect(&far)).await;
    let outcome = validator(&dns, target.port())
        .validate(&question(ChallengeKind::Http01, NAME))
        .await;
    refusal(outcome, ProblemType::Connection, "a URL of 3001 bytes");
}

#[tokio::test]
async fn first_targets_are_judged_too() {
    let dns = dns().await;
    dns.address("inside.example.org", "10.0.0.1");
    let target = Target::start(|_, _| Reply::page(AUTHORIZATION)).await;
    let validator = validator(&dns, target.port());
    for name in [
        "inside.example.org",
        "10.0.0.1",
        "::1",
        "127.0.0.2",
        "0.0.0.0",
    ] {
        let outcome = validator
            .validate(&question(ChallengeKind::Http01, name))
            .await;
        refusal(outcome, ProblemType::RejectedIdentifier, "may not be asked");
    }
    // Of several addresses, those that may be asked are.
    dns.address("inside.example.org", "::1");
    dns.address("inside.example.org", "127.0.0.1");
    let outcome = validator
        .validate(&question(ChallengeKind::Http01, "inside.example.org"))
        .await;
    assert!(
        outcome
            .steps
            .iter()
            .any(|step| step.contains("10.0.0.1 may not be asked"))
    );
    evidence(outcome);
}

#[tokio::test]
async fn a_name_that_urls_read_as_an_address_is_not_asked_there() {
    let dns = dns().await;
    let target = Target::start(|_, _| Reply::page(AUTHORIZATION)).await;
    let validator = validator(&dns, target.port());
    for name in ["0x7f000001", "127.0.0x1", "127.1.0x", "2130706433"] {
        let outcome = validator
            .validate(&question(ChallengeKind::Http01, name))
            .await;
        let Verdict::Invalid(refusal) = outcome.verdict else {
            panic!("{name}: {outcome:?}");
        };
        assert_eq!(refusal.kind, ProblemType::Malformed, "{name}");
    }
}

#[tokio::test]
async fn nobody_there() {
    let dns = dns().await;
    let port = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().port()
    };
    let validator = validator(&dns, port);
    let outcome = validator
        .validate(&question(ChallengeKind::Http01, NAME))
        .await;
    refusal(outcome, ProblemType::Connection, "can't be reached");
    let outcome = validator
        .validate(&question(ChallengeKind::Http01, "gone.example.org"))
        .await;
    refusal(outcome, ProblemType::Dns, "there is no gone.example.org");
    dns.text("only-text.example.org", &["a"]);
    let outcome = validator
        .validate(&question(ChallengeKind::Http01, "only-text.example.org"))
        .await;
    refusal(outcome, ProblemType::Dns, "has no");
    dns.manner(Manner::Fail);
    let outcome = validator
        .validate(&question(ChallengeKind::Http01, NAME))
        .await;
    assert!(
        matches!(&outcome.verdict, Verdict::Undecided(one) if one.kind == ProblemType::Dns),
        "{outcome:?}"
    );
}

#[tokio::test]
async fn targets_that_take_their_time_get_a_bounded_one() {
    let dns = dns().await;
    let head = b"HTTP/1.1 200 OK\r\nContent-Length: 75\r\n\r\n".to_vec();
    for reply in [
        Reply::Silence,
        Reply::Slowly([head.as_slice(), AUTHORIZATION.as_bytes()].concat()),
    ] {
        let target = Target::start(move |_, _| reply.clone()).await;
        let limits = Limits {
            whole: core::time::Duration::from_secs(1),
            ..Limits::default()
        };
        let validator = validator(&dns, target.port()).limits(limits);
        let outcome = validator
            .validate(&question(ChallengeKind::Http01, NAME))
            .await;
        refusal(
            outcome,
            ProblemType::Connection,
            "no whole answer to http-01 within 1 s",
        );
    }
}
