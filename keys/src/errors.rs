//! What all errors share: how they include their causes, and how their messages show text that anybody may
//! have written.

use core::fmt;

/// Converts causes to errors, for variants whose text includes the text of the cause.
///
/// `#[from]` makes the cause the `source()` as well, and a program that prints an error and its
/// sources, one after another, would print the cause twice.
#[doc(hidden)]
#[macro_export]
macro_rules! from_causes {
    ($error:ty: $($variant:ident($cause:ty)),+) => {$(
        impl From<$cause> for $error {
            fn from(cause: $cause) -> Self {
                Self::$variant(cause)
            }
        }
    )+};
}
#[doc(hidden)]
pub use from_causes;

/// Makes a name safe for messages, whoever chose it: cuts it off, and escapes what starts a line or moves a
/// cursor.
pub fn describe(name: impl fmt::Display) -> String {
    let mut description = String::new();
    for (index, character) in name.to_string().chars().enumerate() {
        match character {
            _ if index == MAX_DESCRIBED => {
                description.push_str("...");
                break;
            }
            ' '..='~' => description.push(character),
            _ => description.extend(character.escape_debug()),
        }
    }
    description
}

/// How many characters of a name are in a message.
const MAX_DESCRIBED: usize = 256;
