//! What a store has to hold, run on each storage.

extern crate alloc;

mod amounts;
mod around;
mod asked;
mod audit;
mod away;
mod batch;
mod copying;
mod forged;
mod forging;
mod keks;
#[cfg(all(any(feature = "redb", feature = "postgres"), unix))]
mod kill;
mod kit;
mod late;
mod load;
mod logged;
mod many;
mod matrix;
mod model;
mod names;
// Elsewhere nobody can write to a file that is locked.
#[cfg(all(feature = "redb", unix))]
mod overwritten;
mod page;
mod places;
#[cfg(all(feature = "postgres", unix))]
mod postgres;
#[cfg(feature = "redb")]
mod redb_file;
#[cfg(unix)]
mod renamed;
mod replaced;
mod storage;
mod suites;
mod tampering;
mod tokens;
#[cfg(feature = "remote")]
mod transit;
mod verbs;

use suites::tests_of;

/// Runs all suites on a storage.
macro_rules! on {
    ($($storage:ident: $place:ty),+ $(,)?) => {$(
        mod $storage {
            use super::*;

            tests_of!(storage, $place:
                it_begins_empty, rows_are_read_as_written, a_change_is_made_or_nothing, a_row_made_again_is_another,
                a_row_relied_on_stays, the_log_continues_where_it_ends, pages_follow_each_other,
                versions_are_listed_in_order, pages_of_the_log, limits_are_held, one_of_many_wins,
                a_waiting_thread_is_told, waiting_ends,
            );
            tests_of!(verbs, $place:
                keys_of_each_algorithm_sign, keys_that_encapsulate, versions_sign_and_verify_in_turn,
                states_follow_each_other, inputs_are_those_of_the_policy, keys_are_imported_and_exported,
                due_keys_are_rotated, keys_are_listed_in_pages, a_key_signs_for_others,
                the_store_has_grants_of_its_own, policies_are_checked,
                more_is_counted_than_fits, versions_below_the_minimum_are_not_used,
                imported_keys_are_checked,
            );
            tests_of!(matrix, $place: who_has_no_right_gets_nothing);
            tests_of!(tampering, $place:
                changed_rows_are_refused, swapped_rows_are_refused, older_rows_are_refused, missing_rows_are_refused, a_changed_clock_is_refused,
                another_kek_is_refused, rewrapping_touches_no_key,
                rows_put_back_with_their_index,
            );
            tests_of!(audit, $place:
                each_change_has_an_entry, uses_are_counted, uses_are_audited_one_by_one, refusals_are_bounded,
                a_kept_head_shows_a_cut, a_put_back_store_is_noticed, attestations_are_signed,
            );
            tests_of!(logged, $place:
                counts_say_who_did_what, each_use_says_who_did_it, the_log_says_what_was_changed,
            );
            tests_of!(load, $place:
                signatures_under_rotation, stores_see_each_other, the_storage_is_away,
                a_due_key_is_rotated_once, a_new_version_signs_while_away, a_lost_commit_is_made_once, grants_are_seen_by_others,
            );
            tests_of!(batch, $place: a_batch_gives_what_single_calls_give);
        }
    )+};
}

on!(memory: crate::places::Memory);
#[cfg(feature = "redb")]
on!(redb: crate::places::Redb);
#[cfg(all(feature = "postgres", unix))]
on!(
    in_postgres: crate::postgres::Direct,
    through_pgbouncer: crate::postgres::Pooled,
);

/// Runs the suites on keys in a token: those of verbs, rights and load. What a key in a token can't do, such as being exported or
/// signing µ, `tokens` tests.
macro_rules! in_tokens {
    ($($token:ident: $place:ty),+ $(,)?) => {$(
        mod $token {
            use super::*;

            tests_of!(verbs, $place:
                keys_of_each_algorithm_sign, keys_that_encapsulate, versions_sign_and_verify_in_turn,
                states_follow_each_other, due_keys_are_rotated, keys_are_listed_in_pages, a_key_signs_for_others,
                policies_are_checked, more_is_counted_than_fits,
            );
            tests_of!(audit, $place:
                each_change_has_an_entry, uses_are_counted, uses_are_audited_one_by_one, attestations_are_signed,
            );
            tests_of!(load, $place: signatures_under_rotation, stores_see_each_other, the_storage_is_away);
            tests_of!(tokens, $place:
                keys_stay_in_their_token, imported_keys_stay_in_their_token, a_key_moves_to_a_token_and_back, what_no_version_refers_to_is_removed,
                digests_are_signed_and_mu_is_not, a_missing_row_removes_nothing,
                damaged_rows_have_no_orphans, keys_are_made_at_once,
            );
        }
    )+};
}

// It makes some 500 keys, which takes a token long that makes safe what it writes.
mod in_a_stand_in_too {
    use super::*;

    tests_of!(matrix, crate::tokens::StandIn: who_has_no_right_gets_nothing);
}
#[cfg(feature = "pkcs11")]
mod in_softhsm_too {
    use super::*;

    tests_of!(matrix, crate::tokens::SoftHsm: who_has_no_right_gets_nothing);
}

// SoftHSM answers with errors of its own while one thread removes what another makes.
mod removing_in_a_stand_in {
    use super::*;

    tests_of!(tokens, crate::tokens::StandIn: removing_disturbs_no_rotation);
}
#[cfg(feature = "pkcs11")]
mod removing_in_kryoptic {
    use super::*;

    tests_of!(tokens, crate::tokens::Kryoptic: removing_disturbs_no_rotation);
}

in_tokens!(in_a_stand_in: crate::tokens::StandIn);
#[cfg(feature = "pkcs11")]
in_tokens!(in_kryoptic: crate::tokens::Kryoptic, in_softhsm: crate::tokens::SoftHsm);
