//! One connection.

use alloc::rc::Rc;
use core::future::poll_fn;

use tokio::sync::Notify;
use tokio::task::AbortHandle;
use tokio::time::timeout;
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres::{AsyncMessage, Client, Config, NoTls, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::failure::Failure;
use crate::options::PostgresOptions;
use crate::purpose::Purpose;

/// A connection, which is closed when it is dropped, whatever it is doing.
pub(crate) struct Connection {
    pub(crate) client: Client,
    task: AbortHandle,
    /// Woken when the connection has ended.
    ended: Rc<Notify>,
}

impl Connection {
    /// Connects within the time-out. Each notification, if this connection listens, wakes `notified`.
    pub(crate) async fn open(
        options: &PostgresOptions,
        purpose: &Purpose,
        to_listen: bool,
        notified: &Rc<Notify>,
    ) -> Result<Self, Failure> {
        let config = options.config(purpose, to_listen);
        let connecting = async {
            match &options.tls {
                Some(tls) => {
                    let tls = MakeRustlsConnect::new(tls.clone());
                    Self::by(&config, tls, notified).await
                }
                None => Self::by(&config, NoTls, notified).await,
            }
        };
        match timeout(options.connect_timeout, connecting).await {
            Ok(connection) => connection,
            Err(_) => Err(Failure::Lost(format!(
                "no connection within {:?}",
                options.connect_timeout
            ))),
        }
    }

    async fn by<T>(config: &Config, tls: T, notified: &Rc<Notify>) -> Result<Self, Failure>
    where
        T: MakeTlsConnect<Socket>,
        T::Stream: 'static,
        T::TlsConnect: TlsConnect<Socket>,
    {
        let (client, mut connection) = config.connect(tls).await?;
        let (ended, notified) = (Rc::new(Notify::new()), notified.clone());
        let at_end = ended.clone();
        let task = tokio::task::spawn_local(async move {
            // An error ends the connection, and the client reports it.
            while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await
            {
                if matches!(message, AsyncMessage::Notification(_)) {
                    notified.notify_one();
                }
            }
            at_end.notify_one();
        });
        Ok(Self {
            client,
            task: task.abort_handle(),
            ended,
        })
    }

    /// Waits until the other side has closed it.
    pub(crate) async fn ended(&self) {
        self.ended.notified().await;
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.task.abort();
    }
}
