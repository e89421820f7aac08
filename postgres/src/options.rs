//! Where the database is, and how long to wait for it.

use core::fmt;
use core::time::Duration;
use std::io;
use std::path::Path;

use rustls::ClientConfig;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

use crate::passfile;
use crate::purpose::Purpose;

/// The longest name of a schema: PostgreSQL cuts longer ones off.
const MAX_SCHEMA_LEN: usize = 63;
/// Bounds of all durations.
const SHORTEST: Duration = Duration::from_millis(1);
const LONGEST: Duration = Duration::from_secs(3600);

/// Where a database is, and how long is waited for it.
#[derive(Clone)]
pub struct PostgresOptions {
    pub(crate) database: Config,
    pub(crate) listen: Option<Config>,
    pub(crate) tls: Option<ClientConfig>,
    pub(crate) schema: Option<String>,
    pub(crate) connections: usize,
    pub(crate) connect_timeout: Duration,
    pub(crate) timeout: Duration,
    pub(crate) poll: Duration,
}

impl PostgresOptions {
    /// Reads a connection string of libpq's, such as `host=db user=store dbname=keys` or `postgresql://store@db/keys`.
    ///
    /// # Errors
    ///
    /// If it can't be read. The error doesn't say what stands there, since there may be a password.
    pub fn new(database: &str) -> Result<Self, InvalidPostgresOptions> {
        Ok(Self {
            database: parse(database)?,
            listen: None,
            tls: None,
            schema: None,
            connections: 4,
            connect_timeout: Duration::from_secs(3),
            timeout: Duration::from_secs(5),
            poll: Duration::from_secs(1),
        })
    }

    /// Where to listen for changes by other processes, if the database is reached through a pooler: one in transaction
    /// mode, such as PgBouncer's, delivers no notifications. Without it, changes are found by [polling](Self::poll).
    ///
    /// # Errors
    ///
    /// If the connection string can't be read.
    pub fn listen(mut self, direct: &str) -> Result<Self, InvalidPostgresOptions> {
        self.listen = Some(parse(direct)?);
        Ok(self)
    }

    /// TLS for all connections, which are refused to a server without TLS, whatever `sslmode` says.
    ///
    /// A server's certificate binds the authentication by password only if it has an ECDSA or RSA signature.
    #[must_use]
    pub fn tls(mut self, config: ClientConfig) -> Self {
        self.tls = Some(config);
        self
    }

    /// The user's password, instead of one in the connection string.
    #[must_use]
    pub fn password(mut self, password: &[u8]) -> Self {
        self.database.password(password);
        if let Some(direct) = &mut self.listen {
            direct.password(password);
        }
        self
    }

    /// The password that a password file of libpq's (`~/.pgpass`) has for this database and user: that of the first line
    /// which fits, with a name or `*` for each of host, port, database and user. Without one, nothing changes. Of several
    /// hosts, the first for which there is one counts.
    ///
    /// # Errors
    ///
    /// If the file can't be read, if others may read it, or if it is longer than 1 MiB or no text.
    pub fn password_file(mut self, path: &Path) -> io::Result<Self> {
        let text = passfile::read(path)?;
        for config in [Some(&mut self.database), self.listen.as_mut()] {
            if let Some(config) = config
                && let Some(password) = passfile::password(&text, config)
            {
                config.password(password.as_bytes());
            }
        }
        Ok(self)
    }

    /// Whether it has a password. One in a connection string on a command line can be read by others.
    pub fn has_password(&self) -> bool {
        self.database.get_password().is_some()
    }

    /// Whether the database is reached by sockets of this machine alone, for which there is no TLS.
    #[must_use]
    pub fn is_local(&self) -> bool {
        let is_socket = |host: &Host| !matches!(host, Host::Tcp(_));
        let hosts = self.database.get_hosts();
        !hosts.is_empty() && hosts.iter().all(is_socket)
    }

    /// The schema that has the tables, in place of the [default](Purpose::schema). Each schema has data of its own.
    ///
    /// # Errors
    ///
    /// If the name isn't 1 to 63 of `a` to `z`, digits and `_`, or begins with a digit or `pg_`.
    pub fn schema(mut self, name: &str) -> Result<Self, InvalidPostgresOptions> {
        let is_plain =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        let begins_well = |byte: &u8| !byte.is_ascii_digit();
        let begins_well = name.as_bytes().first().is_some_and(begins_well);
        if !begins_well
            || name.len() > MAX_SCHEMA_LEN
            || name.starts_with("pg_")
            || !name.bytes().all(is_plain)
        {
            return Err(InvalidPostgresOptions::Schema);
        }
        self.schema = Some(name.into());
        Ok(self)
    }

    /// The most connections for reading and changing, 4 by default and at least 1. Another one listens.
    #[must_use]
    pub fn connections(mut self, most: usize) -> Self {
        self.connections = most.clamp(1, 1_000);
        self
    }

    /// How long connecting may take, with TLS and authentication: 3 s by default.
    #[must_use]
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout.clamp(SHORTEST, LONGEST);
        self
    }

    /// How long a call may take, with connecting and trying again: 5 s by default. A process that stops in the middle of a
    /// change keeps others from it for as long.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout.clamp(SHORTEST, LONGEST);
        self
    }

    /// How often to ask for changes by other processes, besides notifications, which can be lost: every second by default.
    #[must_use]
    pub fn poll(mut self, interval: Duration) -> Self {
        self.poll = interval.clamp(SHORTEST, LONGEST);
        self
    }

    /// The name of the database, and where it is, without user and password.
    pub(crate) fn place(&self) -> String {
        let host = |host: &Host| match host {
            Host::Tcp(name) => name.clone(),
            #[cfg(unix)]
            Host::Unix(path) => path.display().to_string(),
        };
        let hosts: Vec<_> = self.database.get_hosts().iter().map(host).collect();
        let ports = self.database.get_ports().iter().map(u16::to_string);
        let ports: Vec<_> = ports.collect();
        let database = self.database.get_dbname().unwrap_or("of the user's name");
        format!(
            "{database} at {}:{}",
            hosts.join(","),
            if ports.is_empty() {
                "5432".into()
            } else {
                ports.join(",")
            }
        )
    }

    /// The configuration of one connection, for reading and changing or to listen.
    pub(crate) fn config(&self, purpose: &Purpose, to_listen: bool) -> Config {
        let direct = self.listen.as_ref().filter(|_| to_listen);
        let mut config = direct.unwrap_or(&self.database).clone();
        config.connect_timeout(self.connect_timeout);
        if self.tls.is_some() {
            config.ssl_mode(SslMode::Require);
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(self.timeout);
        }
        if config.get_application_name().is_none() {
            config.application_name(purpose.program);
        }
        config
    }
}

fn parse(text: &str) -> Result<Config, InvalidPostgresOptions> {
    let config: Config = text
        .parse()
        .map_err(|_| InvalidPostgresOptions::ConnectionString)?;
    if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
        return Err(InvalidPostgresOptions::Host);
    }
    Ok(config)
}

impl fmt::Debug for PostgresOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresOptions")
            .field("database", &self.place())
            .field("schema", &self.schema)
            .field("listen", &self.listen.is_some())
            .field("tls", &self.tls.is_some())
            .field("connections", &self.connections)
            .field("connect_timeout", &self.connect_timeout)
            .field("timeout", &self.timeout)
            .field("poll", &self.poll)
            .finish()
    }
}

/// [`PostgresOptions`] can't be made of this.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidPostgresOptions {
    /// The connection string has another form, or an option that doesn't exist.
    #[error(
        "the connection string of the PostgreSQL database can't be read; it is \
         `host=... user=... dbname=...` or `postgresql://user@host/dbname`"
    )]
    ConnectionString,
    /// The connection string names no host.
    #[error("the connection string of the PostgreSQL database names no host")]
    Host,
    /// The name of the schema can't be used.
    #[error(
        "the name of a schema has 1 to {MAX_SCHEMA_LEN} of a to z, digits and _, and doesn't begin with a digit or pg_"
    )]
    Schema,
}
