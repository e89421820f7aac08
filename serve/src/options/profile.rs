//! The values that an option for a profile takes, each with a line of help.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use rustls_pq::Profile;

/// Takes a profile by its name, as the value of a command line option.
pub fn profile_parser() -> impl TypedValueParser<Value = Profile> {
    let values = Profile::ALL
        .iter()
        .map(|&profile| PossibleValue::new(profile.name()).help(summary(profile)));
    PossibleValuesParser::new(values).try_map(|name| name.parse::<Profile>())
}

fn summary(profile: Profile) -> &'static str {
    match profile {
        Profile::Default => "Hybrid key exchange first, classical allowed",
        Profile::RequirePq => "No classical key exchange",
        Profile::Cnsa2 => "ML-KEM-1024, ML-DSA-87 and AES-256, and nothing else",
        Profile::All => "All key exchange groups, beginning with those of the default in its order",
        // It has only its name.
        _ => "",
    }
}
