//! Ledgers that move to PostgreSQL and back: with all that they have, wherever it is interrupted, whoever changes them meanwhile.

use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use databases::{PATIENCE, new_schema};
use pq_x509::pki_types::CertificateDer;
use pq_x509::revocation::CrlReason;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use tempfile::TempDir;

use super::*;
use crate::ledger::forward::forward;
use crate::ledger::suite::{at, find, issued, new_entry, number, revocation};
use crate::ledger::{
    AdoptedEntry, Filter, Generation, Issued, KeyHash, LocalLedger, PostgresLedger,
    PostgresOptions, Stage,
};

const HERE: &str = "the folder";
const THERE: &str = "the database";

struct Local {
    folder: TempDir,
    ledger: LocalLedger,
}

fn local() -> Local {
    let folder = tempfile::tempdir().unwrap();
    let ledger = LocalLedger::create(folder.path()).unwrap();
    Local { folder, ledger }
}

/// Options for an empty schema on the server that all tests share.
fn options() -> Option<PostgresOptions> {
    let options = PostgresOptions::new(&databases::shared()?.address()).unwrap();
    let options = options.connect_timeout(PATIENCE).timeout(PATIENCE);
    Some(options.schema(&new_schema()).unwrap())
}

/// Something that is done to a ledger, which may refuse it.
#[derive(Clone, Debug)]
enum Act {
    Record(Vec<Issued>),
    Adopt(Box<Issued>, Option<(u64, CrlReason)>),
    Revoke(u64, u64, CrlReason),
    Reinstate(u64, u64),
    List(bool, Option<u64>, u64),
    Confirm(u64),
    Generations(u64),
}

fn issuer() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("issuing".into()),
        Just("root".into()),
        Just("ä\n\0\\".into())
    ]
}

fn certificate() -> impl Strategy<Value = Issued> {
    let texts = prop::collection::vec(any::<String>(), 0..3);
    (1..30_u64, issuer(), texts, 10..90_u64, any::<bool>()).prop_map(
        |(n, issuer, names, time, is_composite)| Issued {
            issuer,
            subject: names.concat(),
            names,
            at: at(time),
            halves: match is_composite {
                true => vec![KeyHash::from_bytes([n as u8; 32])],
                false => Vec::new(),
            },
            ..issued(n)
        },
    )
}

fn reason() -> impl Strategy<Value = CrlReason> {
    prop_oneof![
        Just(CrlReason::CertificateHold),
        Just(CrlReason::KeyCompromise),
        Just(CrlReason::Superseded),
        Just(CrlReason::Unspecified),
    ]
}

fn act() -> impl Strategy<Value = Act> {
    let times = || 10..90_u64;
    prop_oneof![
        3 => prop::collection::vec(certificate(), 1..4).prop_map(Act::Record),
        1 => (certificate(), prop::option::of((times(), reason()))).prop_map(|(one, revoked)| Act::Adopt(one.into(), revoked)),
        4 => (1..30_u64, times(), reason()).prop_map(|(n, time, reason)| Act::Revoke(n, time, reason)),
        2 => (1..30_u64, times()).prop_map(|(n, time)| Act::Reinstate(n, time)),
        2 => (any::<bool>(), prop::option::of(1..1_000_u64), times()).prop_map(|(written, n, time)| Act::List(written, n, time)),
        1 => times().prop_map(Act::Confirm),
        1 => times().prop_map(Act::Generations),
    ]
}

/// Does it, and says whether the ledger took it.
fn perform(ledger: &dyn Movable, act: &Act) -> Result<(), LedgerError> {
    match act {
        Act::Record(all) => {
            let entries: Vec<_> = all.iter().cloned().map(new_entry).collect();
            ledger.record(&entries)
        }
        Act::Adopt(one, revoked) => ledger.adopt(&[AdoptedEntry {
            entry: new_entry(Issued::clone(one)),
            revocation: revoked.map(|(time, reason)| revocation(time, reason)),
        }]),
        Act::Revoke(n, time, reason) => ledger
            .revoke(&number(*n), &revocation(*time, *reason))
            .map(drop),
        Act::Reinstate(n, time) => ledger.reinstate(&number(*n), at(*time), "a\0b").map(drop),
        Act::List(is_written, given, time) => {
            let number = ledger.numbered_list("issuing", *given, at(*time), &mut |_, _| {})?;
            match is_written {
                true => ledger.confirm_list("issuing", number, at(*time)),
                false => Ok(()),
            }
        }
        Act::Confirm(time) => ledger.confirm_time(at(*time), "a person"),
        Act::Generations(time) => {
            let before = ledger.generations()?;
            let mut after = before.clone();
            for one in &mut after {
                one.stage = Stage::Retired;
            }
            after.push(Generation {
                name: format!("issuing-{}", after.len() + 2),
                chain: vec![CertificateDer::from(vec![after.len() as u8; 7])],
                stage: Stage::Issuing,
                since: at(*time),
                by: "ü".into(),
            });
            ledger.change_generations(&before, &after, &[], &[])
        }
    }
}

/// What the ledger says about all that the acts can be about.
fn answers(ledger: &dyn Movable) -> Vec<String> {
    let mut answers = vec![
        format!("{:?}", find(&ledger, &Filter::all())),
        format!(
            "{:?}",
            find(
                &ledger,
                &Filter {
                    revoked: Some(true),
                    ..Filter::all()
                }
            )
        ),
        format!("{:?}", ledger.generations().unwrap()),
    ];
    for n in 1..30 {
        answers.push(format!("{:?}", ledger.certificate(&number(n)).unwrap()));
        for key in [issued(n).key, KeyHash::from_bytes([n as u8; 32])] {
            let compromised = ledger.compromised(&key).unwrap();
            answers.push(format!("{}", compromised.is_some()));
        }
    }
    for time in [0, 10, 50, 90, 3_700, 400 * 24 * 60 * 60 + 50] {
        answers.push(format!("{:?}", ledger.check_time(at(time)).is_ok()));
    }
    answers
}

/// What the next lists have.
fn lists(ledger: &dyn Movable) -> Vec<String> {
    let mut lists = Vec::new();
    for issuer in ["issuing", "root", "ä\n\0\\"] {
        for time in [60, 60 + 8 * 24 * 60 * 60] {
            let mut shown = Vec::new();
            let number = ledger.next_list(issuer, at(time), &mut |number, revocation| {
                shown.push(format!("{number} {revocation:?}"));
            });
            shown.sort();
            let number = number.map_err(|error| error.to_string());
            lists.push(format!("{number:?} {shown:?}"));
        }
    }
    lists
}

#[test]
fn what_moves_there_and_back_says_the_same() {
    if databases::shared().is_none() {
        return;
    }
    let mut runner = TestRunner::new(Config::with_cases(8));
    let all = prop::collection::vec(act(), 0..40);
    let property = |(acts, more): (Vec<Act>, Vec<Act>)| {
        let first = local();
        for act in &acts {
            // What is refused changes nothing.
            let _ = perform(&first.ledger, act);
        }
        let said = answers(&first.ledger);
        let there = PostgresLedger::create(options().unwrap()).unwrap();
        let moved = move_ledger(&first.ledger, &there, HERE, THERE).unwrap();
        assert!(matches!(
            first.ledger.entry(&number(1)),
            Err(LedgerError::Left { .. })
        ));
        assert_eq!(answers(&there), said);
        assert_eq!(sum_of(&there).unwrap(), moved);
        // Once more is nothing new.
        assert_eq!(
            move_ledger(&first.ledger, &there, HERE, THERE).unwrap(),
            moved
        );
        let back = local();
        assert_eq!(
            move_ledger(&there, &back.ledger, THERE, HERE).unwrap(),
            moved
        );
        assert_eq!(answers(&back.ledger), said);
        back.ledger.check().unwrap();
        // Both go on in the same way. The first one is put in force again for that.
        let left = first.ledger.standing().unwrap();
        let in_force = Standing::InForce { came_by: None };
        first.ledger.change_standing(&left, &in_force).unwrap();
        for act in &more {
            let (one, other) = (perform(&first.ledger, act), perform(&back.ledger, act));
            assert_eq!(one.is_ok(), other.is_ok(), "{act:?} {one:?} {other:?}");
        }
        assert_eq!(answers(&back.ledger), answers(&first.ledger));
        assert_eq!(lists(&back.ledger), lists(&first.ledger));
        back.ledger.check().unwrap();
        let again = LocalLedger::open(back.folder.path()).unwrap();
        assert_eq!(sum_of(&again).unwrap(), sum_of(&first.ledger).unwrap());
        Ok(())
    };
    let more = prop::collection::vec(act(), 0..15);
    runner.run(&(all, more), property).unwrap();
}

/// A ledger that fails at a certain call, before or after that has its effect: as if the process had been killed.
struct Failing<'a> {
    ledger: &'a dyn Movable,
    calls: &'a AtomicUsize,
    fails_at: usize,
    after: bool,
}

impl Failing<'_> {
    fn call<T>(&self, call: impl FnOnce() -> Result<T, LedgerError>) -> Result<T, LedgerError> {
        let number = self.calls.fetch_add(1, Ordering::SeqCst);
        let failure = || Err(LedgerError::Other("killed".into()));
        if number > self.fails_at || number == self.fails_at && !self.after {
            return failure();
        }
        let done = call()?;
        match number == self.fails_at {
            true => failure(),
            false => Ok(done),
        }
    }
}

impl Ledger for Failing<'_> {
    forward!(self => self.ledger);
}

impl Movable for Failing<'_> {
    fn description(&self) -> String {
        self.ledger.description()
    }

    fn standing(&self) -> Result<Standing, LedgerError> {
        self.call(|| self.ledger.standing())
    }

    fn change_standing(&self, before: &Standing, after: &Standing) -> Result<(), LedgerError> {
        self.call(|| self.ledger.change_standing(before, after))
    }

    fn receive(&self, before: &Standing, arriving: &Move) -> Result<(), LedgerError> {
        self.call(|| self.ledger.receive(before, arriving))
    }

    fn entries_after(&self, after: Option<&SerialNumber>) -> Result<Vec<KeptEntry>, LedgerError> {
        self.call(|| self.ledger.entries_after(after))
    }

    fn rest(&self) -> Result<Rest, LedgerError> {
        self.call(|| self.ledger.rest())
    }

    fn history(
        &self,
        show: &mut dyn FnMut(Vec<Deed>) -> Result<(), LedgerError>,
    ) -> Result<(), LedgerError> {
        self.call(|| self.ledger.history(show))
    }

    fn put_entries(&self, by: &Move, entries: &[KeptEntry]) -> Result<(), LedgerError> {
        self.call(|| self.ledger.put_entries(by, entries))
    }

    fn put_history(&self, by: &Move, history: &[Deed]) -> Result<(), LedgerError> {
        self.call(|| self.ledger.put_history(by, history))
    }

    fn put_rest(&self, by: &Move, rest: &Rest) -> Result<(), LedgerError> {
        self.call(|| self.ledger.put_rest(by, rest))
    }
}

fn fill(ledger: &dyn Movable) {
    for act in [
        Act::Record((1..6).map(issued).collect()),
        Act::Revoke(1, 30, CrlReason::KeyCompromise),
        Act::Revoke(2, 30, CrlReason::CertificateHold),
        Act::Reinstate(2, 31),
        Act::List(true, None, 40),
        Act::Confirm(50),
        Act::Generations(51),
    ] {
        perform(ledger, &act).unwrap();
    }
}

/// Whether it takes changes.
fn takes_changes(ledger: &dyn Movable, n: u64) -> bool {
    perform(ledger, &Act::Record(vec![issued(n)])).is_ok()
}

#[test]
fn wherever_it_is_interrupted_one_ledger_is_in_force_and_it_goes_on() {
    if databases::shared().is_none() {
        return;
    }
    for after in [false, true] {
        for fails_at in 0.. {
            let first = local();
            fill(&first.ledger);
            let whole = sum_of(&first.ledger).unwrap();
            let there = PostgresLedger::create(options().unwrap()).unwrap();
            let calls = AtomicUsize::new(0);
            let failing = |ledger| Failing {
                ledger,
                calls: &calls,
                fails_at,
                after,
            };
            let (from, to) = (failing(&first.ledger), failing(&there));
            let moved = move_ledger(&from, &to, HERE, THERE);
            if calls.load(Ordering::SeqCst) <= fails_at {
                assert_eq!(moved.unwrap(), whole);
                break;
            }
            moved.unwrap_err();
            let standing = first.ledger.standing().unwrap();
            if matches!(standing, Standing::InForce { .. }) {
                assert!(takes_changes(&first.ledger, 100));
                let whole = sum_of(&first.ledger).unwrap();
                let moved = move_ledger(&first.ledger, &there, HERE, THERE).unwrap();
                assert_eq!(moved, whole);
                assert!(takes_changes(&there, 101) && !takes_changes(&first.ledger, 102));
                continue;
            }
            let takes = (
                takes_changes(&first.ledger, 100),
                takes_changes(&there, 101),
            );
            match standing {
                Standing::InForce { .. } => {}
                Standing::Leaving(_) => {
                    assert_eq!(takes, (false, false));
                    first.ledger.entry(&number(1)).unwrap();
                    there.entry(&number(1)).unwrap_err();
                    // It can be taken back, and begun again.
                    undo_move(&first.ledger).unwrap();
                    assert!(takes_changes(&first.ledger, 102));
                    undo_move(&first.ledger).unwrap_err();
                }
                Standing::Left(_) => {
                    assert!(!takes.0);
                    first.ledger.entry(&number(1)).unwrap_err();
                    undo_move(&first.ledger).unwrap_err();
                }
                Standing::Arriving(_) => panic!("it was never a target"),
            }
            if takes.1 {
                // Only the answer was lost, so the move is complete, with one more certificate.
                assert!(!takes.0);
                move_ledger(&first.ledger, &there, HERE, THERE).unwrap();
                there.entry(&number(101)).unwrap().unwrap();
                continue;
            }
            let whole = sum_of(&first.ledger).unwrap();
            let moved = move_ledger(&first.ledger, &there, HERE, THERE).unwrap();
            assert_eq!(moved, whole, "{fails_at}");
            assert_eq!(sum_of(&there).unwrap(), whole);
            assert!(takes_changes(&there, 103) && !takes_changes(&first.ledger, 104));
        }
    }
}

/// Back into a folder, an interrupted move begins with a new ledger there.
#[test]
fn an_interrupted_move_to_a_folder_goes_on_with_another() {
    let Some(options) = options() else { return };
    let there = PostgresLedger::create(options.clone()).unwrap();
    fill(&there);
    let whole = sum_of(&there).unwrap();
    for fails_at in 0..12 {
        let (first, calls) = (local(), AtomicUsize::new(0));
        let failing = |ledger| Failing {
            ledger,
            calls: &calls,
            fails_at,
            after: true,
        };
        move_ledger(&failing(&there), &failing(&first.ledger), THERE, HERE).unwrap_err();
        if !matches!(
            there.standing().unwrap(),
            Standing::InForce { .. } | Standing::Leaving(_)
        ) {
            // It is complete.
            let moved = move_ledger(&there, &first.ledger, THERE, HERE).unwrap();
            assert_eq!(moved, whole);
            return;
        }
    }
    let last = local();
    assert_eq!(
        move_ledger(&there, &last.ledger, THERE, HERE).unwrap(),
        whole
    );
    // Whoever had it open elsewhere is told.
    let other = PostgresLedger::open(options).unwrap();
    let told = other.entry(&number(1)).unwrap_err().to_string();
    assert!(told.contains("was moved to the folder"), "{told}");
}

/// What is recorded while it moves is in the new ledger, or was refused.
#[test]
fn what_changes_meanwhile_is_carried_or_refused() {
    let Some(options) = options() else { return };
    let there = PostgresLedger::create(options.clone()).unwrap();
    let first = local();
    fill(&first.ledger);
    let stop = AtomicBool::new(false);
    let work = |ledger: &dyn Movable, from: u64| {
        let mut recorded = Vec::new();
        for n in from.. {
            match perform(ledger, &Act::Record(vec![issued(n)])) {
                Ok(()) => recorded.push(n),
                Err(LedgerError::Leaving { .. } | LedgerError::Left { .. }) => {}
                Err(error) => panic!("{error}"),
            }
            if stop.load(Ordering::Relaxed) {
                break;
            }
        }
        recorded
    };
    let recorded = |open: &(dyn Fn() -> Box<dyn Movable> + Sync),
                    from: &dyn Movable,
                    to: &dyn Movable,
                    names: (&str, &str),
                    base: u64| {
        stop.store(false, Ordering::Relaxed);
        let recorded: Vec<u64> = thread::scope(|scope| {
            let workers = [0, 1, 2]
                .map(|number| scope.spawn(move || work(&*open(), base + number * 100_000)));
            thread::sleep(core::time::Duration::from_millis(150));
            move_ledger(from, to, names.0, names.1).unwrap();
            thread::sleep(core::time::Duration::from_millis(50));
            stop.store(true, Ordering::Relaxed);
            let recorded = workers.into_iter().flat_map(|one| one.join().unwrap());
            recorded.collect()
        });
        assert!(!recorded.is_empty());
        for n in recorded {
            assert!(to.entry(&number(n)).unwrap().is_some(), "{n}");
        }
    };
    let folder = first.folder.path();
    let open_local = || Box::new(LocalLedger::open(folder).unwrap()) as Box<dyn Movable>;
    recorded(&open_local, &first.ledger, &there, (HERE, THERE), 1_000);
    let back = local();
    let open_there =
        || Box::new(PostgresLedger::open(options.clone()).unwrap()) as Box<dyn Movable>;
    recorded(&open_there, &there, &back.ledger, (THERE, HERE), 1_000_000);
    back.ledger.check().unwrap();
}

/// Of several that move one ledger at once, to one place or to several, one succeeds at most, and nothing is lost.
#[test]
fn of_several_moves_at_once_one_succeeds() {
    let Some(one) = options() else { return };
    let other = options().unwrap();
    let first = local();
    fill(&first.ledger);
    let whole = sum_of(&first.ledger).unwrap();
    let targets = [one.clone(), one, other];
    drop(PostgresLedger::create(targets[0].clone()).unwrap());
    drop(PostgresLedger::create(targets[2].clone()).unwrap());
    let folder = first.folder.path();
    let done: Vec<_> = thread::scope(|scope| {
        let movers = targets.each_ref().map(|target| {
            scope.spawn(|| {
                let from = LocalLedger::open(folder).unwrap();
                let to = PostgresLedger::open(target.clone()).unwrap();
                move_ledger(&from, &to, HERE, THERE)
            })
        });
        movers.into_iter().map(|one| one.join().unwrap()).collect()
    });
    for moved in done.into_iter().flatten() {
        assert_eq!(moved, whole);
    }
    // The same again completes it, at one of the places.
    let mut in_force = 0;
    for target in &targets[1..] {
        let to = PostgresLedger::open(target.clone()).unwrap();
        let moved = move_ledger(&first.ledger, &to, HERE, THERE);
        if let Ok(moved) = moved {
            assert_eq!(moved, whole);
            assert_eq!(sum_of(&to).unwrap(), whole);
            in_force += 1;
        }
    }
    assert_eq!(in_force, 1);
}

#[test]
fn a_target_has_to_be_empty() {
    let Some(options) = options() else { return };
    let there = PostgresLedger::create(options).unwrap();
    let first = local();
    fill(&first.ledger);
    for act in [
        Act::Confirm(10),
        Act::List(false, None, 20),
        Act::Record(vec![issued(1)]),
    ] {
        perform(&there, &act).unwrap();
        let refused = move_ledger(&first.ledger, &there, HERE, THERE);
        assert!(
            matches!(refused, Err(LedgerError::NotEmpty(_))),
            "{refused:?}"
        );
        let second = local();
        perform(&second.ledger, &act).unwrap();
        let refused = move_ledger(&first.ledger, &second.ledger, HERE, THERE);
        assert!(
            matches!(refused, Err(LedgerError::NotEmpty(_))),
            "{refused:?}"
        );
        assert!(takes_changes(&second.ledger, 200));
    }
    // Nothing came of that.
    assert!(takes_changes(&first.ledger, 200) && takes_changes(&there, 200));
}
