//! Password files of libpq: lines of `host:port:database:user:password`, of which the first that fits counts.

use std::io;
use std::path::Path;

use pq_keys::files::read_private;
use tokio_postgres::Config;
use tokio_postgres::config::Host;
use zeroize::Zeroizing;

/// The most bytes of a file.
const MAX_LEN: usize = 1024 * 1024;

/// PostgreSQL's port.
const PORT: u16 = 5432;

/// Reads a file that nobody but its owner may read.
pub(crate) fn read(path: &Path) -> io::Result<Zeroizing<String>> {
    let bytes = read_private(path, MAX_LEN + 1)?;
    if bytes.len() > MAX_LEN {
        return Err(io::Error::other("it is longer than 1 MiB"));
    }
    let text = core::str::from_utf8(&bytes).map_err(|_| io::Error::other("it is no text"))?;
    Ok(Zeroizing::new(text.into()))
}

/// The password for a database, if a line of the text fits it.
pub(crate) fn password(text: &str, database: &Config) -> Option<Zeroizing<String>> {
    let user = database.get_user().unwrap_or_default();
    let name = database.get_dbname().unwrap_or(user);
    let ports = database.get_ports();
    let hosts = database.get_hosts().iter().enumerate();
    hosts
        .filter_map(|(at, host)| {
            let host = match host {
                Host::Tcp(name) => name.clone(),
                #[cfg(unix)]
                Host::Unix(path) => path.display().to_string(),
            };
            // One port is that of all hosts.
            let port = ports.get(at).or_else(|| ports.first()).unwrap_or(&PORT);
            let wanted = [&host, &port.to_string(), name, user];
            text.lines().find_map(|line| in_line(line, wanted))
        })
        .next()
}

/// The password of a line, if the line is for these.
fn in_line(line: &str, wanted: [&str; 4]) -> Option<Zeroizing<String>> {
    if line.starts_with('#') {
        return None;
    }
    let mut rest = line;
    for one in wanted {
        let (field, after) = field(rest);
        let is_any = rest.starts_with("*:");
        rest = after?;
        if !is_any && *field != one {
            return None;
        }
    }
    let (password, _) = field(rest);
    (!password.is_empty()).then_some(password)
}

/// A field without its backslashes, and what follows the colon after it.
fn field(text: &str) -> (Zeroizing<String>, Option<&str>) {
    let mut field = Zeroizing::new(String::with_capacity(text.len()));
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            ':' => return (field, text.get(at + 1..)),
            '\\' => field.extend(characters.next().map(|(_, escaped)| escaped)),
            other => field.push(other),
        }
    }
    (field, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_fits_counts() {
        let file = "# db:5432:keys:store:comment\n\
            db:5433:keys:store:other port\n\
            \n\
            db:5432:keys\n\
            db:5432:keys:\\*:of a user with a star\n\
            db:5432:*:store:with\\:colon\\\\and more:rest\n\
            *:*:*:*:anybody's\n";
        for (address, expected) in [
            ("postgresql://store@db/keys", "with:colon\\and more"),
            ("postgresql://store@db:5433/keys", "other port"),
            ("postgresql://eve@db/keys", "anybody's"),
            ("postgresql://%2A@db/keys", "of a user with a star"),
            ("postgresql://store@a,db/keys", "anybody's"),
        ] {
            let config: Config = address.parse().unwrap();
            let found = password(file, &config);
            assert_eq!(found.unwrap().as_str(), expected, "{address}");
        }
        let config: Config = "postgresql://store@db/keys".parse().unwrap();
        assert_eq!(password("db:5432:keys:eve:x\n", &config), None);
        assert_eq!(password("db:5432:keys:store:\n", &config), None);
        assert_eq!(password("db:5432:keys:store", &config), None);
    }
}
