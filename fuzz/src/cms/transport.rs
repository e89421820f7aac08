//! What happens to a message between its writer and its reader.

use arbitrary::Arbitrary;

use super::message::Rewriting;
use super::streams::{Pace, through_pem};
use crate::Edit;
use crate::der::Element;

/// How a message is encoded again and changed before it is read.
#[derive(Arbitrary, Debug)]
pub struct Transport<'a> {
    rewriting: Rewriting,
    in_pem: bool,
    /// Changes to the bytes, after all else.
    edits: Vec<Edit<'a>>,
}

impl Transport<'_> {
    /// The message as it is read, and whether its bytes were changed at random. If it `is_trailed`, a byte follows it.
    pub fn carry(&self, message: Element, is_trailed: bool, pace: &Pace) -> (Vec<u8>, bool) {
        let mut message = self.rewriting.write(message);
        if self.in_pem {
            assert_eq!(through_pem(&message, pace), message);
        }
        if is_trailed {
            message.push(0);
        }
        let before = message.clone();
        for edit in &self.edits {
            edit.apply(&mut message);
        }
        let is_edited = message != before;
        (message, is_edited)
    }
}
