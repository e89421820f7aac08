//! Modules, each loaded and initialised once in a process, as PKCS#11 wants it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use cryptoki::context::{CInitializeArgs, CInitializeFlags, Pkcs11};
use cryptoki::error::{Error, RvError};
use cryptoki::slot::Slot;

use super::failure::{describe, refused};
use super::options::Pkcs11Options;
use crate::custody::TokenError;

/// The modules of this process. They stay loaded: other libraries of the process may use them, too, and finalising one would
/// end all their sessions.
static MODULES: Mutex<Option<HashMap<PathBuf, Pkcs11>>> = Mutex::new(None);

/// The module in this file, initialised.
pub(super) fn load(path: &Path) -> Result<Pkcs11, TokenError> {
    let failed = |reason: String| TokenError::Module {
        module: path.display().to_string(),
        reason,
    };
    let file = path
        .canonicalize()
        .map_err(|error| failed(error.to_string()))?;
    let mut modules = MODULES.lock().unwrap_or_else(PoisonError::into_inner);
    let modules = modules.get_or_insert_default();
    let module = match modules.get(&file) {
        Some(module) => module.clone(),
        None => Pkcs11::new(&file).map_err(|error| failed(describe(&error)))?,
    };
    // Another library of the process may have finalised it.
    match module.initialize(CInitializeArgs::new(CInitializeFlags::OS_LOCKING_OK)) {
        Ok(()) | Err(Error::Pkcs11(RvError::CryptokiAlreadyInitialized, _)) => {}
        Err(error) => return Err(failed(describe(&error))),
    }
    modules.insert(file, module.clone());
    Ok(module)
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
        let is_wanted = info.label() == options.label
            && options
                .serial
                .as_ref()
                .is_none_or(|serial| info.serial_number() == serial);
        if is_wanted {
            found.push(slot);
        }
    }
    match found[..] {
        [slot] => Ok(slot),
        [] => Err(TokenError::Away(format!(
            "no slot has a token {:?}",
            options.label
        ))),
        _ => Err(TokenError::Refused(format!(
            "{} slots have a token {:?}; name its serial number, too",
            found.len(),
            options.label
        ))),
    }
}
