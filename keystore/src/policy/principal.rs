//! Who asks.

use alloc::sync::Arc;
use core::borrow::Borrow;
use core::fmt;
use core::str::FromStr;

/// The most characters of a principal's name.
const MAX_LEN: usize = 128;

/// The name of [`Principal::auto_rotate`].
const AUTO_ROTATE: &str = "auto-rotate";

/// Who asks for something: a name, which the caller has authenticated, such as the subject of a client's certificate.
///
/// A name has 1 to 128 characters of visible ASCII, and is not `*`, which in [`Grants`](super::Grants) is everybody.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Principal(Arc<str>);

impl Principal {
    /// The principal with this name.
    ///
    /// # Errors
    ///
    /// If it is no name.
    pub fn new(name: &str) -> Result<Self, InvalidPrincipal> {
        let is_visible = name.bytes().all(|byte| byte.is_ascii_graphic());
        if name.is_empty() || name.len() > MAX_LEN || !is_visible || name == "*" {
            return Err(InvalidPrincipal);
        }
        Ok(Self(name.into()))
    }

    /// Who rotates keys when they are due: a server, by itself. It may do that, and nothing else, without a grant, since
    /// whoever set `rotate_after` of a key's [`Policy`](super::Policy) wanted it.
    #[cfg(feature = "door")]
    pub(crate) fn auto_rotate() -> Self {
        Self(AUTO_ROTATE.into())
    }

    /// Whether it is the one that rotates keys when they are due.
    pub(crate) fn is_auto_rotate(&self) -> bool {
        self.as_str() == AUTO_ROTATE
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for Principal {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Principal {
    type Err = InvalidPrincipal;

    fn from_str(name: &str) -> Result<Self, InvalidPrincipal> {
        Self::new(name)
    }
}

/// A text that is no principal's name.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("a principal's name has 1 to {MAX_LEN} characters of visible ASCII, and is not \"*\"")]
pub struct InvalidPrincipal;
