//! What instructions do to what is known.

use alloc::collections::BTreeMap;
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
    /// Byte by byte, by offset from the stack pointer, as they were stored last. All else there is data.
    stack: BTreeMap<i64, Value>,
    /// Whether something was stored on the stack by an address that is not known.
    is_scattered: bool,
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
            stack: BTreeMap::new(),
            is_scattered: false,
        }
    }

    fn register(&self, name: &str) -> Value {
        let written = self.registers.get(name).copied();
        written.unwrap_or_else(|| match name {
            "rsp" | "sp" => Value::Stack,
            "rip" | FLAGS => Value::Known,
            // as a gather's addresses
            _ if ["xmm", "ymm", "zmm"].contains(&name.get(..3).unwrap_or_default()) => Value::Data,
            _ => Value::Argument,
        })
    }

    fn value(&self, place: &Place) -> Value {
        match place {
            Place::Constant => Value::Known,
            Place::Register(name) => self.register(name),
            Place::Vector => Value::Data,
            Place::Stack { offset, length } => self.bytes(*offset, length.most),
            Place::Words { offset, index } => self.words(*offset).max(self.register(index)),
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

    /// So many bytes on the stack.
    fn bytes(&self, offset: i64, count: u32) -> Value {
        let bytes = (offset..).take(count as usize);
        let values = bytes.map(|at| self.stack.get(&at).copied().unwrap_or(Value::Data));
        values.max().unwrap_or(Value::Data)
    }

    /// Any of the words on the stack from this one to the first of which no byte was stored.
    fn words(&self, offset: i64) -> Value {
        let mut value = self.bytes(offset, 8);
        for at in (offset..).step_by(8).skip(1) {
            let is_stored = self.stack.range(at..at + 8).next().is_some();
            if value == Value::Data || !is_stored && !self.is_scattered {
                break;
            }
            value = value.max(self.bytes(at, 8));
        }
        value
    }

    fn store(&mut self, place: &Place, value: Value) {
        match place {
            Place::Register(name) => {
                self.registers.insert(name.clone(), value);
                if ["rsp", "sp"].contains(&name.as_str()) {
                    self.move_stack();
                }
            }
            Place::Stack { offset, length } => self.store_on_stack(*offset, *length, value),
            Place::Words { .. } => self.scatter(value),
            Place::Memory(registers) => {
                if self.address(registers) >= Value::Stack {
                    self.scatter(value);
                }
                let mut values = registers.iter().map(|name| self.register(name));
                if value > Value::Argument && values.any(|value| value == Value::Structure) {
                    self.give_up_structure();
                }
            }
            Place::Constant | Place::Vector => {}
        }
    }

    fn store_on_stack(&mut self, offset: i64, length: Length, value: Value) {
        for (at, written) in (offset..).zip(0..length.most) {
            let value = if written < length.least {
                value
            } else {
                Value::Data
            };
            self.stack.insert(at, value);
        }
    }

    /// All that is on the stack has another offset from now on.
    fn move_stack(&mut self) {
        self.is_scattered |= self.stack.values().any(|value| *value == Value::Data);
        self.stack.clear();
    }

    /// Stores somewhere on the stack.
    fn scatter(&mut self, value: Value) {
        for stored in self.stack.values_mut() {
            *stored = value.max(*stored);
        }
        self.is_scattered |= value == Value::Data;
    }

    /// What is in the structure is not what the function was called with any more.
    fn give_up_structure(&mut self) {
        for value in self.registers.values_mut().chain(self.stack.values_mut()) {
            if *value == Value::Structure {
                *value = Value::Argument;
            }
        }
    }

    /// After a call, of a function that may store whatever it likes wherever it has an address of.
    fn call(&mut self, clobbered: &[&str]) {
        for register in clobbered {
            self.registers.insert((*register).into(), Value::Data);
        }
        self.scatter(Value::Data);
        self.give_up_structure();
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
        // what only one of them stored is data
        for offset in other.stack.keys() {
            known.stack.entry(*offset).or_insert_with(|| {
                changed = true;
                Value::Data
            });
        }
        for (offset, value) in &mut known.stack {
            let theirs = other.stack.get(offset).copied().unwrap_or(Value::Data);
            changed |= theirs > *value;
            *value = theirs.max(*value);
        }
        changed |= other.is_scattered && !known.is_scattered;
        known.is_scattered |= other.is_scattered;
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
        length: Length,
    },
    /// One of the words so far behind the stack pointer, of which all were stored, by a register.
    Words {
        offset: i64,
        index: String,
    },
    /// At the sum of these registers, and a constant.
    Memory(Vec<String>),
}

/// How many bytes an instruction has in memory, as far as its name and its operands tell.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Length {
    pub(super) least: u32,
    pub(super) most: u32,
}

impl Length {
    pub(super) const fn exactly(bytes: u32) -> Self {
        Self {
            least: bytes,
            most: bytes,
        }
    }
}

/// What an instruction does: it computes all of its outputs from all of its inputs.
pub(super) struct Effect {
    pub(super) inputs: Vec<Place>,
    pub(super) outputs: Vec<Place>,
    /// The input and the output of the second half of a pair, which the first has nothing to do
    /// with.
    pub(super) second: Option<(Place, Place)>,
    pub(super) sets_flags: bool,
    /// Whether the stack pointer is another one afterwards, by which the outputs are.
    pub(super) moves_stack: bool,
    /// The registers of addresses.
    pub(super) addresses: Vec<String>,
    /// Whether it jumps by its inputs.
    pub(super) jumps: bool,
    /// Whether it jumps to where only its inputs say.
    pub(super) is_computed: bool,
    pub(super) divides: bool,
    /// If it calls a function, the registers that this need not leave as they are.
    pub(super) calls: Option<&'static [&'static str]>,
}

impl Effect {
    pub(super) fn apply(&self, state: &mut State) {
        let inputs = self.inputs.iter().map(|place| state.value(place));
        let value = inputs.max().unwrap_or(Value::Known);
        let second = self.second.as_ref();
        let second = second.map(|(input, output)| (output, state.value(input)));
        if self.moves_stack {
            state.move_stack();
        }
        let outputs = self.outputs.iter().map(|output| (output, value));
        for (output, value) in outputs.chain(second) {
            state.store(output, value);
        }
        if self.sets_flags {
            state.registers.insert(FLAGS.into(), value);
        }
        if let Some(clobbered) = self.calls {
            state.call(clobbered);
        }
    }

    pub(super) fn kind(&self, state: &State) -> Option<Kind> {
        let is_data = |place| state.value(place) == Value::Data;
        if self.jumps && self.inputs.iter().any(is_data) {
            Some(Kind::Branch)
        } else if state.address(&self.addresses) == Value::Data {
            Some(Kind::Address)
        } else if self.is_computed {
            Some(Kind::Computed)
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
