//! ML-KEM as a group of rustls 0.24, whose own `Hybrid` combines it with others.

#[path = "../../../../provider/src/kx/encapsulation.rs"]
mod encapsulation;
#[path = "../../../../provider/src/kx/layout.rs"]
pub mod layout;
#[path = "../../../../provider/src/kx/ml_kem.rs"]
mod ml_kem;

pub use ml_kem::{MlKem, MlKemGroup};
pub use rustls::crypto::kx::Hybrid;

use rustls::Error;
use rustls::crypto::kx::{
    ActiveKeyExchange, CompletedKeyExchange, HybridLayout, NamedGroup, SharedSecret,
    StartedKeyExchange, SupportedKxGroup,
};

use self::encapsulation::Encapsulation;

impl<P: MlKemGroup> SupportedKxGroup for MlKem<P> {
    fn start(&self) -> Result<StartedKeyExchange, Error> {
        Ok(StartedKeyExchange::Single(self.encapsulation()?))
    }

    fn start_and_complete(&self, client_share: &[u8]) -> Result<CompletedKeyExchange, Error> {
        let (pub_key, secret) = self.answer(client_share)?;
        Ok(CompletedKeyExchange {
            group: self.name(),
            pub_key,
            secret,
        })
    }

    fn name(&self) -> NamedGroup {
        P::GROUP.into()
    }
}

impl<P: MlKemGroup> ActiveKeyExchange for Encapsulation<P> {
    fn complete(self: Box<Self>, server_share: &[u8]) -> Result<SharedSecret, Error> {
        Self::complete(&self, server_share)
    }

    fn pub_key(&self) -> &[u8] {
        self.client_share()
    }

    fn group(&self) -> NamedGroup {
        P::GROUP.into()
    }
}
