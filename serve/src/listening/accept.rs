//! Accepts connections within limits of number, and lets them finish at the end.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Semaphore, watch};
use tokio::task::{JoinError, JoinSet};
use tokio::time::{sleep, timeout};
use tracing::{Instrument, debug, error, info_span};

use crate::admission::{Admission, Shares};
use crate::connection::{Connection, ConnectionError};
use crate::drain::Drained;
use crate::events::{Event, Span};
use crate::sockets::Listeners;

/// Accepts until `stopped` changes or its sender is gone, and for a time after that, and serves each client as
/// `connection` says.
pub(super) async fn accept_until(
    mut stopped: watch::Receiver<()>,
    mut listeners: Listeners,
    connection: Connection,
    serving: Span,
) -> Drained {
    let limits = connection.limits;
    // Connections are told at the end of that time.
    let (ends, ended) = watch::channel(());
    let connection = Connection {
        stopped: ended,
        ..connection
    };
    let observers = connection.observers.clone();
    let shares = Shares {
        connections: limits.connections.clamp(1, Semaphore::MAX_PERMITS),
        connections_per_source: limits.connections_per_address.max(1),
        handshakes: limits.handshakes.max(1),
        handshakes_per_source: limits.handshakes_per_address.max(1),
    };
    let admission = Arc::new(Admission::new(shares).observed(observers.clone()));
    // A connection that made way for another one keeps its descriptor until its task is over.
    let slots = Arc::new(Semaphore::new(shares.connections));
    let mut connections = JoinSet::new();
    let mut end = pin!(async {
        let _ = stopped.changed().await;
        // First, so that whoever distributes requests knows it before anyone is refused.
        let draining = observers.span(Event::Draining, Event::Drained);
        drop(serving);
        if !limits.lame_duck.is_zero() {
            sleep(limits.lame_duck).await;
        }
        draining
    });
    let _draining = loop {
        let (socket, peer) = tokio::select! {
            accepted = listeners.accept() => accepted,
            Some(ended) = connections.join_next() => {
                report_panic(ended);
                continue;
            }
            draining = end.as_mut() => break draining,
        };
        let admit = async {
            let (handshaking, pushed_out) = admission
                .admit(peer.address().map(|address| address.ip()))
                .await?;
            let slot = slots.clone().acquire_owned().await;
            Some((
                handshaking,
                pushed_out,
                slot.expect("nobody closes the semaphore"),
            ))
        };
        let admitted = tokio::select! {
            admitted = admit => admitted,
            draining = end.as_mut() => break draining,
        };
        let Some((handshaking, pushed_out, slot)) = admitted else {
            if let Err(error) = socket.refuse() {
                debug!(%error, "the client left first");
            }
            continue;
        };
        let connection = connection.clone();
        let observers = observers.clone();
        let log = connection.log.clone();
        let open = observers.span(Event::Opened, Event::Closed);
        let serve = async move {
            let served = tokio::select! {
                served = connection.serve(socket, peer.address(), handshaking) => served,
                () = pushed_out.wait() => Err(ConnectionError::PushedOut),
            };
            if let Some(reason) = served
                .as_ref()
                .err()
                .and_then(ConnectionError::failed_handshake)
            {
                observers.tell(Event::HandshakeFailed(reason));
            }
            match served {
                Ok(()) => debug!("closed"),
                // The reason has been logged already, and not for each connection.
                Err(error @ ConnectionError::PushedOut) => debug!(%error, "closed"),
                Err(error) if error.is_departure() => debug!(%error, "the client has left"),
                Err(error) => log.closed(&error),
            }
            drop((slot, open));
        };
        connections.spawn(serve.instrument(info_span!("connection", %peer)));
    };

    drop((listeners, ends));
    let drained = timeout(limits.grace, async {
        while let Some(ended) = connections.join_next().await {
            report_panic(ended);
        }
    });
    match drained.await {
        Ok(()) => Drained { cut_off: 0 },
        Err(_) => {
            while let Some(ended) = connections.try_join_next() {
                report_panic(ended);
            }
            let cut_off = connections.len();
            // They end where they wait next; one that never waits is left behind.
            let _ = timeout(CUT_OFF, connections.shutdown()).await;
            Drained { cut_off }
        }
    }
}

/// How long to wait for the end of what was cut off.
const CUT_OFF: Duration = Duration::from_secs(1);

fn report_panic(ended: Result<(), JoinError>) {
    if let Err(error) = ended {
        error!(%error, "serving a connection failed");
    }
}
