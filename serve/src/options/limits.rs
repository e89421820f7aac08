//! The command line options for the server's limits, with their default values.

use std::num::ParseIntError;

use clap::Args;

use crate::admission::Limits;

/// The numbers among the server's limits. Its time limits have no options.
#[derive(Clone, Copy, Debug, Args)]
pub struct LimitOptions {
    /// Connections at a time; others wait
    #[arg(
        long,
        value_name = "N",
        default_value_t = Limits::default().connections,
        value_parser = at_least_one,
        help_heading = "Limits"
    )]
    max_connections: usize,

    /// Connections at a time from one IPv4 address or the first 64 bits of an IPv6 address; more are
    /// refused. Raise it behind a proxy, where all clients come from the proxy's address
    /// [default: 64, or half of --max-connections if that is less]
    #[arg(
        long,
        value_name = "N",
        value_parser = at_least_one,
        help_heading = "Limits"
    )]
    max_connections_per_address: Option<usize>,

    /// Connections at a time whose handshake isn't complete; one more ends the oldest of the
    /// address that has the most
    #[arg(
        long,
        value_name = "N",
        default_value_t = Limits::default().handshakes,
        value_parser = at_least_one,
        help_heading = "Limits"
    )]
    max_handshakes: usize,

    /// Connections at a time whose handshake isn't complete, for each address; one more ends its oldest.
    /// Raise it behind a proxy
    #[arg(
        long,
        value_name = "N",
        default_value_t = Limits::default().handshakes_per_address,
        value_parser = at_least_one,
        help_heading = "Limits"
    )]
    max_handshakes_per_address: usize,

    /// Requests at a time, until their answers are sent; one more is answered with 503
    #[arg(
        long,
        value_name = "N",
        default_value_t = Limits::default().requests,
        value_parser = at_least_one,
        help_heading = "Limits"
    )]
    max_requests: usize,

    /// Requests at a time for each address; one more is answered with 503. Raise it behind a proxy
    #[arg(
        long,
        value_name = "N",
        default_value_t = Limits::default().requests_per_address,
        value_parser = at_least_one,
        help_heading = "Limits"
    )]
    max_requests_per_address: usize,
}

impl From<LimitOptions> for Limits {
    fn from(options: LimitOptions) -> Self {
        let half = (options.max_connections / 2).max(1);
        Self {
            connections: options.max_connections,
            connections_per_address: options
                .max_connections_per_address
                .unwrap_or_else(|| Self::default().connections_per_address.min(half)),
            handshakes: options.max_handshakes,
            handshakes_per_address: options.max_handshakes_per_address,
            requests: options.max_requests,
            requests_per_address: options.max_requests_per_address,
            ..Self::default()
        }
    }
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("nobody would be served; give at least 1".into()),
        number => number.map_err(|error: ParseIntError| error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Program {
        #[command(flatten)]
        limits: LimitOptions,
    }

    /// No address has all places unless somebody says so.
    #[test]
    fn an_address_has_half_of_few_places() {
        for (options, expected) in [
            (&[][..], 64),
            (&["--max-connections=50"], 25),
            (&["--max-connections=1"], 1),
            (
                &["--max-connections=50", "--max-connections-per-address=50"],
                50,
            ),
        ] {
            let program = Program::parse_from(["program"].iter().chain(options));
            assert_eq!(
                Limits::from(program.limits).connections_per_address,
                expected
            );
        }
    }

    #[test]
    fn each_number_has_its_option() {
        let program = Program::parse_from([
            "program",
            "--max-connections=1",
            "--max-connections-per-address=2",
            "--max-handshakes=3",
            "--max-handshakes-per-address=4",
            "--max-requests=5",
            "--max-requests-per-address=6",
        ]);
        let limits = Limits::from(program.limits);
        let numbers = [
            limits.connections,
            limits.connections_per_address,
            limits.handshakes,
            limits.handshakes_per_address,
            limits.requests,
            limits.requests_per_address,
        ];
        assert_eq!(numbers, [1, 2, 3, 4, 5, 6]);
    }
}
