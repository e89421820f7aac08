//! Groups that are chosen by name, and groups that are unavailable.

use rustls::NamedGroup;
use rustls::crypto::{ActiveKeyExchange, SupportedKxGroup};
use rustls::ffdhe_groups::FfdheGroup;
use rustls_pq::{Builder, Error, Group, Profile};

use super::names;
use crate::peers::{any_base, bases};

#[test]
fn complete_list() {
    for (_, base) in bases() {
        let provider = Builder::new(base).profile(Profile::All).build().unwrap();
        assert_eq!(
            names(&provider),
            [
                Group::X25519MLKEM768,
                Group::X25519,
                Group::SECP256R1MLKEM768,
                Group::SECP384R1MLKEM1024,
                Group::MLKEM1024,
                Group::SECP256R1,
                Group::SECP384R1,
                Group::MLKEM512,
                Group::MLKEM768,
            ]
        );
    }
}

/// The order is the caller's, and a group that is named twice counts once.
#[test]
fn explicit_list() {
    let provider = Builder::new(any_base())
        .groups([
            Group::MLKEM1024,
            Group::SECP384R1,
            Group::MLKEM1024,
            Group::X25519MLKEM768,
        ])
        .build()
        .unwrap();
    assert_eq!(
        names(&provider),
        [Group::MLKEM1024, Group::SECP384R1, Group::X25519MLKEM768]
    );
}

/// A group of the base that this crate doesn't know.
#[test]
fn groups_of_the_base_are_kept() {
    let mut base = any_base();
    base.kx_groups.insert(0, &Exotic(0x6399));
    base.kx_groups.push(&Exotic(0x0201 /* MLKEM768 */));
    let default = Builder::new(base.clone()).build().unwrap();
    assert_eq!(
        names(&default)[7..],
        // A group that the base lists is in the default list, but as our implementation.
        [Group::MLKEM768, exotic()]
    );
    assert!(!is_exotic(default.kx_groups[7]));
    assert!(is_exotic(default.kx_groups[8]));

    let explicit = Builder::new(base.clone())
        .groups([exotic()])
        .build()
        .unwrap();
    assert_eq!(names(&explicit), [exotic()]);

    let strict = Builder::new(base)
        .profile(Profile::RequirePq)
        .build()
        .unwrap();
    assert!(!names(&strict).contains(&exotic()));
}

/// A hybrid needs its classical half; without it the base's own hybrid is used.
#[test]
fn missing_classical_half() {
    let mut base = any_base();
    base.kx_groups
        .retain(|group| group.name() != NamedGroup::secp384r1);
    let builder = Builder::new(base.clone());
    assert!(
        !builder
            .available_groups()
            .contains(&Group::SECP384R1MLKEM1024)
    );
    assert_eq!(
        names(&builder.clone().profile(Profile::Cnsa2).build().unwrap()),
        [Group::MLKEM1024]
    );

    let error = builder
        .groups([Group::X25519MLKEM768, Group::SECP384R1MLKEM1024])
        .build()
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the group SecP384r1MLKEM1024 is not available: the base provider lacks its classical \
         half, secp384r1; available are X25519MLKEM768, SecP256r1MLKEM768, MLKEM512, MLKEM768, \
         MLKEM1024, x25519, secp256r1"
    );

    base.kx_groups
        .push(&Exotic(0x11ed /* SecP384r1MLKEM1024 */));
    let provider = Builder::new(base)
        .groups([Group::SECP384R1MLKEM1024])
        .build()
        .unwrap();
    assert!(is_exotic(provider.kx_groups[0]));
}

#[test]
fn unknown_group() {
    let error = Builder::new(any_base())
        .groups([exotic()])
        .build()
        .unwrap_err();
    assert!(matches!(
        &error,
        Error::GroupUnavailable { group, needs: None, available }
            if *group == exotic() && available.len() == 9
    ));
    assert!(
        error
            .to_string()
            .starts_with("the group 0x6399 is not available: neither the base provider nor")
    );
}

#[test]
fn no_groups() {
    assert_eq!(
        Builder::new(any_base()).groups([]).build().unwrap_err(),
        Error::NoGroups
    );
    // Pure ML-KEM needs no classical half.
    let mut base = any_base();
    base.kx_groups.clear();
    let provider = Builder::new(base.clone()).build().unwrap();
    assert_eq!(names(&provider), [Group::MLKEM1024]);
    let provider = Builder::new(base).profile(Profile::All).build().unwrap();
    assert_eq!(
        names(&provider),
        [Group::MLKEM1024, Group::MLKEM512, Group::MLKEM768]
    );
}

/// A group that can only be listed.
#[derive(Debug)]
struct Exotic(u16);

fn exotic() -> Group {
    NamedGroup::from(0x6399).into()
}

fn is_exotic(group: &dyn SupportedKxGroup) -> bool {
    format!("{group:?}").starts_with("Exotic")
}

impl SupportedKxGroup for Exotic {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, rustls::Error> {
        Err(rustls::Error::General("not a real group".into()))
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }

    fn name(&self) -> NamedGroup {
        self.0.into()
    }
}
