//! What the page says.

use core::fmt::Write;
use core::time::Duration;

use base64ct::{Base64, Encoding};
use hyper::Response;
use hyper::body::Bytes;
use hyper::header::{
    CONTENT_SECURITY_POLICY, HeaderMap, HeaderName, HeaderValue, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use pq_keys::encoding::rfc3339;
use pq_x509::certificate::Certificate;
use pq_x509::pki_types::UnixTime;
use sha2::{Digest, Sha256};

use super::html::Escaped;
use crate::http::{Caching, Document};

/// How long browsers keep the page.
const MAX_AGE: Duration = Duration::from_secs(300);

const STYLE: &str = ":root{color-scheme:light dark}body{font:1rem/1.5 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem}\
    h1,h2{line-height:1.2}h2{margin-top:2rem}\
    pre,code{font-family:ui-monospace,monospace;font-size:.9em}\
    pre{background:#8882;padding:.7rem;white-space:pre-wrap}table{margin-bottom:1rem}\
    td,th{text-align:left;vertical-align:top;padding:.2rem 1rem .2rem 0}\
    h1,pre,td,p{overflow-wrap:anywhere}";

/// What a page is about.
pub(crate) struct PageFacts<'a> {
    /// Certificates by the names of their keys, the root's first.
    pub(crate) certificates: Vec<(&'a str, &'a Certificate)>,
    /// The keys that are here, whose lists are, too: the one that issues first.
    pub(crate) keys: Vec<&'a str>,
    /// Where people reach these doors: `https://ca.example.org`.
    pub(crate) url: &'a str,
    /// The same over plain HTTP.
    pub(crate) plain_url: Option<&'a str>,
    /// The URL of ACME's directory, if there is ACME.
    pub(crate) acme_url: Option<&'a str>,
    /// Where certificates say that OCSP requests are answered, if they do.
    pub(crate) ocsp_url: Option<&'a str>,
}

/// The page, and what browsers may do with it.
#[derive(Debug)]
pub(crate) struct Page {
    document: Document,
    policy: HeaderValue,
}

impl Page {
    pub(crate) fn answer(&self, asked: &HeaderMap, now: UnixTime) -> Response<Bytes> {
        let mut response = self.document.answer(asked, now);
        let headers = response.headers_mut();
        headers.insert(CONTENT_SECURITY_POLICY, self.policy.clone());
        let fixed: [(HeaderName, &str); 2] = [
            (X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (REFERRER_POLICY, "no-referrer"),
        ];
        for (name, value) in fixed {
            headers.insert(name, HeaderValue::from_static(value));
        }
        response
    }
}

/// The page of a CA.
pub(crate) fn page(facts: &PageFacts<'_>) -> Page {
    let style = Base64::encode_string(&Sha256::digest(STYLE));
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{style}'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    let document = Document::new(
        html(facts).into_bytes(),
        "text/html; charset=utf-8",
        None,
        Caching::For(MAX_AGE),
    );
    Page {
        document,
        policy: HeaderValue::from_str(&policy).expect("it is base64 between words"),
    }
}

fn html(facts: &PageFacts<'_>) -> String {
    let mut html = String::new();
    // A string takes all that is written to it.
    let _ = write(&mut html, facts);
    html
}

fn write(html: &mut String, facts: &PageFacts<'_>) -> core::fmt::Result {
    let root = facts.certificates.first().map(|(_, root)| *root);
    let name = root.map(Certificate::describe_subject).unwrap_or_default();
    let (name, url) = (Escaped(name), Escaped(facts.url));
    write!(
        html,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<link rel=\"icon\" href=\"data:,\">\n\
         <title>{name}</title>\n\
         <style>{STYLE}</style>\n</head>\n<body>\n<h1>{name}</h1>\n\
         <p>This is a certificate authority. It certifies keys of servers and clients. Whoever trusts its root accepts what it \
         certified. It may be meant for you, or not: ask whoever runs it.</p>\n"
    )?;
    html.push_str("<h2>Its certificates</h2>\n");
    let issues = facts.keys.first().copied();
    for &(key, certificate) in &facts.certificates {
        let has_list = facts.keys.contains(&key);
        let key = Escaped(key);
        let digest = Sha256::digest(certificate.der().as_ref());
        let digits: Vec<_> = digest.iter().map(|byte| format!("{byte:02X}")).collect();
        let subject = Escaped(certificate.describe_subject());
        let issues = match issues == Some(key.0) {
            true => ", which issues",
            false => "",
        };
        write!(
            html,
            "<table>\n<tr><th>{key}</th><td>{subject}{issues}</td></tr>\n\
             <tr><th>valid</th><td>{} to {}</td></tr>\n\
             <tr><th>SHA&#8209;256</th><td><code>{}</code></td></tr>\n\
             <tr><th>files</th><td><a href=\"/certificates/{key}.pem\">PEM</a>, <a href=\"/certificates/{key}.crt\">DER</a>",
            rfc3339(certificate.not_before()),
            rfc3339(certificate.not_after()),
            digits.join(":<wbr>"),
        )?;
        if has_list {
            write!(html, ", <a href=\"/lists/{key}.crl\">revocation list</a>")?;
        }
        html.push_str("</td></tr>\n</table>\n");
    }
    write!(
        html,
        "<h2>Before you trust it</h2>\n<p>This page can't prove that it is the right one. Get the root, and compare its \
         fingerprint with one that you have from whoever runs the CA, by another way than this page:</p>\n\
         <pre>curl --insecure --output root.pem {url}/certificates/root.pem\n\
         openssl x509 -in root.pem -noout -fingerprint -sha256\n\
         pqtls cert fingerprint root.pem</pre>\n"
    )?;
    html.push_str(SYSTEMS);
    write!(
        html,
        "<h2>Point one client at it</h2>\n<p>Then only this client trusts the CA.</p>\n<table>\n"
    )?;
    for (client, line) in CLIENTS {
        writeln!(
            html,
            "<tr><th>{}</th><td><code>{}</code></td></tr>",
            Escaped(client),
            Escaped(line)
        )?;
    }
    html.push_str("</table>\n");
    html.push_str(ALGORITHMS);
    if let Some(acme) = facts.acme_url.map(Escaped) {
        write!(
            html,
            "<h2>Get a certificate</h2>\n<p>By ACME (RFC 8555), whose directory is <code>{acme}</code>, for names that you show \
             to be yours:</p>\n\
             <pre>pqtls cert obtain www.example.org --from {acme} --trust root.pem --http-01 --new-key web.key --out web.pem</pre>\n"
        )?;
    }
    let ocsp = match (facts.ocsp_url, facts.plain_url) {
        (Some(url), _) => url.to_owned(),
        (None, plain) => format!("{}/ocsp", plain.unwrap_or(facts.url)),
    };
    let (ocsp, issuer) = (Escaped(ocsp), Escaped(issues.unwrap_or("root")));
    write!(
        html,
        "<h2>What was revoked</h2>\n<p>Revocation lists are linked above. OCSP requests are answered at \
         <code>{ocsp}</code>:</p>\n\
         <pre>openssl ocsp -issuer {issuer}.pem -cert server.pem -url {ocsp} -CAfile root.pem</pre>\n\
         </body>\n</html>\n"
    )
}

/// Stores of roots of whole systems.
const SYSTEMS: &str = "<h2>Trust it on a whole system</h2>\n\
<h3>Debian, Ubuntu, Alpine</h3>\n\
<pre>sudo cp root.pem /usr/local/share/ca-certificates/own-root.crt\nsudo update-ca-certificates</pre>\n\
<h3>Fedora, RHEL</h3>\n\
<pre>sudo cp root.pem /etc/pki/ca-trust/source/anchors/own-root.pem\nsudo update-ca-trust</pre>\n\
<h3>openSUSE</h3>\n\
<pre>sudo cp root.pem /etc/pki/trust/anchors/own-root.pem\nsudo update-ca-certificates</pre>\n\
<h3>Arch</h3>\n<pre>sudo trust anchor --store root.pem</pre>\n\
<h3>macOS</h3>\n\
<pre>sudo security add-trusted-cert -d -r trustRoot -k /Library/Keychains/System.keychain root.pem</pre>\n\
<h3>Windows, as an administrator</h3>\n<pre>certutil -addstore -f Root root.pem</pre>\n\
<h3>Firefox</h3>\n<p>Settings, Privacy &amp; Security, View Certificates, Authorities, Import. On Windows and macOS it takes \
what the system trusts.</p>\n\
<h3>Chrome, Chromium and Edge</h3>\n<p>On Windows and macOS they take what the system trusts. Elsewhere: \
chrome://certificate-manager, Local certificates, Custom, Import.</p>\n\
<h3>iOS and Android</h3>\n<p>Open the DER file of the root, and install it as a CA certificate in the settings; iOS asks once more \
under General, About, Certificate Trust Settings.</p>\n";

/// What tells one client which root to trust.
const CLIENTS: [(&str, &str); 11] = [
    ("curl", "curl --cacert root.pem https://…"),
    (
        "OpenSSL",
        "openssl s_client -connect HOST:PORT -CAfile root.pem -verify_return_error",
    ),
    ("wget", "wget --ca-certificate=root.pem https://…"),
    ("git", "git config --global http.sslCAInfo root.pem"),
    (
        "Python, and certbot",
        "REQUESTS_CA_BUNDLE=root.pem certbot …",
    ),
    ("lego", "LEGO_CA_CERTIFICATES=root.pem lego …"),
    ("Node", "NODE_EXTRA_CA_CERTS=root.pem node …"),
    ("Go, on Linux", "SSL_CERT_FILE=root.pem …"),
    (
        "Java",
        "keytool -importcert -file root.pem -alias own-root -cacerts",
    ),
    (
        "nginx, as a client",
        "proxy_ssl_trusted_certificate root.pem;",
    ),
    ("pqtls", "pqtls cert verify server.pem --roots root.pem"),
];

const ALGORITHMS: &str = "<p>Certificates with ML-DSA or SLH-DSA need clients that verify these: OpenSSL 3.5 and later, Go 1.27 and \
later, and programs on rustls with a provider for them. Browsers and the systems' own libraries accept no such roots as of \
November 2026, so a CA for them has a classical key.</p>\n";

#[cfg(test)]
mod tests {
    use pq_x509::issuing::{CertificateBuilder, Issuer};
    use pq_x509::keys::{SignatureAlgorithm, SigningKey};

    use super::*;

    #[test]
    fn names_can_not_change_the_page() {
        let key = SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
        let name = "<script>\"a\" & 'b'</script>";
        let issuer = Issuer::self_signed(CertificateBuilder::ca(name), key).unwrap();
        let facts = PageFacts {
            certificates: vec![("root", issuer.certificate())],
            keys: vec!["root"],
            url: "https://ca.example.org\"><script>",
            plain_url: None,
            acme_url: Some("https://ca.example.org/\"><script>"),
            ocsp_url: Some("http://ca.example.org/\"><script>"),
        };
        let html = html(&facts);
        assert!(!html.contains("<script"), "{html}");
        assert!(html.contains("&lt;script&gt;"), "{html}");
        // Every element that is opened is closed.
        for element in [
            "html", "head", "body", "table", "tr", "td", "th", "pre", "code", "p", "h1", "h2",
            "h3", "a", "style",
        ] {
            let opened = html.matches(&format!("<{element}>")).count()
                + html.matches(&format!("<{element} ")).count();
            assert_eq!(
                opened,
                html.matches(&format!("</{element}>")).count(),
                "{element}"
            );
        }
    }

    #[test]
    fn lists_are_those_of_keys_that_are_here() {
        let key = SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
        let issuer = Issuer::self_signed(CertificateBuilder::ca("Example"), key).unwrap();
        let certificate = issuer.certificate();
        let mut facts = PageFacts {
            certificates: ["root", "issuing", "issuing-2"]
                .map(|name| (name, certificate))
                .into(),
            keys: vec!["issuing-2", "issuing"],
            url: "https://ca.example.org",
            plain_url: Some("http://ca.example.org:8080"),
            acme_url: None,
            ocsp_url: None,
        };
        let text = html(&facts);
        assert!(text.contains("/lists/issuing.crl") && text.contains("/lists/issuing-2.crl"));
        assert!(!text.contains("/lists/root.crl"), "{text}");
        assert!(!text.contains("ACME"), "{text}");
        assert!(text.contains("-issuer issuing-2.pem"), "{text}");
        assert!(
            text.contains("-url http://ca.example.org:8080/ocsp"),
            "{text}"
        );
        // A proxy may be before the server, and certificates say where clients find it.
        facts.ocsp_url = Some("http://ocsp.example.org/");
        let text = html(&facts);
        assert!(text.contains("-url http://ocsp.example.org/ "), "{text}");
    }
}
