//! Modules, each loaded and initialised once in a process, as PKCS#11 wants it.

use alloc::sync::Arc;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Instant;

use cryptoki::context::{CInitializeArgs, CInitializeFlags, Pkcs11};
use cryptoki::error::{Error, RvError};
use cryptoki::slot::Slot;

use super::failure::{describe, refused};
use super::options::Pkcs11Options;
use super::turn::Turn;
use crate::custody::{TokenError, TokenName};

/// The modules of this process. They stay loaded: other libraries of the process may use them, too, and finalising one would
/// end all their sessions.
static MODULES: Mutex<Option<HashMap<PathBuf, Arc<Module>>>> = Mutex::new(None);

/// A file that is a module, or may be one.
#[derive(Default)]
struct Module {
    loaded: OnceLock<Pkcs11>,
    /// Who loads and initialises it.
    loading: Turn,
}

/// That of this file.
fn module_of(file: PathBuf) -> Arc<Module> {
    let mut modules = MODULES.lock().unwrap_or_else(PoisonError::into_inner);
    let modules = modules.get_or_insert_default();
    modules.entry(file).or_default().clone()
}

/// What is said where another thread's call of a module hasn't returned.
pub(super) fn is_silent() -> TokenError {
    TokenError::Away("its module doesn't answer".into())
}

/// The module in this file, initialised. Other threads that do so are waited for until then.
pub(super) fn load(path: &Path, until: Instant) -> Result<Pkcs11, TokenError> {
    let failed = |reason: String| TokenError::Module {
        module: path.display().to_string(),
        reason,
    };
    let file = path
        .canonicalize()
        .map_err(|error| failed(error.to_string()))?;
    let module = module_of(file.clone());
    let _turn = module.loading.take(until).ok_or_else(is_silent)?;
    let loaded = match module.loaded.get() {
        Some(loaded) => loaded.clone(),
        None => Pkcs11::new(&file).map_err(|error| failed(describe(&error)))?,
    };
    // Another library of the process may have finalised it.
    match loaded.initialize(CInitializeArgs::new(CInitializeFlags::OS_LOCKING_OK)) {
        Ok(()) | Err(Error::Pkcs11(RvError::CryptokiAlreadyInitialized, _)) => {}
        Err(error) => return Err(failed(describe(&error))),
    }
    Ok(module.loaded.get_or_init(|| loaded).clone())
}

/// The slot where the token is now.
pub(super) fn slot_of(module: &Pkcs11, options: &Pkcs11Options) -> Result<Slot, TokenError> {
    let away = |error: &Error| match refused(error) {
        error @ TokenError::Refused(_) => TokenError::Away(error.to_string()),
        error => error,
    };
    let mut found = Vec::new();
    for slot in module
        .get_slots_with_token()
        .map_err(|error| away(&error))?
    {
        // The token of one slot may go while others are looked at.
        let info = match module.get_token_info(slot) {
            Ok(info) => info,
            Err(Error::Pkcs11(
                RvError::TokenNotPresent | RvError::DeviceRemoved | RvError::TokenNotRecognized,
                _,
            )) => continue,
            Err(error) => return Err(away(&error)),
        };
        let label = info.label().to_owned();
        found.push((slot, label, info.serial_number().to_owned()));
    }
    chosen(found, options)
}

/// That with the label and serial number of the options, of things with theirs. Without a serial number, it has to be the only
/// one with its label, and with one that gives the same name in a store.
fn chosen<T>(found: Vec<(T, String, String)>, options: &Pkcs11Options) -> Result<T, TokenError> {
    let name = TokenName::of_label(&options.label).ok();
    let (mut wanted, mut alike) = (Vec::new(), None);
    for (thing, label, serial) in found {
        let is_chosen = options.serial.as_ref().map(|chosen| *chosen == serial);
        if label == options.label && is_chosen != Some(false) {
            wanted.push(thing);
        } else if is_chosen.is_none() && name.is_some() && TokenName::of_label(&label).ok() == name
        {
            alike = Some(label);
        }
    }
    if let (false, Some(alike)) = (wanted.is_empty(), &alike) {
        return Err(TokenError::Refused(format!(
            "the labels {:?} and {alike:?} are alike, and give one name in a store; name the serial number, too",
            options.label
        )));
    }
    match (wanted.pop(), wanted.len()) {
        (Some(thing), 0) => Ok(thing),
        (None, _) => Err(TokenError::Away(format!(
            "no slot has a token {:?}",
            options.label
        ))),
        (_, others) => Err(TokenError::Refused(format!(
            "{} slots have a token {:?}; name its serial number, too",
            others + 1,
            options.label
        ))),
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::*;

    /// A store knows tokens by names, of which labels that are alike give one.
    #[test]
    fn tokens_of_one_name_are_told_apart_by_number() {
        let tokens = |labels: &[&str]| {
            let named = labels.iter().zip(1_u8..);
            named
                .map(|(label, number)| (number, (*label).to_owned(), number.to_string()))
                .collect::<Vec<_>>()
        };
        let options = Pkcs11Options::new("module", "Shop A");
        for (labels, without, second) in [
            (&["other", "Shop A"][..], Ok(2), Ok(2)),
            (&["shop-a", "Shop A"], Err("token"), Ok(2)),
            (&["Shop A", "Shop A"], Err("token"), Ok(2)),
            (&["Shop A", "shop-a"], Err("token"), Err("token-away")),
            (&["shop-a"], Err("token-away"), Err("token-away")),
            (&[], Err("token-away"), Err("token-away")),
        ] {
            let code = |error: TokenError| error.code();
            let found = chosen(tokens(labels), &options).map_err(code);
            assert_eq!(found, without, "{labels:?}");
            let numbered = chosen(tokens(labels), &options.clone().serial("2"));
            assert_eq!(numbered.map_err(code), second, "{labels:?}");
        }
    }

    /// A module whose initialisation hangs stops no other one, and those who want it no longer than they wait.
    #[test]
    fn a_module_that_hangs_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let files = ["hanging", "other"].map(|name| {
            let file = folder.path().join(name);
            std::fs::write(&file, b"no library").unwrap();
            file.canonicalize().unwrap()
        });
        let code = |file| {
            let until = Instant::now() + Duration::from_millis(50);
            load(file, until).map(drop).unwrap_err().code()
        };
        let module = module_of(files[0].clone());
        let hanging = module.loading.take(Instant::now());
        assert_eq!(code(&files[0]), "token-away");
        assert_eq!(code(&files[1]), "token-module");
        drop(hanging);
        assert_eq!(code(&files[0]), "token-module");
    }
}
