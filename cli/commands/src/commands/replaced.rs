//! Says what a command reads, of which no result takes the place. It looks at the command line, so that each command is guarded,
//! before it does anything. What else no result replaces, and how all that is checked, stands in [`files`].

use core::any::{Any, TypeId};
use std::env;
use std::io::ErrorKind;
use std::path::PathBuf;

use clap::ArgMatches;
use pq_ca_server::ListSource;

use super::ca::{self, ObjectsPlace, Which};
use super::custody::{KeySource, StorePlace, TransitKey};
use crate::failure::Failure;
use crate::files::{self, Destination, NameToWrite, Source};
use crate::kind;
use crate::passphrases::Descriptor;

/// The environment variables that name files which a command reads, beside its command line.
const FILES: [&str; 6] = [
    "PQTLS_STORE_KEK",
    "PQTLS_PIN_FILE",
    "PQTLS_PKCS11_MODULE",
    "PQTLS_STORE",
    "PGPASSFILE",
    "VAULT_CACERT",
];

/// Refuses a result that would take the place of a file which the command reads, and has the files know what to keep.
pub(super) fn check(matches: &ArgMatches) -> Result<(), Failure> {
    let (mut command, mut matches) = (Vec::new(), matches);
    while let Some((name, of_command)) = matches.subcommand() {
        command.push(name);
        matches = of_command;
    }
    let command = command.join(" ");
    let ids = || matches.ids().map(clap::Id::as_str);
    let written: Vec<Destination> = ids().flat_map(|id| all(matches, id, &writing())).collect();
    if MAY_PUT_BACK.contains(&&*command) {
        written.iter().for_each(release_if_free);
    }
    let mut read = Vec::new();
    for id in ids() {
        for source in all(matches, id, &reading()) {
            let same = written.iter().filter(|to| files::is_one_file(to, &source));
            match same.clone().next() {
                Some(_) if may_be_replaced(&command, id, matches, same) => {}
                _ => read.push(source),
            }
        }
    }
    let named = FILES.into_iter().filter_map(env::var_os);
    read.extend(named.map(|file| Source::File(file.into())));
    if let Some(key) = TransitKey::in_variable("PQTLS_STORE_KEK") {
        read.extend(key.token_file().into_iter().chain(key.root_file()));
    }
    files::keep_inputs(&read);
    // Links of the CA that would be used now may lead elsewhere.
    files::keep_possible_ca(&ca::folder_by_default());
    Ok(written.iter().try_for_each(files::check_inputs)?)
}

/// The commands by which a key of a CA comes back to a folder from where it is kept, perhaps under another passphrase.
const MAY_PUT_BACK: [&str; 3] = ["key encrypt", "key decrypt", "key convert"];

/// Lets a result have the name of a key, also of a CA's, where nothing is.
fn release_if_free(to: &Destination) {
    if let Destination::File(path) = to
        && path.extension().is_some_and(|kind| kind == "key")
        && matches!(path.symlink_metadata(), Err(error) if error.kind() == ErrorKind::NotFound)
    {
        files::release(path);
    }
}

/// Whether a command may write its result over what an argument names, since it has all of that.
fn may_be_replaced<'d>(
    command: &str,
    id: &str,
    matches: &ArgMatches,
    to: impl Iterator<Item = &'d Destination>,
) -> bool {
    match (command, id) {
        // It has no seed.
        ("key encrypt", "file") if is_expanded(matches) => false,
        ("key encrypt" | "key decrypt", "file") => to.into_iter().all(|to| {
            let is_one = files::is_all(to, kind::is_one_private_key);
            // The key of a CA gets another passphrase.
            if let Destination::File(path) = to
                && is_one
            {
                files::release(path);
            }
            is_one
        }),
        // It looks for each certificate in its ledger.
        ("ca renew", "which") => true,
        _ => false,
    }
}

fn is_expanded(matches: &ArgMatches) -> bool {
    let mut form = matches.get_raw("form").into_iter().flatten();
    form.any(|form| form == "expanded")
}

/// Takes files from the values of an argument that are of one type.
type OfType<F> = (TypeId, Box<dyn Fn(&ArgMatches, &str) -> Vec<F>>);

/// The types of arguments that name what is read.
fn reading() -> Vec<OfType<Source>> {
    vec![
        of_type(|source: &Source| Some(source.clone())),
        of_type(KeySource::file),
        of_type(Which::file),
        of_type(StorePlace::file),
        of_type(ObjectsPlace::file),
        of_type(TransitKey::token_file),
        of_type(TransitKey::root_file),
        of_type(|list: &ListSource| list.file().map(|path| Source::File(path.into()))),
        of_type(|descriptor: &Descriptor| Some(descriptor.source())),
        // Or a folder, whose files results may join.
        of_type(|path: &PathBuf| Some(Source::File(path.clone()))),
    ]
}

/// The types of arguments that name what is written.
fn writing() -> Vec<OfType<Destination>> {
    vec![
        of_type(|to: &Destination| Some(to.clone())),
        of_type(|name: &NameToWrite| Some(name.destination())),
    ]
}

fn of_type<T: Any + Clone + Send + Sync, F>(file: impl Fn(&T) -> Option<F> + 'static) -> OfType<F> {
    let values = move |matches: &ArgMatches, id: &str| {
        // clap's groups have no values, and other arguments those of another type.
        let found = matches.try_get_many::<T>(id).ok().flatten();
        found.into_iter().flatten().filter_map(&file).collect()
    };
    (TypeId::of::<T>(), Box::new(values))
}

/// All files that an argument's values name.
fn all<F>(matches: &ArgMatches, id: &str, types: &[OfType<F>]) -> Vec<F> {
    types
        .iter()
        .flat_map(|(_, values)| values(matches, id))
        .collect()
}

#[cfg(all(test, debug_assertions))]
mod tests {
    use clap::{ArgAction, Command, CommandFactory};

    use super::*;
    use crate::commands::Arguments;

    /// The types of values that name no file, beside names to choose from.
    const OTHERS: &[&str] = &[
        "alloc::string::String",
        "core::net::socket_addr::SocketAddr",
        "core::time::Duration",
        "f64",
        "pq_acme::identifier::Identifier",
        "pq_ca::folder::Role",
        "pq_ca::policy::values::list_url::ListUrl",
        "pq_ca::policy::values::network::Network",
        "pq_keystore::name::KeyId",
        "pq_keystore::name::KeyName",
        "pq_keystore::policy::principal::Principal",
        "pq_serving::sockets::listener::ListenAddress",
        "pq_x509::certificate::names::AlternativeName",
        "pqtls_commands::arguments::context::Context",
        "pqtls_commands::arguments::name::Subject",
        "pqtls_commands::arguments::name_server::NameServer",
        "pqtls_commands::commands::ca::acme_objects::AccountId",
        "pqtls_commands::commands::ca::ca_key::KeyNames",
        "pqtls_commands::commands::ca::init::Domain",
        "pqtls_commands::commands::ca::move_ledger::Target",
        "pqtls_commands::commands::ca::serve::ServerUrl",
        "pqtls_commands::commands::cert::verify::ExpectedName",
        "pqtls_commands::commands::custody::key_name::KeyLabel",
        "pqtls_commands::commands::custody::key_name::KeyOrVersion",
        "pqtls_commands::commands::custody::key_name::KeyVersion",
        "pqtls_commands::commands::servers::postgres::DatabaseAddress",
        "pqtls_commands::commands::store::arguments::Grant",
        "pqtls_commands::commands::store::serve::Mount",
        "rustls_pki_types::UnixTime",
        "u16",
        "u32",
        "u64",
        "u8",
        "usize",
    ];

    /// What each command's arguments have of none of these types. Only debug builds know the types' names.
    fn visit(command: &Command, unknown: &mut Vec<String>) {
        for argument in command.get_arguments() {
            let parser = argument.get_value_parser();
            let id = parser.type_id();
            let names_file = reading().iter().any(|(known, _)| id == *known)
                || writing().iter().any(|(known, _)| id == *known);
            let is_other =
                parser.possible_values().is_some() || OTHERS.contains(&&*format!("{id:?}"));
            let mut names = argument.get_value_names().unwrap_or_default().iter();
            let is_known = names_file || is_other && !names.any(|name| name == "FILE");
            let takes_value = matches!(argument.get_action(), ArgAction::Set | ArgAction::Append);
            if takes_value && !is_known {
                unknown.push(format!(
                    "{} {}: {id:?}",
                    command.get_name(),
                    argument.get_id()
                ));
            }
        }
        command
            .get_subcommands()
            .for_each(|command| visit(command, unknown));
    }

    /// A new type of arguments says whether it names what is read, what is written, or neither.
    #[test]
    fn the_guard_knows_the_type_of_every_argument() {
        let mut unknown = Vec::new();
        visit(&Arguments::command(), &mut unknown);
        assert_eq!(unknown, Vec::<String>::new());
    }
}
