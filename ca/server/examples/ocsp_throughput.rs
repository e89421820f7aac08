//! How many OCSP requests a second one core answers from kept answers, over plain HTTP on this machine. What counts is the CPU
//! time of all threads but that of the clients: also of those that ask the ledger each second.
//!
//! ```sh
//! cargo run --release -p pq-ca-server --example ocsp_throughput
//! ```

extern crate alloc;

use alloc::sync::Arc;
use core::net::SocketAddr;
use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use std::sync::mpsc;
use std::thread;
use std::time::Instant;

use base64ct::{Base64, Encoding};
use pq_ca::authority::{Authority, Order};
use pq_ca::ledger::LocalLedger;
use pq_ca::policy::Policy;
use pq_ca_server::{Doors, PublishedCa, Settings};
use pq_serving::{Limits, Server};
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::{SignatureAlgorithm, SigningKey};
use pq_x509::ocsp::OcspRequest;
use pq_x509::pki_types::UnixTime;
use rustix::time::{ClockId, clock_gettime};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const CERTIFICATES: usize = 1000;
const CONNECTIONS: usize = 32;
const TIME: Duration = Duration::from_secs(5);

type Failure = Box<dyn core::error::Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    let folder = tempfile::tempdir()?;
    let key = || SigningKey::generate(SignatureAlgorithm::MlDsa65);
    let issuer = Issuer::self_signed(CertificateBuilder::ca("Example CA"), key()?)?;
    let root = issuer.certificate().clone();
    let policy = Policy::default_text(&[".example.org".parse()?], &[], &[]);
    let policy = Policy::parse(&policy, "policy.toml")?;
    let ledger = LocalLedger::create(folder.path().join("ledger"))?;
    let ca = Arc::new(Authority::new("issuing", issuer, policy, ledger));
    let leaf = key()?;
    let mut requests = Vec::new();
    let mut batch = ca.batch("measure", UnixTime::now());
    for number in 0..CERTIFICATES {
        let order = Order::for_key(&leaf)?;
        batch.add(&order.with(|wanted| wanted.dns_name(format!("n{number}.example.org"))))?;
    }
    for made in batch.keep()? {
        let certificate = pq_x509::certificate::Certificate::from_der(&made?.certificate)?;
        let request = OcspRequest::builder()
            .certificate(&certificate, &root)
            .build()?;
        let path = Base64::encode_string(request.der()).replace('/', "%2F");
        requests.push(format!(
            "GET /ocsp/{path} HTTP/1.1\r\nHost: localhost\r\n\r\n"
        ));
    }

    let (ready, is_ready) = mpsc::channel();
    let (stop, mut stopped) = tokio::sync::watch::channel(());
    let served = thread::spawn(move || -> Result<(), Failure> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        runtime.block_on(async {
            let doors = Doors::new(PublishedCa::new(root, Vec::new(), ca), Settings::default());
            let limits = Limits {
                connections_per_address: 2 * CONNECTIONS,
                ..Limits::default()
            };
            let server = Server::plain().limits(limits).handler(doors);
            let server = server.bind("127.0.0.1:0").await?;
            ready.send(server.local_addr())?;
            // The first round signs; its time doesn't count.
            stopped.changed().await?;
            stopped.changed().await?;
            Ok(())
        })
    });
    let address: SocketAddr = is_ready.recv()?;
    let requests = Arc::new(requests);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let (count, elapsed, used) = runtime.block_on(async {
        let mut tcp = TcpStream::connect(address).await?;
        for request in &*requests {
            ask(&mut tcp, request).await?;
        }
        stop.send(())?;
        let count = Arc::new(AtomicU64::new(0));
        let (begun, before) = (Instant::now(), used_by_others());
        let clients: Vec<_> = (0..CONNECTIONS)
            .map(|client| {
                let (requests, count) = (requests.clone(), count.clone());
                tokio::spawn(async move {
                    let mut tcp = TcpStream::connect(address).await?;
                    let mut at = client * 31;
                    while begun.elapsed() < TIME {
                        ask(&mut tcp, &requests[at % requests.len()]).await?;
                        count.fetch_add(1, Ordering::Relaxed);
                        at += 7;
                    }
                    Ok::<_, Failure>(())
                })
            })
            .collect();
        for client in clients {
            client.await??;
        }
        let (elapsed, used) = (begun.elapsed(), used_by_others() - before);
        stop.send(())?;
        Ok::<_, Failure>((count.load(Ordering::Relaxed), elapsed, used))
    })?;
    served.join().map_err(|_| "the server panicked")??;
    println!(
        "{count} answers in {:.2} s, {:.0} a second; the server took {:.2} s of CPU time: {:.0} a second and core",
        elapsed.as_secs_f64(),
        count as f64 / elapsed.as_secs_f64(),
        used,
        count as f64 / used,
    );
    Ok(())
}

/// The seconds of CPU time of all threads but this one.
fn used_by_others() -> f64 {
    let [all, own] = [ClockId::ProcessCPUTime, ClockId::ThreadCPUTime].map(|clock| {
        let time = clock_gettime(clock);
        time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
    });
    all - own
}

/// Sends a request, and reads the answer to its end.
async fn ask(tcp: &mut TcpStream, request: &str) -> Result<(), Failure> {
    tcp.write_all(request.as_bytes()).await?;
    let mut answer = Vec::with_capacity(16 * 1024);
    let head = loop {
        if tcp.read_buf(&mut answer).await? == 0 {
            return Err("the server closed".into());
        }
        if let Some(end) = answer.windows(4).position(|four| four == b"\r\n\r\n") {
            break end + 4;
        }
    };
    let text = core::str::from_utf8(&answer[..head])?;
    if !text.starts_with("HTTP/1.1 200 ") {
        return Err(text.into());
    }
    let length = text
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "));
    let length: usize = length.ok_or("no length")?.parse()?;
    while answer.len() < head + length {
        if tcp.read_buf(&mut answer).await? == 0 {
            return Err("the server closed".into());
        }
    }
    Ok(())
}
