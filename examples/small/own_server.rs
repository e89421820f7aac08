//! A server of one's own from files, as a service is: its options, its log, readiness, a reload and an orderly end.
#![forbid(unsafe_code)]
// As most programs are written.
#![expect(clippy::std_instead_of_alloc, clippy::std_instead_of_core)]

use std::{error::Error, sync::Arc, time::Duration};

use clap::Parser;
use hyper::{Request, Response, body::Incoming};
use pq_serving::options::{CertificateOptions, LimitOptions, ListenOptions, LogOptions};
use pq_serving::{Protection, StopSignals, Tls, provider, reload_on_hangup};
use rustls_pq::Profile;

#[derive(Parser)]
struct Arguments {
    #[command(flatten)]
    listening: ListenOptions,
    #[command(flatten)]
    certificates: CertificateOptions,
    #[command(flatten)]
    limits: LimitOptions,
    #[command(flatten)]
    log: LogOptions,
}

async fn greet(_: Request<Incoming>, protection: Arc<Protection>) -> Response<String> {
    Response::new(format!("hello over {}\n", protection.summary.group))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    arguments.log.start("own_server");
    let provider = provider(Profile::Default, &[])?;
    let every = Duration::from_secs(10);
    let files = arguments.certificates.watch(&provider, every)?;
    let tls = Tls::with(provider, files.identities, None)?;
    let limits = arguments.limits.into();
    let listening = arguments.listening.start(tls, limits, None, greet).await?;
    let stop = StopSignals::catch()?;
    let reloading = reload_on_hangup(Some(files.watcher), None)?;
    println!("{}", listening.server.listens_on().join(", "));
    listening.server.run(stop, reloading).await?;
    Ok(())
}
