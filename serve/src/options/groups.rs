//! The help text of options for key exchange groups, which lists those that are available and those of the default.

use rustls_pq::{Builder, Group};

use crate::provider::names;

/// The help text of an option that takes groups: its purpose, and the groups.
pub fn groups_help(purpose: &str) -> String {
    let Ok(builder) = Builder::with_default_base() else {
        // Running the program says why.
        return purpose.into();
    };
    let available = builder.available_groups();
    let default: Vec<Group> = builder.build().map_or_else(
        |_| Vec::new(),
        |provider| {
            let groups = provider.kx_groups.iter();
            groups.map(|group| group.name().into()).collect()
        },
    );
    format!(
        "{purpose}\n\navailable: {}\ndefault, with the profile \"default\": {}",
        names(&available, ", "),
        names(&default, ", ")
    )
}
