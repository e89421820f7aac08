//! What instructions do to what is known.

use std::collections::HashMap;

use super::Kind;

/// The registers and places on the stack that are known, and whether they hold data.
/// Registers that are not known hold what the function was called with, places on the
/// stack data.
#[derive(Clone, Default)]
pub(super) struct State(HashMap<String, bool>);

/// In place of a register, the flags that a conditional jump looks at.
pub(super) const FLAGS: &str = "flags";

impl State {
    fn is_data(&self, place: &Place) -> bool {
        let known = |name: &str| self.0.get(name).copied();
        match place {
            Place::Constant => false,
            Place::Register(name) => known(name).unwrap_or(false),
            Place::Vector => true,
            Place::Stack(name) => known(name).unwrap_or(true),
            Place::Memory { registers, is_word } => {
                let is_indexed = registers.len() > 1;
                let is_on_stack = registers.first().is_some_and(|base| base == "rsp");
                !is_word
                    || is_indexed && !is_on_stack
                    || registers.iter().any(|name| self.has_data(name))
            }
        }
    }

    fn has_data(&self, register: &str) -> bool {
        self.0.get(register).copied().unwrap_or(false)
    }

    /// Adds what another way to the same instruction knows, and says whether that
    /// was new.
    pub(super) fn join(known: &mut Option<Self>, other: &Self) -> bool {
        let Some(known) = known else {
            *known = Some(other.clone());
            return true;
        };
        let mut changed = false;
        for (name, data) in &other.0 {
            let before = known.0.entry(name.clone()).or_insert(false);
            changed |= *data && !*before;
            *before |= *data;
        }
        changed
    }
}

/// An operand.
pub(super) enum Place {
    Constant,
    Register(String),
    Vector,
    Stack(String),
    Memory {
        registers: Vec<String>,
        is_word: bool,
    },
}

/// What an instruction does: it computes all of its outputs from all of its inputs.
pub(super) struct Effect {
    pub(super) inputs: Vec<Place>,
    pub(super) outputs: Vec<Place>,
    /// The input and the output of the second half of a pair, which the first has nothing to do
    /// with.
    pub(super) second: Option<(Place, Place)>,
    pub(super) sets_flags: bool,
    /// The registers of addresses.
    pub(super) addresses: Vec<String>,
    /// Whether it jumps by its inputs.
    pub(super) jumps: bool,
    pub(super) divides: bool,
}

impl Effect {
    pub(super) fn apply(&self, state: &mut State) {
        let data = self.inputs.iter().any(|place| state.is_data(place));
        let second = self.second.as_ref();
        let second = second.map(|(input, output)| (output, state.is_data(input)));
        let outputs = self.outputs.iter().map(|output| (output, data));
        for (output, data) in outputs.chain(second) {
            if let Place::Register(name) | Place::Stack(name) = output {
                state.0.insert(name.clone(), data);
            }
        }
        if self.sets_flags {
            state.0.insert(FLAGS.into(), data);
        }
    }

    pub(super) fn kind(&self, state: &State) -> Option<Kind> {
        if self.jumps && self.inputs.iter().any(|place| state.is_data(place)) {
            Some(Kind::Branch)
        } else if self.addresses.iter().any(|name| state.has_data(name)) {
            Some(Kind::Address)
        } else {
            self.divides.then_some(Kind::Division)
        }
    }
}

/// Operands, separated by commas outside of addresses.
pub(super) fn split(operands: &str, open: char, close: char) -> Vec<&str> {
    let mut depth = 0;
    let parts = operands.split(|c| {
        depth += i32::from(c == open) - i32::from(c == close);
        c == ',' && depth == 0
    });
    parts
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .collect()
}
