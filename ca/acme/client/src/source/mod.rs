//! A server's certificates, post-quantum and classical side by side, which are obtained and renewed while it runs.

mod builder;
mod error;
mod identities;
mod kept;
mod pause;
mod resolver;
mod roots;
mod running;
mod settings;
mod status;

pub use self::builder::AcmeSource;
pub use self::error::SourceError;
pub use self::identities::AcmeIdentities;
pub use self::resolver::AcmeResolver;
pub use self::roots::system_roots;
pub use self::status::CertificateStatus;
