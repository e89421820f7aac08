//! Where the ledger of a CA's folder is: in the folder, or elsewhere, as in a database that several machines share.

use alloc::sync::Arc;
use core::fmt;
use core::ops::ControlFlow;
use std::path::{Path, PathBuf};

use super::error::FolderError;
use super::reading::Owner;
use super::{JOURNAL, LEDGER, LEDGER_FILE, is_taken, is_there};
use crate::ledger::{Filter, Ledger, LedgerError, LocalLedger};

/// A ledger outside of the CA's folder, and how it is opened.
///
/// ```
/// use std::sync::Arc;
///
/// # use pq_ca::ledger::LocalLedger;
/// use pq_ca::folder::{Constraints, Folder, Interruption, KeyPlan, LedgerPlace, Plan, Role};
/// use pq_ca::policy::Policy;
/// # use pq_x509::pki_types::UnixTime;
/// # use pq_x509::keys::{SignatureAlgorithm, SigningKey};
/// # use core::time::Duration;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let above = tempfile::tempdir()?;
/// # let path = above.path().join("ca");
/// # let key = || SigningKey::generate(SignatureAlgorithm::MlDsa44);
/// # let key = |years| key().map(|key| KeyPlan { key, validity: years * Duration::from_secs(31_536_000) });
/// # let plan = Plan {
/// #     name: "Example CA".into(),
/// #     root: key(20)?,
/// #     issuing: Some(key(5)?),
/// #     constraints: Constraints::default(),
/// #     policy: Policy::default_text(&[".example.org".parse()?], &[], &[]),
/// # };
/// # let now = UnixTime::now();
/// # let in_database = LocalLedger::create(above.path().join("database"))?;
/// // `in_database` is any `Ledger`, and is shared by all who use it.
/// let ledger = Arc::new(in_database);
/// let place = LedgerPlace::new("the database ca", move || Ok(Arc::clone(&ledger)));
/// Folder::create_with_ledger(&path, &plan, place.clone(), "alice", now, &Interruption::default())?;
///
/// // On each machine that has the folder:
/// let folder = Folder::open(&path)?.with_ledger(place);
/// let authority = folder.authority::<SigningKey>(Role::Issuing)?;
/// # let _ = authority;
/// # Ok(())
/// # }
/// ```
pub struct LedgerPlace<L> {
    /// For errors.
    place: PathBuf,
    /// What the folder remembers of it.
    address: Option<String>,
    open: Arc<Open<L>>,
}

type Open<L> = dyn Fn() -> Result<L, FolderError> + Send + Sync;

impl<L: Ledger> LedgerPlace<L> {
    /// A ledger that `open` opens, each time that the folder is asked for it. Errors say that the ledger is in `place`.
    pub fn new(
        place: impl Into<PathBuf>,
        open: impl Fn() -> Result<L, LedgerError> + Send + Sync + 'static,
    ) -> Self {
        Self {
            place: place.into(),
            address: None,
            open: Arc::new(move || Ok(open()?)),
        }
    }

    /// The same, of which a [new folder](super::Folder::create_with_ledger) remembers the address, so that whoever opens the
    /// folder finds it: see [`Folder::ledger_address`](super::Folder::ledger_address). There must be no secret in it.
    #[must_use]
    pub fn remembered_as(mut self, address: &str) -> Self {
        self.address = Some(address.into());
        self
    }

    pub(super) fn open(&self) -> Result<L, FolderError> {
        (self.open)()
    }

    /// The ledger, if nothing is in it.
    pub(super) fn open_empty(&self) -> Result<L, FolderError> {
        let ledger = self.open()?;
        let mut is_empty = true;
        ledger.find(&Filter::all().limit(1), &mut |_| {
            is_empty = false;
            ControlFlow::Break(())
        })?;
        match is_empty {
            true => Ok(ledger),
            false => Err(FolderError::UsedLedger(self.place.clone())),
        }
    }
}

impl<L: Ledger + 'static> LedgerPlace<L> {
    /// The same ledger of a type that all ledgers have.
    pub(super) fn any(self) -> LedgerPlace<Arc<dyn Ledger>> {
        let open = self.open;
        LedgerPlace {
            place: self.place,
            address: self.address,
            open: Arc::new(move || Ok(Arc::new(open()?))),
        }
    }
}

impl LedgerPlace<LocalLedger> {
    /// The ledger in a CA's folder with this owner.
    pub(super) fn in_folder(folder: &Path, owner: Owner) -> Self {
        let (place, elsewhere) = (folder.join(LEDGER), folder.join(LEDGER_FILE));
        Self {
            place: place.clone(),
            address: None,
            open: Arc::new(move || {
                if is_taken(&elsewhere)? {
                    return Err(FolderError::LedgerElsewhere(elsewhere.clone()));
                }
                owner.check_folder(&place)?;
                for needed in [place.clone(), place.join(JOURNAL)] {
                    if !is_there(&needed)? {
                        return Err(FolderError::Missing(needed));
                    }
                }
                Ok(LocalLedger::open(&place)?)
            }),
        }
    }
}

impl<L> LedgerPlace<L> {
    pub(super) fn path(&self) -> &Path {
        &self.place
    }

    pub(super) fn address(&self) -> Option<&str> {
        self.address.as_deref()
    }
}

impl<L> Clone for LedgerPlace<L> {
    fn clone(&self) -> Self {
        Self {
            place: self.place.clone(),
            address: self.address.clone(),
            open: Arc::clone(&self.open),
        }
    }
}

impl<L> fmt::Debug for LedgerPlace<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LedgerPlace").field(&self.place).finish()
    }
}
