//! Files that must not be lost, and private ones that others must not see: each appears under its name when it is
//! complete, or not at all, and is on the disk then. All writers of private keys are to use it.
//!
//! * [`write_new()`] writes a file that must not be there yet, and [`write_over()`] one in place of another.
//! * [`write_in_draft()`] writes a file of a folder that gets its own name last, by [`put_in_place()`].
//! * [`read_private()`] and [`read_private_line()`] read files with secrets, and refuse those that others may read.
//! * A [`Draft`] is for programs with steps of their own between writing and naming.
//!
//! A draft is beside its destination. No link is followed: a file takes the place of a link and not of what it leads to.
//!
//! On Unix nobody but its owner, and root, can read a [private](Access::Private) file, nor its draft, from the first byte
//! on; only one that [takes the place](Draft::take_over) of a file for its owner and group is for these in the end. Names are on the disk when folders are synced. On other systems a folder can't be opened as a file, and its
//! permissions say who may read what is in it, private or not.
//!
//! ```
//! use pq_keys::files::{Access, FileError, write_new};
//! use pq_keys::{SignatureAlgorithm, SigningKey};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("a.key");
//! let key = SigningKey::generate(SignatureAlgorithm::MlDsa65)?.to_pkcs8_pem()?;
//! write_new(&path, key.as_bytes(), Access::Private)?;
//!
//! let again = write_new(&path, key.as_bytes(), Access::Private);
//! assert!(matches!(again, Err(FileError::Exists { .. })));
//! # Ok(())
//! # }
//! ```
//!
//! It uses [`random`](crate::random).

mod access;
mod disk;
mod draft;
mod error;
mod leftover;
mod private;
mod whole;

pub use access::Access;
#[cfg(any(test, feature = "files-steps"))]
#[doc(hidden)]
pub use disk::steps;
pub use disk::{folder_of, put_in_place, rename_over, sync_folder};
pub use draft::Draft;
// For pqtls, which makes drafts of folders.
#[doc(hidden)]
pub use draft::PREFIX;
pub use error::FileError;
pub use private::{credential_file, read_private, read_private_line};
pub use whole::{write_in_draft, write_new, write_over};
