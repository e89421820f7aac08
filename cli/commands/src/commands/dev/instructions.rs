//! The lines that `pqtls dev` prints for copying: for the example server, nginx and curl, and which file of roots each
//! kind of client takes.

use core::fmt;
use std::path::{self, Path, PathBuf};

use pq_x509::certificate::AlternativeName;
use serde::Serialize;

use super::leaf::Leaf;
use super::twin::Twin;
use crate::shell::{command_line, is_plain};

/// What to paste where, to use the certificates.
#[derive(Debug, Serialize)]
pub(super) struct Instructions {
    /// A command of this project's example server.
    tls_server: String,
    /// Lines of a `server` block.
    nginx: String,
    /// A command.
    curl: String,
    /// The file of roots for clients with OpenSSL, such as curl.
    roots: String,
    /// The file of roots for browsers, Go and rustls, which refuse the other one.
    roots_for_browsers: String,
    /// The command that makes this machine trust the roots, if they are new and --install was not given.
    install: Option<String>,
}

impl Instructions {
    /// For certificates for these names under the roots in two files, of which the second is for browsers, Go and rustls.
    pub(super) fn new(
        leaves: &[Leaf],
        names: &[AlternativeName],
        [roots, for_browsers]: [PathBuf; 2],
        install: Option<String>,
    ) -> Self {
        Self {
            tls_server: tls_server(leaves),
            nginx: nginx(leaves),
            curl: curl(names, &roots),
            roots: roots.display().to_string(),
            roots_for_browsers: for_browsers.display().to_string(),
            install,
        }
    }
}

/// Puts the classical certificate first. The other one is for clients that accept no classical one: browsers
/// list ML-DSA among the algorithms that they verify, but accept no ML-DSA roots.
fn classical_first(leaves: &[Leaf]) -> impl Iterator<Item = &Leaf> {
    let of = |twin: Twin| leaves.iter().filter(move |leaf| leaf.twin == twin);
    of(Twin::Classical).chain(of(Twin::PostQuantum))
}

fn tls_server(leaves: &[Leaf]) -> String {
    let mut words = vec!["tls-server".to_owned()];
    for leaf in classical_first(leaves) {
        for (option, file) in [("--cert", &leaf.file), ("--key", &leaf.key_file)] {
            words.extend([option.into(), file.display().to_string()]);
        }
    }
    command_line(words)
}

fn nginx(leaves: &[Leaf]) -> String {
    let line = |directive, file: &Path| {
        let file = path::absolute(file).unwrap_or_else(|_| file.into());
        let file = file.display().to_string();
        match file.chars().all(is_plain) {
            true => format!("{directive} {file};\n"),
            false => format!("{directive} {file:?};\n"),
        }
    };
    let pair = |leaf: &Leaf| {
        line("ssl_certificate", &leaf.file) + &line("ssl_certificate_key", &leaf.key_file)
    };
    let pairs = classical_first(leaves).map(pair);
    pairs.chain([NGINX_PREFERENCE.into()]).collect()
}

/// ML-DSA needs TLS 1.3, which nginx before 1.23.4 does not turn on by itself. Without a preference of its
/// own, OpenSSL follows the clients'.
const NGINX_PREFERENCE: &str = "\
ssl_protocols TLSv1.2 TLSv1.3;
ssl_prefer_server_ciphers on;
ssl_conf_command SignatureAlgorithms ecdsa_secp256r1_sha256:mldsa65;
";

/// The server of [`tls_server`] listens on the loopback address.
fn curl(names: &[AlternativeName], roots: &Path) -> String {
    let leads_here = |name: &&AlternativeName| match name {
        AlternativeName::Dns(name) => name == "localhost",
        AlternativeName::Ip(address) => address.is_loopback(),
        AlternativeName::Email(_) | AlternativeName::Uri(_) => false,
    };
    let name = names.iter().find(leads_here);
    let mut words = vec![
        "curl".into(),
        "--cacert".into(),
        roots.display().to_string(),
    ];
    if name.is_none() {
        words.extend(["--connect-to".into(), "::127.0.0.1:8443".into()]);
    }
    let host = name.or_else(|| names.first()).map(host).unwrap_or_default();
    words.push(format!("https://{host}:8443/"));
    command_line(words)
}

/// A host that the name stands for, as URLs have it.
fn host(name: &AlternativeName) -> String {
    match name {
        AlternativeName::Ip(address) if address.is_ipv6() => format!("[{address}]"),
        other => other.to_string().replace('*', "www"),
    }
}

impl fmt::Display for Instructions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut section = |title: &str, lines: &str| {
            writeln!(f, "\n{title}:")?;
            let mut lines = lines.lines();
            lines.try_for_each(|line| writeln!(f, "  {line}"))
        };
        section("our server", &self.tls_server)?;
        section(
            "nginx with OpenSSL 3.5 or later; with an older one, only the first two lines",
            &self.nginx,
        )?;
        section("curl", &self.curl)?;
        let Self {
            roots,
            roots_for_browsers,
            ..
        } = self;
        section(
            "clients that take a file of roots",
            &format!(
                "curl, Python and others with OpenSSL take {roots}\n\
                 Firefox and other browsers, Go, and rustls with our tls-client take {roots_for_browsers}"
            ),
        )?;
        match &self.install {
            Some(install) => section("to make this machine trust the roots", install),
            None => Ok(()),
        }
    }
}
