//! Databases of PostgreSQL, for key stores and for ledgers of CAs: the address, of which some options are this program's, and
//! the password, which is never part of it.

use core::fmt;
use core::str::FromStr;
use core::time::Duration;
use std::env;
use std::io;
use std::path::{Path, PathBuf, absolute};

use pq_keystore::storage::PostgresOptions;
use zeroize::Zeroizing;

use super::connecting::{decoded, encoded, variable};
use super::to_server;
use crate::failure::DatabaseFailure;

/// The address of a database of PostgreSQL, as it was given.
#[derive(Clone, Eq, PartialEq)]
pub(in crate::commands) struct DatabaseAddress(String);

impl DatabaseAddress {
    /// An address, if the text begins as one.
    pub(in crate::commands) fn in_text(text: &str) -> Option<Self> {
        let schemes = ["postgres://", "postgresql://"];
        let is_one = schemes.iter().any(|scheme| text.starts_with(scheme));
        is_one.then(|| Self(text.into()))
    }

    /// The same address, whatever the folder of the process: the files that it names have paths that stay.
    pub(in crate::commands) fn with_absolute_files(self) -> io::Result<Self> {
        let Some((address, options)) = self.0.split_once('?') else {
            return Ok(self);
        };
        let options = options.split('&').map(|option| {
            let file = option
                .split_once('=')
                .filter(|(name, _)| FILES.contains(name));
            // What can't be decoded is refused when it is opened.
            let file = file.and_then(|(name, value)| Some((name, decoded(value)?)));
            let Some((name, file)) = file.filter(|(_, file)| !file.is_empty()) else {
                return Ok(option.into());
            };
            let path = absolute(&file)?;
            if path == Path::new(&file) {
                return Ok(option.into());
            }
            let path = path.to_str().ok_or(io::ErrorKind::InvalidFilename)?;
            Ok(format!("{name}={}", encoded(path)))
        });
        let options: Vec<String> = options.collect::<io::Result<_>>()?;
        Ok(Self(format!("{address}?{}", options.join("&"))))
    }

    /// Where it is, with the password from where it belongs. Nothing is connected to yet.
    pub(in crate::commands) fn options(&self) -> Result<PostgresOptions, DatabaseFailure> {
        let (address, own) = Own::split_from(&self.0)?;
        let mut options = PostgresOptions::new(&address).map_err(DatabaseFailure::Address)?;
        if options.has_password() {
            return Err(DatabaseFailure::PasswordInAddress);
        }
        if let Some(schema) = &own.schema {
            options = options.schema(schema).map_err(DatabaseFailure::Address)?;
        }
        if let Some(time) = own.connect_timeout {
            options = options.connect_timeout(time);
        }
        if let Some(time) = own.timeout {
            options = options.timeout(time);
        }
        options = with_password(options, own.passfile)?;
        if own.is_without_tls || options.is_local() {
            return Ok(options);
        }
        let roots = own.roots.or_else(|| variable("PGSSLROOTCERT"));
        let tls = to_server(&roots.ok_or(DatabaseFailure::NoRoots)?, None);
        Ok(options.tls(tls.map_err(DatabaseFailure::Tls)?))
    }
}

impl FromStr for DatabaseAddress {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        Self::in_text(text)
            .ok_or("it is not the address of a PostgreSQL database, postgres://USER@HOST/DATABASE")
    }
}

impl fmt::Display for DatabaseAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for DatabaseAddress {
    /// Nothing of it, since there may be a password in it that was not refused yet.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DatabaseAddress")
    }
}

/// The options whose values are files.
const FILES: [&str; 2] = ["sslrootcert", "passfile"];

/// The options of an address that are this program's, and not tokio-postgres's.
#[derive(Default)]
struct Own {
    is_without_tls: bool,
    roots: Option<PathBuf>,
    schema: Option<String>,
    passfile: Option<PathBuf>,
    connect_timeout: Option<Duration>,
    timeout: Option<Duration>,
}

impl Own {
    /// The address without these options, and the options.
    fn split_from(text: &str) -> Result<(String, Self), DatabaseFailure> {
        let mut own = Self::default();
        let Some((address, options)) = text.split_once('?') else {
            return Ok((text.into(), own));
        };
        let mut others = Vec::new();
        for option in options.split('&') {
            if !own.take(option)? {
                others.push(option);
            }
        }
        Ok(match others.is_empty() {
            true => (address.into(), own),
            false => (format!("{address}?{}", others.join("&")), own),
        })
    }

    /// Takes an option, if it is one of these.
    fn take(&mut self, option: &str) -> Result<bool, DatabaseFailure> {
        let Some((name, value)) = option.split_once('=') else {
            return Ok(false);
        };
        let wrong = || DatabaseFailure::Option(name.into());
        let value = || decoded(value).ok_or_else(wrong);
        let seconds = || {
            let seconds = value()?.parse().ok().filter(|seconds| *seconds > 0);
            let seconds = seconds.ok_or_else(wrong)?;
            Ok::<_, DatabaseFailure>(Duration::from_secs(seconds))
        };
        match name {
            "sslmode" => match value()?.as_str() {
                "disable" => self.is_without_tls = true,
                "verify-full" => self.is_without_tls = false,
                _ => return Err(DatabaseFailure::SslMode),
            },
            "sslrootcert" => self.roots = Some(value()?.into()),
            "schema" => self.schema = Some(value()?),
            "passfile" => self.passfile = Some(value()?.into()),
            "connect_timeout" => self.connect_timeout = Some(seconds()?),
            "timeout" => self.timeout = Some(seconds()?),
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// With the password of the address's password file, `PGPASSWORD`, the file of `PGPASSFILE` or `~/.pgpass`: the first of these
/// that there is.
fn with_password(
    options: PostgresOptions,
    passfile: Option<PathBuf>,
) -> Result<PostgresOptions, DatabaseFailure> {
    let named = match passfile {
        Some(file) => Some(file),
        None => {
            if let Some(password) = env::var_os("PGPASSWORD").filter(|value| !value.is_empty()) {
                let password = Zeroizing::new(password.into_encoded_bytes());
                return Ok(options.password(&password));
            }
            variable("PGPASSFILE")
        }
    };
    let (file, may_be_missing) = match (named, variable("HOME")) {
        (Some(file), _) => (file, false),
        (None, Some(home)) => (home.join(".pgpass"), true),
        (None, None) => return Ok(options),
    };
    match options.clone().password_file(&file) {
        Err(error) if may_be_missing && error.kind() == io::ErrorKind::NotFound => Ok(options),
        read => read.map_err(|error| DatabaseFailure::PasswordFile { file, error }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(options: &str) -> (String, Own) {
        Own::split_from(&format!("postgresql://db/keys{options}")).unwrap()
    }

    #[test]
    fn options_of_this_program_are_taken_from_the_address() {
        let (address, own) = split(
            "?schema=a&target_session_attrs=read-write&sslrootcert=my%20roots.pem&timeout=7&user=x",
        );
        assert_eq!(
            address,
            "postgresql://db/keys?target_session_attrs=read-write&user=x"
        );
        assert_eq!(own.schema.as_deref(), Some("a"));
        assert_eq!(own.roots.as_deref(), Some(Path::new("my roots.pem")));
        assert_eq!(own.timeout, Some(Duration::from_secs(7)));
        assert_eq!(own.connect_timeout, None);
        assert!(!own.is_without_tls);
        let (address, own) = split("?sslmode=disable");
        assert_eq!(address, "postgresql://db/keys");
        assert!(own.is_without_tls);
        for wrong in [
            "sslmode=prefer",
            "sslrootcert=%4",
            "schema=%ff",
            "timeout=0",
        ] {
            assert!(
                Own::split_from(&format!("postgres://db/keys?{wrong}")).is_err(),
                "{wrong}"
            );
        }
    }

    #[test]
    fn files_have_paths_that_stay() {
        let here = env::current_dir().unwrap();
        let stays = |text: &str| {
            let address = DatabaseAddress::in_text(text)
                .unwrap()
                .with_absolute_files();
            address.unwrap().to_string()
        };
        let moved =
            stays("postgres://a@db/keys?passfile=my%20pass%26word&schema=x&sslrootcert=../r.pem");
        let (_, own) = Own::split_from(&moved).unwrap();
        assert_eq!(own.passfile.as_deref(), Some(&*here.join("my pass&word")));
        assert_eq!(own.roots.as_deref(), Some(&*here.join("../r.pem")));
        assert_eq!(own.schema.as_deref(), Some("x"));
        for same in [
            "postgres://a@db/keys",
            "postgres://a@db/keys?schema=x",
            "postgres://a@db/keys?passfile=/p&sslrootcert=/a%20b",
            "postgres://a@db/keys?passfile=",
            "postgres://a@db/keys?passfile=%f",
        ] {
            assert_eq!(stays(same), same);
        }
    }

    #[test]
    fn a_network_wants_tls_and_an_address_no_password() {
        let options = |text: &str| DatabaseAddress::in_text(text).unwrap().options();
        assert!(matches!(
            options("postgres://a:hunter2@db/keys?sslmode=disable"),
            Err(DatabaseFailure::PasswordInAddress)
        ));
        assert!(matches!(
            options("postgres://a@db/keys?password=hunter2&sslmode=disable"),
            Err(DatabaseFailure::PasswordInAddress)
        ));
        assert!(matches!(
            options("postgres://a@db:x/keys"),
            Err(DatabaseFailure::Address(_))
        ));
        assert!(options("postgres://a@db/keys?sslmode=disable").is_ok());
        // Sockets of this machine have no TLS.
        assert!(options("postgres://a@%2Frun%2Fpostgresql/keys").is_ok());
        assert!(options("postgres://a@db/keys?sslrootcert=/none").is_err());
    }
}
