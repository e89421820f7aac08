//! How public values are compared and shown: the macro `public_bytes!` is for the keys, ciphertexts and signatures that
//! are plain bytes.

use core::fmt;

/// Shows bytes in hexadecimal, for `Debug` of public values.
pub(crate) struct Hex<'a>(pub(crate) &'a [u8]);

impl fmt::Debug for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// The traits that types of public bytes share: two values are equal if their bytes are, and
/// `Debug` shows the bytes after the name of the parameter set.
macro_rules! public_bytes {
    ($name:ident) => {
        impl<P: ParameterSet> Eq for $name<P> {}

        impl<P: ParameterSet> PartialEq for $name<P> {
            fn eq(&self, other: &Self) -> bool {
                self.as_bytes() == other.as_bytes()
            }
        }

        impl<P: ParameterSet> core::fmt::Debug for $name<P> {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                let bytes = $crate::hex::Hex(self.as_bytes());
                write!(f, concat!(stringify!($name), "<{}>({:?})"), P::NAME, bytes)
            }
        }
    };
}
pub(crate) use public_bytes;
