//! Versions in each state, beside a model of them: whatever is done in whatever order, they are in the state that the
//! documentation says, and sign and verify as that state and the policy's minimum let them.

use core::time::Duration;

use pq_keystore::policy::Input;
use pq_keystore::{KeyName, Signed, VersionState};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::kit::{Fixture, admin, code, user, user_policy, version};
use crate::places::{Memory, Place};

const MESSAGE: &[u8] = b"message";
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const VERSIONS: u32 = 4;

/// What is done. The numbers are those of versions.
#[derive(Clone, Copy, Debug)]
enum Step {
    Disable(u32),
    Enable(u32),
    Schedule(u32, Duration),
    Cancel(u32),
    Destroy(u32),
    Trim(u32),
    Minimum(u32),
    Wait(Duration),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let number = || 1..=VERSIONS;
    let time = || prop::sample::select(vec![DAY / 2, DAY - Duration::from_millis(1), DAY, 2 * DAY]);
    let step = prop_oneof![
        3 => number().prop_map(Step::Disable),
        1 => number().prop_map(Step::Enable),
        4 => (number(), time()).prop_map(|(number, time)| Step::Schedule(number, time)),
        1 => number().prop_map(Step::Cancel),
        4 => number().prop_map(Step::Destroy),
        // One more than there are, too.
        3 => (1..=VERSIONS + 1).prop_map(Step::Trim),
        1 => (1..=VERSIONS + 1).prop_map(Step::Minimum),
        2 => time().prop_map(Step::Wait),
    ];
    prop::collection::vec(step, 1..40)
}

/// What the documentation says of a key.
struct Model {
    states: Vec<(u32, VersionState)>,
    minimum: u32,
    now: u64,
}

impl Model {
    fn state(&self, number: u32) -> Option<VersionState> {
        let found = self.states.iter().find(|(known, _)| *known == number);
        found.map(|(_, state)| *state)
    }

    /// Does a step, and says how it ends.
    fn step(&mut self, step: Step) -> &'static str {
        use VersionState::{DestroyScheduled, Destroyed, Disabled, Enabled};

        let (number, next) = match step {
            Step::Wait(time) => {
                self.now += u64::try_from(time.as_millis()).unwrap();
                return "done";
            }
            Step::Minimum(_) if self.is_deleted() => return "deleted",
            Step::Minimum(minimum) if minimum > VERSIONS => return "policy",
            Step::Minimum(minimum) => {
                self.minimum = minimum;
                return "done";
            }
            Step::Trim(before) => return self.trim(before),
            Step::Schedule(_, time) if time < DAY => return "policy",
            Step::Disable(number) => (
                number,
                match self.state(number) {
                    Some(Enabled) => Some(Disabled),
                    Some(DestroyScheduled { at, verifies: true }) => Some(DestroyScheduled {
                        at,
                        verifies: false,
                    }),
                    Some(Destroyed { verifies: true }) => Some(Destroyed { verifies: false }),
                    _ => None,
                },
            ),
            Step::Enable(number) => {
                let is_disabled = self.state(number) == Some(Disabled);
                (number, is_disabled.then_some(Enabled))
            }
            Step::Schedule(number, time) => {
                let at = self.now + u64::try_from(time.as_millis()).unwrap();
                let next = match self.state(number) {
                    Some(Enabled) => Some(DestroyScheduled { at, verifies: true }),
                    Some(Disabled) => Some(DestroyScheduled {
                        at,
                        verifies: false,
                    }),
                    _ => None,
                };
                (number, next)
            }
            Step::Cancel(number) => {
                let is_scheduled = matches!(self.state(number), Some(DestroyScheduled { .. }));
                (number, is_scheduled.then_some(Disabled))
            }
            Step::Destroy(number) => match self.state(number) {
                Some(DestroyScheduled { at, .. }) if self.now < at => return "not-yet",
                Some(DestroyScheduled { verifies, .. }) => (number, Some(Destroyed { verifies })),
                _ => (number, None),
            },
        };
        let found = self.states.iter_mut().find(|(known, _)| *known == number);
        match (found, next) {
            (None, _) => "version-not-found",
            (Some(_), None) => "state",
            (Some((_, state)), Some(next)) => {
                *state = next;
                "done"
            }
        }
    }

    fn trim(&mut self, before: u32) -> &'static str {
        let first = self.states[0].0;
        if self.state(before).is_none() && before != first {
            // Of those that are gone already, nobody knows.
            return "version-not-found";
        }
        let mut old = self.states.iter().filter(|(number, _)| *number < before);
        let is_old = |(number, state): &(u32, VersionState)| {
            *number < self.minimum || matches!(state, VersionState::Destroyed { .. })
        };
        if !old.all(is_old) {
            return "state";
        }
        self.states.retain(|(number, _)| *number >= before);
        "done"
    }

    /// How verifying by a version ends.
    fn verifies(&self, number: u32) -> &'static str {
        match self.state(number) {
            None => "version-not-found",
            Some(_) if number < self.minimum => "below-min-version",
            Some(state) if state.verifies() => "done",
            Some(_) => "state",
        }
    }

    /// How verifying ends if the signature, which is by this version, names none.
    fn verifies_by_any(&self, number: u32) -> &'static str {
        let mut all = self.states.iter().map(|(number, _)| *number);
        match self.verifies(number) {
            "done" => "done",
            _ if all.any(|number| self.verifies(number) == "done") => "invalid-signature",
            _ => self.without_version(),
        }
    }

    fn is_deleted(&self) -> bool {
        let gone = VersionState::Destroyed { verifies: false };
        self.states.iter().all(|(_, state)| *state == gone)
    }

    /// How it ends if there is no version for it.
    fn without_version(&self) -> &'static str {
        match self.is_deleted() {
            true => "deleted",
            false => "no-enabled-version",
        }
    }

    fn signs_by(&self, number: u32) -> &'static str {
        match self.state(number) {
            _ if number < self.minimum => "below-min-version",
            None => "version-not-found",
            Some(VersionState::Enabled) => "done",
            Some(_) => "state",
        }
    }

    /// Which version signs, or why none does.
    fn signs(&self) -> Result<u32, &'static str> {
        let enabled = |(_, state): &&(u32, VersionState)| *state == VersionState::Enabled;
        match self.states.iter().rev().find(enabled) {
            None => Err(self.without_version()),
            Some((number, _)) if *number < self.minimum => Err("below-min-version"),
            Some((number, _)) => Ok(*number),
        }
    }
}

fn done(fixture: &Fixture, key: &KeyName, step: Step) -> &'static str {
    let store = &fixture.store;
    let id = |number| key.at(version(number));
    match step {
        Step::Disable(number) => code(store.disable(&admin(), &id(number))),
        Step::Enable(number) => code(store.enable(&admin(), &id(number))),
        Step::Schedule(number, time) => {
            code(store.schedule_destruction(&admin(), &id(number), time))
        }
        Step::Cancel(number) => code(store.cancel_destruction(&admin(), &id(number))),
        Step::Destroy(number) => code(store.destroy(&admin(), &id(number))),
        Step::Trim(number) => code(store.trim(&admin(), key, version(number))),
        Step::Minimum(number) => {
            let mut policy = user_policy();
            policy.min_version = version(number);
            code(store.set_policy(&admin(), key, &policy))
        }
        Step::Wait(time) => {
            fixture.clock.advance(time);
            "done"
        }
    }
}

fn compare(
    fixture: &Fixture,
    key: &KeyName,
    model: &Model,
    signatures: &[Signed],
) -> Result<(), TestCaseError> {
    let (store, input) = (&fixture.store, Input::message(MESSAGE));
    let shown = store.show(&user(), key).unwrap().versions;
    let states: Vec<_> = shown
        .iter()
        .map(|found| (found.version.get(), found.state))
        .collect();
    prop_assert_eq!(&states, &model.states);
    let signed = store.sign(&user(), key, input);
    let signed = signed.map(|signed| signed.id.version().get());
    prop_assert_eq!(signed.map_err(|error| error.code()), model.signs());
    for signed in signatures {
        let number = signed.id.version().get();
        let by = |version| code(store.verify(&user(), key, version, input, &signed.signature));
        let found = (
            by(Some(signed.id.version())),
            by(None),
            code(store.sign_by(&user(), &signed.id, input)),
        );
        let expected = (
            model.verifies(number),
            model.verifies_by_any(number),
            model.signs_by(number),
        );
        prop_assert_eq!(found, expected, "version {}", number);
    }
    Ok(())
}

#[test]
fn versions_are_in_the_state_that_was_asked_for() {
    let mut runner = TestRunner::new(Config::with_cases(48));
    let held = runner.run(&steps(), |steps| {
        let fixture = Fixture::new(&Memory::new());
        let key = fixture.key("k", "Ed25519");
        let mut signatures = vec![fixture.sign(&key, MESSAGE)];
        for _ in 1..VERSIONS {
            fixture.store.rotate(&admin(), &key).unwrap();
            signatures.push(fixture.sign(&key, MESSAGE));
        }
        let since = fixture.clock.now().duration_since(std::time::UNIX_EPOCH);
        let mut model = Model {
            states: (1..=VERSIONS)
                .map(|number| (number, VersionState::Enabled))
                .collect(),
            minimum: 1,
            now: u64::try_from(since.unwrap().as_millis()).unwrap(),
        };
        for step in steps {
            prop_assert_eq!(done(&fixture, &key, step), model.step(step), "{:?}", step);
            compare(&fixture, &key, &model, &signatures)?;
        }
        let report = fixture.store.check(&admin(), &[]).unwrap();
        prop_assert!(report.damaged.is_empty(), "{:?}", report.damaged);
        Ok(())
    });
    held.unwrap();
}

/// Machines' clocks may be a minute apart, and no more.
#[test]
fn a_clock_may_be_a_minute_behind_the_log() {
    let fixture = Fixture::new(&Memory::new());
    let key = fixture.key("k", "Ed25519");
    let id = key.at(version(1));
    let minute = Duration::from_secs(60);
    let schedule = || code(fixture.store.schedule_destruction(&admin(), &id, DAY));
    fixture.clock.set_back(minute + Duration::from_millis(1));
    assert_eq!(schedule(), "clock-behind");
    fixture.clock.advance(Duration::from_millis(1));
    assert_eq!(schedule(), "done");
}

/// Only what is of no use any more is removed: what was destroyed, and what is below the minimum.
#[test]
fn only_versions_of_no_use_are_removed() {
    use Step::{Destroy, Disable, Schedule, Wait};

    let scheduled = [Schedule(1, DAY)];
    let disabled_and_scheduled = [Disable(1), Schedule(1, DAY)];
    let destroyed = [Schedule(1, DAY), Wait(DAY), Destroy(1)];
    let disabled_and_destroyed = [Disable(1), Schedule(1, DAY), Wait(DAY), Destroy(1)];
    for (steps, expected) in [
        (&[][..], "state"),
        (&[Disable(1)], "state"),
        (&scheduled, "state"),
        (&disabled_and_scheduled, "state"),
        (&destroyed, "done"),
        (&disabled_and_destroyed, "done"),
    ] {
        for minimum in [1, 2] {
            let fixture = Fixture::new(&Memory::new());
            let key = fixture.key("k", "Ed25519");
            fixture.store.rotate(&admin(), &key).unwrap();
            for step in steps.iter().copied().chain([Step::Minimum(minimum)]) {
                assert_eq!(done(&fixture, &key, step), "done");
            }
            let trimmed = done(&fixture, &key, Step::Trim(2));
            assert_eq!(
                trimmed,
                if minimum == 2 { "done" } else { expected },
                "{steps:?}"
            );
            let versions = fixture.store.show(&admin(), &key).unwrap().versions;
            assert_eq!(versions.len(), if trimmed == "done" { 1 } else { 2 });
        }
    }
}
