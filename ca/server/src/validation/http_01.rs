//! `http-01` (RFC 8555, section 8.3): the key authorization as a page, perhaps behind redirects. Each of these is judged
//! as the first target was.

use core::net::{IpAddr, SocketAddr};
use core::str;

use http_body_util::{BodyExt, Empty};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::header::{ACCEPT, CONNECTION, HOST, LOCATION, USER_AGENT};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use pq_acme::identifier::Identifier;
use pq_acme::problem::ProblemType;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use url::Url;

use super::Validator;
use super::connecting::Host;
use super::outcome::{Refusal, Steps, Verdict, quoted};
use super::question::Question;

/// The length of a URL that a redirect may name.
const MAX_URL: usize = 2048;

/// The bytes of the head of an answer.
const MAX_HEAD: usize = 16 << 10;

/// What this server calls itself.
const AGENT: &str = concat!(
    "pq-ca-server/",
    env!("CARGO_PKG_VERSION"),
    " (ACME validation)"
);

impl Validator {
    pub(super) async fn http_01(
        &self,
        question: &Question,
        steps: &mut Steps,
    ) -> Result<String, Verdict> {
        let mut url = self.first_url(question)?;
        let mut redirects = 0;
        loop {
            steps.add(format!("GET {url}"));
            let (answer, address, driver) = self.get(&url, steps).await?;
            let status = answer.status();
            let seen =
                |kind, what: String| Refusal::new(kind, format!("{url} at {address}: {what}"));
            match status.as_u16() {
                200 => {
                    let body = self.read(answer.into_body()).await;
                    drop(driver);
                    let body = body.map_err(|what| seen(ProblemType::IncorrectResponse, what))?;
                    if question.authorization.is_in_http_body(&body) {
                        return Ok(address.to_string());
                    }
                    steps.add(format!("the page is {}", quoted(&body)));
                    // Where redirects lead is not for whoever asks to read.
                    let page = match redirects {
                        0 => quoted(&body),
                        _ => "another one".into(),
                    };
                    let expected = question.authorization.as_str();
                    let what = format!("the page is {page}, and has to be {expected:?}");
                    return Err(seen(ProblemType::IncorrectResponse, what).into());
                }
                301 | 302 | 303 | 307 | 308 => {
                    if redirects == self.limits.redirects {
                        let what = format!("more than {redirects} redirects");
                        return Err(seen(ProblemType::Connection, what).into());
                    }
                    redirects += 1;
                    let next = self.next(&url, &answer);
                    url = next.map_err(|what| seen(ProblemType::Connection, what))?;
                }
                _ => {
                    let what = format!("the answer is {status}, and has to be 200");
                    return Err(seen(ProblemType::IncorrectResponse, what).into());
                }
            }
        }
    }

    /// Where the challenge is asked first.
    fn first_url(&self, question: &Question) -> Result<Url, Refusal> {
        let host = match &question.identifier {
            Identifier::Ip(address @ IpAddr::V6(_)) => format!("[{address}]"),
            other => other.to_string(),
        };
        let (port, path) = (self.ports.http, question.authorization.http_path());
        let refused = |why: &str| {
            Refusal::new(
                ProblemType::Malformed,
                format!("{host:?} can't be in a URL: {why}"),
            )
        };
        let url = Url::parse(&format!("http://{host}:{port}{path}"));
        let url = url.map_err(|error| refused(&error.to_string()))?;
        // A URL reads "0x7f000001" as an address: then it is not the name that is asked.
        let is_same = match (&question.identifier, url.host()) {
            (Identifier::Dns(name), Some(url::Host::Domain(read))) => {
                name.eq_ignore_ascii_case(read)
            }
            (Identifier::Ip(address), Some(url::Host::Ipv4(read))) => *address == read,
            (Identifier::Ip(address), Some(url::Host::Ipv6(read))) => *address == read,
            _ => false,
        };
        match is_same {
            true => Ok(url),
            false => Err(refused("it would be read as another host")),
        }
    }

    /// Where a redirect leads, if that may be asked; else why not.
    fn next(&self, from: &Url, answer: &Response<Incoming>) -> Result<Url, String> {
        let location = answer.headers().get(LOCATION);
        let location = location.ok_or("a redirect without Location")?.as_bytes();
        if location.len() > MAX_URL {
            return Err(format!("a redirect to a URL of {} bytes", location.len()));
        }
        let refused = |why: &str| format!("a redirect to {}, {why}", quoted(location));
        let text = str::from_utf8(location).map_err(|_| refused("which is no URL"))?;
        let url = from.join(text).map_err(|_| refused("which is no URL"))?;
        let usual = match url.scheme() {
            "http" => self.ports.http,
            "https" => self.ports.https,
            _ => return Err(refused("which is neither http nor https")),
        };
        if !url.username().is_empty() || url.password().is_some() {
            return Err(refused("which has a user's name"));
        }
        let port = url.port_or_known_default().unwrap_or(usual);
        match [self.ports.http, self.ports.https].contains(&port) {
            true => Ok(url),
            false => Err(refused(&format!(
                "and ports other than {} and {} are not asked",
                self.ports.http, self.ports.https
            ))),
        }
    }

    /// Asks for a page, and reads the head of the answer. What is returned last drives the connection, until it is dropped.
    async fn get(
        &self,
        url: &Url,
        steps: &mut Steps,
    ) -> Result<(Response<Incoming>, SocketAddr, Driver), Verdict> {
        let no_host = || Refusal::new(ProblemType::Malformed, format!("{url} has no host"));
        let (host, name) = match url.host().ok_or_else(no_host)? {
            url::Host::Domain(name) => {
                let name = name.trim_end_matches('.');
                (Host::Name(name), ServerName::try_from(name.to_owned()).ok())
            }
            url::Host::Ipv4(address) => (Host::Address(address.into()), Some(address.into())),
            url::Host::Ipv6(address) => (Host::Address(address.into()), Some(address.into())),
        };
        let usual = match url.scheme() {
            "https" => self.ports.https,
            _ => self.ports.http,
        };
        let port = url.port_or_known_default().unwrap_or(usual);
        let (tcp, address) = self.connect(&host, port, steps).await?;
        let (answer, driver) = match url.scheme() {
            "https" => {
                let name = name.ok_or_else(no_host)?;
                let tls = self.connectors.http.connect(name, tcp).await;
                let tls = tls.map_err(|error| {
                    let detail = format!("{url} at {address}: no handshake: {error}");
                    Refusal::new(ProblemType::Tls, detail)
                })?;
                ask(url, tls).await
            }
            _ => ask(url, tcp).await,
        }
        .map_err(|what| {
            let detail = format!("{url} at {address}: {what}");
            Refusal::new(ProblemType::Connection, detail)
        })?;
        Ok((answer, address, driver))
    }

    /// Reads a body, as far as it may be long; else what is wrong with it.
    async fn read(&self, mut body: Incoming) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| format!("the page ends early: {error}"))?;
            let Ok(data) = frame.into_data() else {
                continue;
            };
            if bytes.len() + data.len() > self.limits.body {
                return Err(format!("the page has more than {} bytes", self.limits.body));
            }
            bytes.extend_from_slice(&data);
        }
        Ok(bytes)
    }
}

/// Drives a connection, until it is dropped.
struct Driver(tokio::task::JoinHandle<()>);

impl Drop for Driver {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Sends the request, and waits for the head of the answer; else what went wrong.
async fn ask<S>(url: &Url, stream: S) -> Result<(Response<Incoming>, Driver), String>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (mut sender, connection) = http1::Builder::new()
        .max_buf_size(MAX_HEAD)
        .handshake(TokioIo::new(stream))
        .await
        .map_err(|error| error.to_string())?;
    let driver = Driver(tokio::spawn(async {
        // What goes wrong here is the answer's error, too.
        let _ = connection.await;
    }));
    let mut path = url.path().to_owned();
    if let Some(query) = url.query() {
        path = format!("{path}?{query}");
    }
    let authority = &url[url::Position::BeforeHost..url::Position::AfterPort];
    let request = Request::get(path)
        .header(HOST, authority)
        .header(USER_AGENT, AGENT)
        .header(ACCEPT, "*/*")
        .header(CONNECTION, "close")
        .body(Empty::<Bytes>::new())
        .map_err(|error| error.to_string())?;
    let answer = sender.send_request(request).await;
    let answer = answer.map_err(|error| format!("no answer: {}", with_cause(&error)))?;
    Ok((answer, driver))
}

/// hyper's errors have their causes in `source()`.
fn with_cause(error: &hyper::Error) -> String {
    match core::error::Error::source(error) {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}
