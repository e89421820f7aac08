//! The two names that OpenSSH has used for ML-DSA-44 with Ed25519, the only algorithm of this crate.

use core::fmt;

/// The name that a file has for the algorithm.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum KeyName {
    /// `ssh-mldsa44-ed25519`, the name in the draft and in OpenSSH from 10.6 on.
    #[default]
    Standard,
    /// `ssh-mldsa44-ed25519@openssh.com`, the name in OpenSSH up to 10.5.
    OpenSsh,
}

impl KeyName {
    /// Both names.
    pub const ALL: &'static [Self] = &[Self::Standard, Self::OpenSsh];

    /// The name as text.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Standard => "ssh-mldsa44-ed25519",
            Self::OpenSsh => "ssh-mldsa44-ed25519@openssh.com",
        }
    }

    pub(super) fn read(name: &[u8]) -> Option<Self> {
        let mut all = Self::ALL.iter().copied();
        all.find(|known| known.as_str().as_bytes() == name)
    }
}

impl fmt::Display for KeyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
