//! Tests that every [`Ledger`] has to pass: the feature `suite`.
//!
//! Whoever writes a ledger, such as one in a database, holds it to the suite: it checks what the documentation of the
//! trait says. A [`Place`] is where a ledger is, so that the suite can open it again, and several times at once.
//! [`hold_to_suite!`] makes a test of each [requirement](requirements); [`check`] checks them
//! all, for programs that test in another way. They panic where the ledger does something else, as tests do.
//!
//! The suite is for development, so turn the feature on in `dev-dependencies` alone:
//!
//! ```toml
//! [dev-dependencies]
//! pq-ca = { version = "0.1", features = ["suite"] }
//! ```
//!
//! This is how the ledger in a folder is held to it. For a database, an empty place is a schema with a new name, which
//! the place drops in the end.
//!
//! ```
//! use pq_ca::ledger::suite::{self, Place};
//! use pq_ca::ledger::{LedgerError, LocalLedger};
//! use tempfile::TempDir;
//!
//! struct InFolder(TempDir);
//!
//! impl Place for InFolder {
//!     type Ledger = LocalLedger;
//!
//!     fn open(&self) -> LocalLedger {
//!         match LocalLedger::create(self.0.path()) {
//!             Err(LedgerError::AlreadyThere { path }) => LocalLedger::open(path),
//!             created => created,
//!         }
//!         .expect("the disk should have room for a ledger")
//!     }
//! }
//!
//! fn empty() -> InFolder {
//!     InFolder(tempfile::tempdir().expect("the disk should have room for a folder"))
//! }
//!
//! mod while_it_is_open {
//!     pq_ca::ledger::suite::hold_to_suite!(super::empty);
//! }
//!
//! /// The same, where each call opens the ledger anew: nothing is in memory alone.
//! mod opened_for_each_call {
//!     use pq_ca::ledger::suite::Reopened;
//!
//!     fn empty() -> Reopened<super::InFolder> {
//!         Reopened::new(super::empty())
//!     }
//!     pq_ca::ledger::suite::hold_to_suite!(empty);
//! }
//!
//! /// The same as the tests of `while_it_is_open`, without a test for each.
//! fn main() {
//!     suite::check(empty);
//! }
//! ```

// The suite uses the rest of this room, and no other.

mod auditing;
mod clocks;
mod generations;
mod keys;
mod lists;
mod processes;
mod recording;
mod reopened;
mod requests;
mod revoking;
mod searching;
mod values;

pub use self::reopened::Reopened;
#[cfg(test)]
pub(in crate::ledger) use self::values::{
    at, entry, find, found, issued, new_entry, next_list, number, record, request, requested,
    revocation,
};
use super::Ledger;

/// Where a ledger is. What is there goes when this is dropped.
pub trait Place {
    /// The ledger that is held to the suite.
    type Ledger: Ledger;

    /// Opens the ledger. It is empty when it is opened first; later it has what was done before, and what is done by
    /// others that have it open meanwhile. Panics if it can't be opened.
    fn open(&self) -> Self::Ledger;
}

/// Checks all requirements, each in a place of its own. `make` returns one where nothing is yet.
///
/// # Panics
///
/// At the first requirement that the ledger does not meet.
pub fn check<P: Place>(make: impl Fn() -> P) {
    hold_to_suite!(@list check make);
}

/// What the suite asks of a ledger. The name of each says it.
pub mod requirements {
    pub use super::auditing::*;
    pub use super::clocks::*;
    pub use super::generations::*;
    pub use super::keys::*;
    pub use super::lists::*;
    pub use super::processes::*;
    pub use super::recording::*;
    pub use super::requests::*;
    pub use super::revoking::*;
    pub use super::searching::*;
}

#[doc(hidden)]
#[macro_export]
macro_rules! hold_to_suite {
    (@list $then:ident $($make:tt)+) => {
        $crate::ledger::suite::hold_to_suite! {
            @$then [$($make)+]
            of_a_ledger [
                what_was_recorded_is_found_by_its_number
                certificates_come_back_byte_by_byte
                a_serial_number_is_taken_once
                all_of_a_call_are_recorded_or_none
                what_was_issued_earlier_is_adopted
                what_is_adopted_is_revoked_with_it
                nothing_can_be_recorded
                what_is_unknown_is_not_there
                texts_may_be_of_any_characters
                a_compromised_key_is_not_certified_again
                a_key_of_another_reason_is_certified_again
                a_compromised_half_is_not_certified_again
                what_is_for_a_compromised_key_stays_on_hold
                compromised_keys_are_known
                certificates_are_found_by_their_keys
                a_revocation_is_kept
                the_first_revocation_counts
                a_compromise_takes_the_place_of_another_reason
                a_compromise_may_be_older_than_was_known
                what_was_changed_is_said_for_each
                conditions_are_checked_with_the_change
                all_of_a_call_are_revoked_or_none
                a_hold_may_become_final
                a_hold_may_be_released_and_nothing_else
                remove_from_crl_is_no_reason
                the_time_of_a_revocation_may_be_corrected
                entries_are_found_in_the_order_of_their_expiry
                each_condition_of_a_filter_counts
                domains_have_what_is_below_them_and_nothing_beside
                addresses_are_names
                states_are_found_as_they_are_now
                a_search_ends_when_enough_was_seen
                a_search_may_call_the_ledger
                lists_are_numbered_for_each_issuer
                lists_get_numbers_that_are_given
                lists_have_what_their_issuer_revoked
                a_list_has_what_expired_until_it_was_long_ago
                a_list_that_was_not_written_leaves_out_nothing
                only_lists_that_were_numbered_are_written
                a_list_is_outdated_once_a_later_one_was_begun
                what_was_revoked_late_is_on_a_list_once
                a_list_has_no_longer_what_was_released
                a_list_that_a_clock_ahead_wrote_counts_as_one_of_now
                nothing_is_left_out_for_good_by_a_clock_that_ran_ahead
                a_list_that_a_clock_ahead_made_does_not_count_later
                a_clock_that_jumps_is_refused
                certificates_of_a_clock_far_ahead_are_refused
                a_revocation_is_not_held_up_by_a_clock
                a_time_is_compared_as_for_a_list
                generations_come_back_with_their_certificates
                generations_change_from_those_that_are_there
                generations_only_follow_one_another
                a_key_that_does_not_issue_records_nothing
                how_a_certificate_came_about_is_kept
                a_request_is_answered_once
                a_request_keeps_a_certificate_that_was_revoked
                each_change_is_an_event
                a_head_that_was_kept_is_found_again
                an_audit_ends_when_enough_was_seen
            ]
            of_a_place [
                what_was_done_is_there_when_it_is_opened_again
                who_has_it_open_sees_what_others_do
                of_many_at_a_time_one_takes_a_number
                of_many_at_a_time_one_changes_the_generations
                of_many_at_a_time_one_answers_a_request
                events_of_many_at_a_time_are_one_chain
            ]
        }
    };
    (@tests [$make:path] of_a_ledger [$($test:ident)+] of_a_place [$($other:ident)+]) => {
        $(
            #[test]
            fn $test() {
                let place = $make();
                $crate::ledger::suite::requirements::$test(&$crate::ledger::suite::Place::open(&place));
            }
        )+
        $(
            #[test]
            fn $other() {
                $crate::ledger::suite::requirements::$other(&$make());
            }
        )+
    };
    (@tests_where_there_is_one [$make:path] of_a_ledger [$($test:ident)+] of_a_place [$($other:ident)+]) => {
        $(
            #[test]
            fn $test() {
                if let Some(place) = $make() {
                    $crate::ledger::suite::requirements::$test(&$crate::ledger::suite::Place::open(&place));
                }
            }
        )+
        $(
            #[test]
            fn $other() {
                if let Some(place) = $make() {
                    $crate::ledger::suite::requirements::$other(&place);
                }
            }
        )+
    };
    (@check [$make:ident] of_a_ledger [$($test:ident)+] of_a_place [$($other:ident)+]) => {
        $({
            let place = $make();
            $crate::ledger::suite::requirements::$test(&$crate::ledger::suite::Place::open(&place));
        })+
        $($crate::ledger::suite::requirements::$other(&$make());)+
    };
    (if $make:path) => {
        $crate::ledger::suite::hold_to_suite!(@list tests_where_there_is_one $make);
    };
    ($make:path) => {
        $crate::ledger::suite::hold_to_suite!(@list tests $make);
    };
}

/// Makes a test of each requirement of the suite, of the same name. It takes the path of a function that returns a
/// [`Place`] where nothing is yet; after `if`, of one that returns an `Option` of it, which is `None` where there is no such
/// database.
#[doc(inline)]
pub use hold_to_suite;
