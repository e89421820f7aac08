//! The TLS handshake with one client.

use std::pin::pin;

use rustls::server::Acceptor;
use rustls_pq::{Negotiated, Offer, ServerHandshake};
use tokio::io::AsyncWriteExt;
use tokio_rustls::server::TlsStream;
use tokio_rustls::{LazyConfigAcceptor, StartHandshake};
use tracing::debug;

use super::error::ConnectionError;
use super::offloaded::Offloaded;
use super::overheard::Overheard;
use crate::configuration::Tls;
use crate::sockets::Socket;

/// Performs the handshake, and returns its result. If it fails, the alert has been sent, and the
/// connection has still to be closed.
pub(super) async fn shake_hands(
    tls: &Tls,
    socket: Socket,
) -> Result<(TlsStream<Socket>, Negotiated), (ConnectionError, Option<Socket>)> {
    let socket = Overheard::new(socket);
    let mut acceptor = pin!(LazyConfigAcceptor::new(Acceptor::default(), socket));
    let start = match acceptor.as_mut().await {
        Ok(start) => start,
        Err(error) => {
            let socket = acceptor.take_io().map(|socket| socket.into_parts().0);
            return Err((ConnectionError::Handshake(error), socket));
        }
    };

    let (socket, offer) = start.io.into_parts();
    // There is no offer if `OfferReader` has refused what rustls accepts; the fuzz target `server` has
    // found no such case.
    let offer = offer.unwrap_or_else(|| Offer::of(&start.accepted.client_hello()));
    let start = StartHandshake::from_parts(start.accepted, socket);
    let Tls {
        config,
        alternatives,
        identities,
        ..
    } = tls;
    let handshake =
        ServerHandshake::begin_with_alternatives(offer, identities, config, alternatives);
    match handshake.may_block() {
        false => complete(tls, start, handshake).await,
        true => {
            let tls = tls.clone();
            Offloaded::new(async move { complete(&tls, start, handshake).await }).await
        }
    }
}

/// The rest of the handshake, after the ClientHello.
async fn complete(
    tls: &Tls,
    start: StartHandshake<Socket>,
    mut handshake: ServerHandshake,
) -> Result<(TlsStream<Socket>, Negotiated), (ConnectionError, Option<Socket>)> {
    let mut verified = Ok(());
    let accept = start.into_stream_with(handshake.config(), |connection| {
        handshake.remember(connection);
        verified = tls.verify_resumed_client(&mut handshake, connection);
    });
    verified.map_err(|error| (ConnectionError::ResumedClient(error), None))?;
    match accept.into_fallible().await {
        Ok(mut stream) => {
            // With a HelloRetryRequest, the check above did not know yet that a session would be resumed.
            // The client has new tickets by now, but they will be refused in the same way.
            let connection = stream.get_ref().1;
            if let Err(error) = tls.verify_resumed_client(&mut handshake, connection) {
                // Once the handshake is over rustls sends no alert but close_notify.
                let _ = stream.shutdown().await;
                let socket = stream.into_inner().0;
                return Err((ConnectionError::ResumedClient(error), Some(socket)));
            }
            let negotiated = handshake.negotiated(stream.get_ref().1);
            Ok((stream, negotiated.expect("the handshake is complete")))
        }
        Err((error, mut socket)) => {
            // rustls has none for a signer that fails.
            if let Some(alert) = handshake.alert_for(&error)
                && let Err(error) = socket.write_all(&alert).await
            {
                debug!(%error, "the client closed first");
            }
            let refusal = handshake.refusal(&error);
            Err((ConnectionError::Refused(refusal), Some(socket)))
        }
    }
}
