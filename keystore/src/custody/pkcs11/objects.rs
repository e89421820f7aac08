//! Objects of a token are found, no more than were asked for.

use core::num::NonZeroUsize;

use cryptoki::error::Error;
use cryptoki::object::{Attribute, ObjectHandle};
use cryptoki::session::Session;

use super::failure::Failure;
use crate::custody::answers::InvalidAnswer;

/// How many there may be of which one is expected: whether it is one is all that matters.
pub(super) const FEW: NonZeroUsize = NonZeroUsize::new(64).unwrap();

/// The objects with these attributes, this many at most.
pub(super) fn find(
    session: &Session,
    wanted: &[Attribute],
    most: NonZeroUsize,
) -> Result<Vec<ObjectHandle>, Failure> {
    // All in one call of the module: after those, the iterator believes how many it said that it gave, and panics if these are
    // more than it was asked for.
    let found = session.iter_objects_with_cache_size(wanted, most)?;
    at_most(most, found, |handle| handle.handle() == 0)
}

/// What was found. Where the module said that it gave more than it did, there are none (`CK_INVALID_HANDLE`).
fn at_most<T>(
    most: NonZeroUsize,
    found: impl Iterator<Item = Result<T, Error>>,
    is_none: impl Fn(&T) -> bool,
) -> Result<Vec<T>, Failure> {
    found
        .take(most.get())
        .map(|one| match one? {
            one if is_none(&one) => {
                let reason = "it found objects that it doesn't have";
                Err(InvalidAnswer::Value(reason.into()).into())
            }
            one => Ok(one),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::custody::TokenError;

    /// An iterator that panics when it is asked for more than that many.
    fn found(handles: &[u64], most: NonZeroUsize) -> impl Iterator<Item = Result<u64, Error>> {
        let handles = handles.to_vec();
        (0..).map(move |index| {
            assert!(index < most.get(), "it was asked for one more");
            Ok(handles.get(index).copied().unwrap_or_default())
        })
    }

    #[test]
    fn a_module_may_say_any_number() {
        let most = NonZeroUsize::new(3).unwrap();
        let find = |handles| at_most(most, found(handles, most), |handle| *handle == 0);
        assert_eq!(find(&[7, 8, 9]).ok(), Some(vec![7, 8, 9]));
        let refused = find(&[7]).map_err(Failure::into_error);
        assert!(matches!(refused, Err(TokenError::Answer(_))));
    }
}
