//! What instructions do to what is known.

use std::collections::HashMap;

use super::{Arguments, Kind};

/// What a register or a place on the stack holds. Where several come together, in an instruction or
/// from several ways to the same one, it is the last of these.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Value {
    /// Constants, where they are, and what counts by them.
    Known,
    /// Where the structure is that the function was called with.
    Structure,
    /// What the function was called with.
    Argument,
    /// An address in the function's own frame.
    Stack,
    /// What is in memory, or was in a vector.
    Data,
}

/// What is known of the registers and of the stack.
#[derive(Clone, Default)]
pub(super) struct State {
    /// In those that were not written it is what the function was called with.
    registers: HashMap<String, Value>,
    /// By offset from the stack pointer, with their lengths, as they were stored last. All else there
    /// is data.
    stack: HashMap<i64, (u32, Value)>,
}

/// In place of a register, the flags that a conditional jump looks at.
pub(super) const FLAGS: &str = "flags";

impl State {
    /// Before the first instruction.
    pub(super) fn new(arguments: Arguments) -> Self {
        let structure = match arguments {
            Arguments::Values => &[][..],
            // the first argument on either architecture
            Arguments::Structure => &["rdi", "x0"],
        };
        let structure = structure
            .iter()
            .map(|name| ((*name).into(), Value::Structure));
        Self {
            registers: structure.collect(),
            stack: HashMap::new(),
        }
    }

    fn register(&self, name: &str) -> Value {
        let written = self.registers.get(name).copied();
        written.unwrap_or(match name {
            "rsp" | "sp" => Value::Stack,
            "rip" | FLAGS => Value::Known,
            _ => Value::Argument,
        })
    }

    fn value(&self, place: &Place) -> Value {
        match place {
            Place::Constant => Value::Known,
            Place::Register(name) => self.register(name),
            Place::Vector => Value::Data,
            Place::Stack { offset, bytes } => match self.stack.get(offset) {
                Some((stored, value)) if bytes <= stored => *value,
                _ => Value::Data,
            },
            Place::Words { offset, index } => {
                let words = (*offset..).step_by(8);
                let words =
                    words.map_while(|at| self.stack.get(&at).filter(|(bytes, _)| *bytes == 8));
                let stored = words.map(|(_, value)| *value).max().unwrap_or(Value::Data);
                stored.max(self.register(index))
            }
            Place::Memory(registers) => match self.address(registers) {
                Value::Known => Value::Known,
                Value::Structure if registers.len() == 1 => Value::Argument,
                _ => Value::Data,
            },
        }
    }

    fn address(&self, registers: &[String]) -> Value {
        let values = registers.iter().map(|name| self.register(name));
        values.max().unwrap_or(Value::Known)
    }

    fn store(&mut self, place: &Place, value: Value) {
        match place {
            Place::Register(name) => {
                self.registers.insert(name.clone(), value);
            }
            Place::Stack { offset, bytes } => {
                let end = offset + i64::from(*bytes);
                self.stack
                    .retain(|at, (length, _)| *at >= end || at + i64::from(*length) <= *offset);
                self.stack.insert(*offset, (*bytes, value));
            }
            // somewhere in the frame
            Place::Words { .. } if value == Value::Data => self.stack.clear(),
            Place::Memory(registers)
                if value == Value::Data && self.address(registers) == Value::Stack =>
            {
                self.stack.clear();
            }
            _ => {}
        }
    }

    /// Adds what another way to the same instruction knows, and says whether that
    /// was new.
    pub(super) fn join(known: &mut Option<Self>, other: &Self) -> bool {
        let Some(known) = known else {
            *known = Some(other.clone());
            return true;
        };
        let mut changed = false;
        let written = other.registers.keys().chain(known.registers.keys());
        let joined = written.map(|name| {
            let value = known.register(name).max(other.register(name));
            (name.clone(), value)
        });
        let joined: Vec<_> = joined.collect();
        for (name, value) in joined {
            changed |= known.register(&name) != value;
            known.registers.insert(name, value);
        }
        known.stack.retain(|offset, (bytes, value)| {
            let before = *value;
            let stays = match other.stack.get(offset) {
                Some((others, theirs)) if others == bytes => {
                    *value = before.max(*theirs);
                    true
                }
                _ => false,
            };
            changed |= !stays || *value != before;
            stays
        });
        changed
    }
}

/// An operand.
pub(super) enum Place {
    Constant,
    Register(String),
    Vector,
    /// So far behind the stack pointer, so long.
    Stack {
        offset: i64,
        bytes: u32,
    },
    /// One of the words so far behind the stack pointer, of which all were stored, by a register.
    Words {
        offset: i64,
        index: String,
    },
    /// At the sum of these registers, and a constant.
    Memory(Vec<String>),
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
    /// The registers in which a call returns something.
    pub(super) returned: &'static [&'static str],
}

impl Effect {
    pub(super) fn apply(&self, state: &mut State) {
        let inputs = self.inputs.iter().map(|place| state.value(place));
        let value = inputs.max().unwrap_or(Value::Known);
        let second = self.second.as_ref();
        let second = second.map(|(input, output)| (output, state.value(input)));
        let outputs = self.outputs.iter().map(|output| (output, value));
        for (output, value) in outputs.chain(second) {
            state.store(output, value);
        }
        if self.sets_flags {
            state.registers.insert(FLAGS.into(), value);
        }
        for register in self.returned {
            state.registers.insert((*register).into(), Value::Data);
        }
    }

    pub(super) fn kind(&self, state: &State) -> Option<Kind> {
        let is_data = |place| state.value(place) == Value::Data;
        if self.jumps && self.inputs.iter().any(is_data) {
            Some(Kind::Branch)
        } else if state.address(&self.addresses) == Value::Data {
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
