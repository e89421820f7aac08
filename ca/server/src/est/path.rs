//! Paths below `/.well-known/est` (RFC 7030, section 3.2.2).

use pq_ca::policy::Profile;

/// Where EST is.
pub(super) const ROOT: &str = "/.well-known/est";

/// What a path asks for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Operation {
    /// `cacerts`: the CA's certificates.
    CaCertificates,
    /// `simpleenroll`: a certificate.
    Enrol,
    /// `simplereenroll`: the next certificate, for the names of the one that the client has.
    Reenrol,
    /// `csrattrs`: what requests should have.
    CsrAttributes,
}

/// Reads a path, with the profile that its label names. `None` if nothing is there, as with `serverkeygen` and `fullcmc`, or
/// if no profile has the label's name.
pub(super) fn parse(path: &str) -> Option<(Operation, Option<Profile>)> {
    let rest = path.strip_prefix(ROOT)?.strip_prefix('/')?;
    let (profile, operation) = match rest.split_once('/') {
        None => (None, rest),
        Some((label, operation)) => {
            // The only character of a profile's name that some clients write in another way.
            let label = label.replace("%2B", "+").replace("%2b", "+");
            (Some(label.parse().ok()?), operation)
        }
    };
    let operation = match operation {
        "cacerts" => Operation::CaCertificates,
        "simpleenroll" => Operation::Enrol,
        "simplereenroll" => Operation::Reenrol,
        "csrattrs" => Operation::CsrAttributes,
        _ => return None,
    };
    Some((operation, profile))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_profiles() {
        for (path, expected) in [
            ("/cacerts", Some((Operation::CaCertificates, None))),
            ("/simpleenroll", Some((Operation::Enrol, None))),
            (
                "/server/simplereenroll",
                Some((Operation::Reenrol, Some(Profile::Server))),
            ),
            (
                "/server%2Bclient/csrattrs",
                Some((Operation::CsrAttributes, Some(Profile::ServerAndClient))),
            ),
            ("/nobody/cacerts", None),
            ("/server/", None),
            ("/server/client/cacerts", None),
            ("/serverkeygen", None),
            ("/fullcmc", None),
            ("", None),
            ("/", None),
        ] {
            assert_eq!(parse(&format!("{ROOT}{path}")), expected, "{path}");
        }
    }
}
