use clap::ValueEnum;
use rustls_pq::Profile;

/// A profile, as the value of a command line option.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub enum ProfileName {
    /// Hybrid key exchange first, classical allowed
    #[default]
    Default,
    /// No classical key exchange
    RequirePq,
    /// ML-KEM-1024, ML-DSA-87 and AES-256, and nothing else
    Cnsa2,
}

impl From<ProfileName> for Profile {
    fn from(name: ProfileName) -> Self {
        match name {
            ProfileName::Default => Self::Default,
            ProfileName::RequirePq => Self::RequirePq,
            ProfileName::Cnsa2 => Self::Cnsa2,
        }
    }
}
