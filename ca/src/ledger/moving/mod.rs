//! Ledgers that are carried from one place to another, with a proof that nothing is missing.
//!
//! 1. The target, which has to be empty, is marked as arriving: nobody uses it.
//! 2. The source is marked as leaving: it answers, and is changed by nobody.
//! 3. All records are written to the target, and read from there again. Their digests have to be the same.
//! 4. The source is marked as left: it neither answers nor changes from here on, and says where it went.
//! 5. The target is in force.
//!
//! Whoever was interrupted before 4 can take it back; whoever does the same again goes on, from 3 on with an empty target, and
//! after 4 with the rest. Marks are compared and changed in one step, and each attempt has a number of its own, so of two that
//! go on at once, one is refused.

// It uses the rest of its room: entry, error, generation, serial_number and the trait.

mod digest;
mod records;
mod standing;
#[cfg(all(test, unix))]
mod tests;

pub use self::records::{KeptEntry, KeptLists, KeptRevocation, Rest};
pub(in crate::ledger) use self::standing::Use;
pub use self::standing::{Move, MoveId, Standing};

use self::digest::Sum;
use super::Ledger;
use super::audit::Deed;
use super::error::LedgerError;
use super::serial_number::SerialNumber;

/// A ledger that can be moved to another place, or that another one can be moved to.
pub trait Movable: Ledger {
    /// What it is, for people to read.
    fn description(&self) -> String;

    /// Whether it is in force.
    ///
    /// # Errors
    ///
    /// If the ledger can't be read.
    fn standing(&self) -> Result<Standing, LedgerError>;

    /// Changes the standing if it is as before.
    ///
    /// # Errors
    ///
    /// [`LedgerError::OtherMove`] if it is another one, and others if the ledger can't be written.
    fn change_standing(&self, before: &Standing, after: &Standing) -> Result<(), LedgerError>;

    /// Makes the ledger one that arrives, if its standing is as before. One that was arriving is emptied.
    ///
    /// # Errors
    ///
    /// [`LedgerError::NotEmpty`] if it is in force and has records, [`LedgerError::OtherMove`] if its standing is another
    /// one, and others if the ledger can't be written.
    fn receive(&self, before: &Standing, arriving: &Move) -> Result<(), LedgerError>;

    /// Some entries after this number, in the order of the numbers' bytes; none after the last one.
    ///
    /// # Errors
    ///
    /// If the ledger can't be read.
    fn entries_after(&self, after: Option<&SerialNumber>) -> Result<Vec<KeptEntry>, LedgerError>;

    /// What there is besides entries and history.
    ///
    /// # Errors
    ///
    /// If the ledger can't be read.
    fn rest(&self) -> Result<Rest, LedgerError>;

    /// Shows what was done, in its order, some at a time.
    ///
    /// # Errors
    ///
    /// If the ledger can't be read, and those of `show`.
    fn history(
        &self,
        show: &mut dyn FnMut(Vec<Deed>) -> Result<(), LedgerError>,
    ) -> Result<(), LedgerError>;

    /// Writes entries while it arrives.
    ///
    /// # Errors
    ///
    /// [`LedgerError::OtherMove`] if it doesn't arrive by this move, and others if the ledger can't be written.
    fn put_entries(&self, by: &Move, entries: &[KeptEntry]) -> Result<(), LedgerError>;

    /// Writes more of the history while it arrives.
    ///
    /// # Errors
    ///
    /// Those of [`put_entries`](Self::put_entries).
    fn put_history(&self, by: &Move, history: &[Deed]) -> Result<(), LedgerError>;

    /// Writes the rest while it arrives, once.
    ///
    /// # Errors
    ///
    /// Those of [`put_entries`](Self::put_entries).
    fn put_rest(&self, by: &Move, rest: &Rest) -> Result<(), LedgerError>;
}

/// What was moved.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Moved {
    /// The SHA-256 digest over all records in their order, which both ledgers have.
    pub digest: [u8; 32],
    /// How many certificates there are.
    pub entries: u64,
    /// How many events the history has.
    pub events: u64,
}

/// Moves a ledger to another, or goes on with that. `from_name` and `to_name` say where they are, for those who ask the other one.
///
/// # Errors
///
/// [`LedgerError::NotEmpty`], [`LedgerError::Differs`] if the records that are read from the target are others, after which
/// the source is still leaving, [`LedgerError::OtherMove`] if another move was begun with one of them, and others if one
/// can't be read or written.
pub fn move_ledger(
    from: &dyn Movable,
    to: &dyn Movable,
    from_name: &str,
    to_name: &str,
) -> Result<Moved, LedgerError> {
    let attempt = MoveId::random()?;
    let (source, there) = (from.standing()?, to.standing()?);
    match &there {
        Standing::Arriving(begun) if begun.other != from_name => {
            return Err(there.refusal(to.description()));
        }
        Standing::InForce { .. } | Standing::Arriving(_) => {}
        Standing::Leaving(_) | Standing::Left(_) => return Err(there.refusal(to.description())),
    }
    let target = match &source {
        Standing::InForce { .. } | Standing::Leaving(_) => MoveId::random()?,
        Standing::Left(left) => left.target,
        Standing::Arriving(_) => return Err(source.refusal(from.description())),
    };
    let arriving = Move::new(from_name, target, attempt);
    let leaving = Move::new(to_name, target, attempt);
    match (&source, &there) {
        (Standing::InForce { .. }, Standing::InForce { .. }) => {
            to.receive(&there, &arriving)?;
            from.change_standing(&source, &Standing::Leaving(leaving.clone()))?;
        }
        (Standing::Left(_), Standing::InForce { came_by }) => {
            return match *came_by == Some(target) {
                true => sum_of(from),
                // What was in force there may have been lost: older records must not take its place.
                false => Err(source.refusal(from.description())),
            };
        }
        (Standing::Left(_), Standing::Arriving(begun)) if begun.target == target => {
            let read = sum_of(from)?;
            check_same(to, &read)?;
            put_in_force(to, &there, target)?;
            return Ok(read);
        }
        (Standing::Left(_), _) => return Err(source.refusal(from.description())),
        // Whoever was at it before is told that it is not any more, before the target is emptied.
        _ => {
            from.change_standing(&source, &Standing::Leaving(leaving.clone()))?;
            to.receive(&there, &arriving)?;
        }
    }
    let read = copy(from, to, &arriving)?;
    check_same(to, &read)?;
    let before = Standing::Leaving(leaving.clone());
    from.change_standing(&before, &Standing::Left(leaving))?;
    put_in_force(to, &Standing::Arriving(arriving), target)?;
    Ok(read)
}

/// Takes back a move that was begun and has not come to its end: the source is in force again.
///
/// # Errors
///
/// [`LedgerError::NotMoving`] if there is none, [`LedgerError::Left`] if it has come too far, after which only the same
/// move again completes it, and others if the ledger can't be read or written.
pub fn undo_move(from: &dyn Movable) -> Result<(), LedgerError> {
    let standing = from.standing()?;
    match &standing {
        Standing::Leaving(_) => {
            from.change_standing(&standing, &Standing::InForce { came_by: None })
        }
        Standing::InForce { .. } => Err(LedgerError::NotMoving(from.description())),
        Standing::Left(_) | Standing::Arriving(_) => Err(standing.refusal(from.description())),
    }
}

/// That all records were written as they were read.
fn check_same(to: &dyn Movable, read: &Moved) -> Result<(), LedgerError> {
    match sum_of(to)? == *read {
        true => Ok(()),
        false => Err(LedgerError::Differs(to.description())),
    }
}

/// The last step.
fn put_in_force(to: &dyn Movable, arriving: &Standing, target: MoveId) -> Result<(), LedgerError> {
    let came_by = Some(target);
    to.change_standing(arriving, &Standing::InForce { came_by })
}

fn copy(from: &dyn Movable, to: &dyn Movable, by: &Move) -> Result<Moved, LedgerError> {
    read_all(
        from,
        &mut |entries| to.put_entries(by, entries),
        &mut |rest| to.put_rest(by, rest),
        &mut |told| to.put_history(by, told),
    )
}

/// The digest of all records.
///
/// # Errors
///
/// If the ledger can't be read.
fn sum_of(ledger: &dyn Movable) -> Result<Moved, LedgerError> {
    read_all(ledger, &mut |_| Ok(()), &mut |_| Ok(()), &mut |_| Ok(()))
}

type Put<'a, T> = &'a mut dyn FnMut(&T) -> Result<(), LedgerError>;

/// Reads all records in their order.
fn read_all(
    from: &dyn Movable,
    entries: Put<'_, [KeptEntry]>,
    rest: Put<'_, Rest>,
    history: Put<'_, [Deed]>,
) -> Result<Moved, LedgerError> {
    let mut sum = Sum::default();
    let mut counted = (0, 0);
    let mut after: Option<SerialNumber> = None;
    loop {
        let page = from.entries_after(after.as_ref())?;
        let Some(last) = page.last() else { break };
        after = Some(last.entry.issued.serial_number);
        page.iter().for_each(|one| sum.entry(one));
        counted.0 += page.len() as u64;
        entries(&page)?;
    }
    let others = from.rest()?;
    sum.rest(&others);
    rest(&others)?;
    from.history(&mut |page| {
        page.iter().for_each(|one| sum.deed(one));
        counted.1 += page.len() as u64;
        history(&page)
    })?;
    Ok(Moved {
        digest: sum.finish(),
        entries: counted.0,
        events: counted.1,
    })
}
