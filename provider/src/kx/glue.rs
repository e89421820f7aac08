//! ML-KEM through the traits of rustls 0.23.

use rustls::crypto::{ActiveKeyExchange, CompletedKeyExchange, SharedSecret, SupportedKxGroup};
use rustls::ffdhe_groups::FfdheGroup;
use rustls::{Error, NamedGroup, ProtocolVersion};

use super::encapsulation::Encapsulation;
use super::{MlKem, MlKemGroup};

impl<P: MlKemGroup> SupportedKxGroup for MlKem<P> {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        Ok(self.encapsulation()?)
    }

    fn start_and_complete(&self, client_share: &[u8]) -> Result<CompletedKeyExchange, Error> {
        let (pub_key, secret) = self.answer(client_share)?;
        Ok(CompletedKeyExchange {
            group: self.name(),
            pub_key,
            secret,
        })
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }

    fn name(&self) -> NamedGroup {
        P::GROUP.into()
    }

    fn usable_for_version(&self, version: ProtocolVersion) -> bool {
        version == ProtocolVersion::TLSv1_3
    }
}

impl<P: MlKemGroup> ActiveKeyExchange for Encapsulation<P> {
    fn complete(self: Box<Self>, server_share: &[u8]) -> Result<SharedSecret, Error> {
        Self::complete(&self, server_share)
    }

    fn pub_key(&self) -> &[u8] {
        self.client_share()
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }

    fn group(&self) -> NamedGroup {
        P::GROUP.into()
    }
}
