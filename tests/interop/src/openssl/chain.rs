//! A chain of three certificates by OpenSSL, and its revocation lists.

use super::Workdir;

impl Workdir {
    /// Has OpenSSL issue a root, an intermediate below it, which gets the extension `constraint`, and
    /// below that a server's leaf, with keys that `keys` describes in options for `req`. They are in
    /// `root.pem`, `intermediate.pem` and `leaf.pem`, and their keys and requests are in `.key` and
    /// `.req`.
    ///
    /// # Panics
    /// If they can't be issued.
    pub fn issue_chain(&self, [root, intermediate, leaf]: [&str; 3], constraint: &str) {
        self.write(
            "intermediate.ext",
            format!(
                "basicConstraints=critical,CA:true,pathlen:0\n\
                 keyUsage=critical,keyCertSign,cRLSign\n{constraint}\n"
            ),
        );
        self.write(
            "leaf.ext",
            "basicConstraints=critical,CA:false\n\
             keyUsage=critical,digitalSignature\n\
             extendedKeyUsage=serverAuth\n\
             subjectAltName=DNS:localhost,IP:127.0.0.1,IP:::1\n",
        );
        self.run(&format!(
            "req -x509 {root} -noenc -keyout root.key -subj /CN=root -out root.pem \
             -addext basicConstraints=critical,CA:true -addext keyUsage=critical,keyCertSign,cRLSign"
        ));
        self.issue_below("root", "intermediate", intermediate);
        self.issue_below("intermediate", "leaf", leaf);
    }

    /// Has OpenSSL issue a certificate to `subject`, with the extensions of `{subject}.ext`, from a
    /// request.
    ///
    /// # Panics
    /// If it can't be issued.
    pub fn issue_below(&self, issuer: &str, subject: &str, key: &str) {
        self.run(&format!(
            "req -new {key} -noenc -keyout {subject}.key -subj /CN={subject} -out {subject}.req"
        ));
        self.run(&format!(
            "x509 -req -in {subject}.req -CA {issuer}.pem -CAkey {issuer}.key \
             -extfile {subject}.ext -out {subject}.pem"
        ));
    }

    /// Has `openssl ca` make the list of `ca` in `list.pem`, with one certificate on it or none.
    ///
    /// # Panics
    /// If it can't be made.
    pub fn make_list(&self, ca: &str, revoked: Option<&str>) {
        self.write("index.txt", "");
        self.write("number", "01\n");
        self.write(
            "ca.cnf",
            "[ca]\ndefault_ca=lists\n[lists]\ndatabase=index.txt\ncrlnumber=number\n\
             default_crl_days=7\ndefault_md=default\ncrl_extensions=extensions\n\
             [extensions]\nauthorityKeyIdentifier=keyid:always\n",
        );
        let signed_by = format!("ca -config ca.cnf -cert {ca}.pem -keyfile {ca}.key");
        if let Some(name) = revoked {
            self.run(&format!(
                "{signed_by} -revoke {name}.pem -crl_reason keyCompromise"
            ));
        }
        self.run(&format!("{signed_by} -gencrl -out list.pem"));
    }
}
