//! The provider for a profile and groups, as options name them.

use std::sync::Arc;

use rustls::crypto::CryptoProvider;
use rustls_pq::{Builder, Error, Group, Profile};

/// The provider for a profile; `groups`, if there are any, take the place of those that the
/// profile lists.
///
/// # Errors
///
/// [`Error`] if a group does not exist or the profile excludes it, or the CPU lacks what the classical
/// algorithms need.
pub fn provider(profile: Profile, groups: &[Group]) -> Result<Arc<CryptoProvider>, Error> {
    Ok(provider_builder(profile, groups)?.build()?.into())
}

/// The builder that [`provider`] uses, for more choices.
///
/// # Errors
///
/// [`Error`] if the CPU lacks what the classical algorithms need.
pub fn provider_builder(profile: Profile, groups: &[Group]) -> Result<Builder, Error> {
    let builder = Builder::with_default_base()?.profile(profile);
    Ok(match groups {
        [] => builder,
        _ => builder.groups(groups.iter().copied()),
    })
}

/// The names of the groups with something between them.
pub(crate) fn names(groups: &[Group], separator: &str) -> String {
    let names: Vec<_> = groups.iter().map(Group::to_string).collect();
    names.join(separator)
}
