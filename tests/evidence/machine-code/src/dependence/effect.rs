//! How instructions change what is known about registers and the stack.

use alloc::collections::BTreeMap;
use std::collections::HashMap;

use super::{Arguments, Kind};

/// What a register or a place on the stack holds. If several of these come together, in an instruction or
/// from several paths to the same instruction, the result is the last of them in this order.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Value {
    /// Constants, addresses of constants, and counters that depend only on these.
    Known,
    /// The address of the structure that the function was called with.
    Structure,
    /// A value that the function was called with.
    Argument,
    /// An address in the function's own frame.
    Stack,
    /// A value that was in memory or in a vector.
    Data,
}

/// What is known about the registers and the stack.
#[derive(Clone, Default)]
pub(super) struct State {
    /// Registers that were not written are not in here: they hold what the function was called with.
    registers: HashMap<String, Value>,
    /// Each byte that was stored, by its offset from the stack pointer. All other bytes are data.
    stack: BTreeMap<i64, Value>,
    /// Whether something was stored on the stack at an unknown address.
    is_scattered: bool,
}

/// The name that stands for the flags in place of a register: a conditional jump depends on them.
pub(super) const FLAGS: &str = "flags";

impl State {
    /// The state before the first instruction.
    pub(super) fn new(arguments: Arguments) -> Self {
        let structure = match arguments {
            Arguments::Values => &[][..],
            // the first argument on each architecture
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
            // as the addresses of a gather
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

    /// `count` bytes on the stack.
    fn bytes(&self, offset: i64, count: u32) -> Value {
        let bytes = (offset..).take(count as usize);
        let values = bytes.map(|at| self.stack.get(&at).copied().unwrap_or(Value::Data));
        values.max().unwrap_or(Value::Data)
    }

    /// Any word on the stack from this one to the first word with no stored byte.
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

    /// Forgets the stack, since all places on it have other offsets from now on.
    fn move_stack(&mut self) {
        self.is_scattered |= self.stack.values().any(|value| *value == Value::Data);
        self.stack.clear();
    }

    /// Stores at an unknown place on the stack.
    fn scatter(&mut self, value: Value) {
        for stored in self.stack.values_mut() {
            *stored = value.max(*stored);
        }
        self.is_scattered |= value == Value::Data;
    }

    /// From now on, the structure may hold values other than those that the function was called with.
    fn give_up_structure(&mut self) {
        for value in self.registers.values_mut().chain(self.stack.values_mut()) {
            if *value == Value::Structure {
                *value = Value::Argument;
            }
        }
    }

    /// After a call: the called function may store anything at every address that it has.
    fn call(&mut self, clobbered: &[&str]) {
        for register in clobbered {
            self.registers.insert((*register).into(), Value::Data);
        }
        self.scatter(Value::Data);
        self.give_up_structure();
    }

    /// Adds what is known on another path to the same instruction, and returns whether anything
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
        // bytes that only one of them stored are data
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
    /// On the stack, at this offset from the stack pointer.
    Stack {
        offset: i64,
        length: Length,
    },
    /// One of the stored words on the stack from this offset on, chosen by a register.
    Words {
        offset: i64,
        index: String,
    },
    /// At the sum of these registers and a constant.
    Memory(Vec<String>),
}

/// How many bytes an instruction reads or writes in memory, as far as its name and its operands tell.
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
    /// The input and the output of the second half of a pair, which does not depend on the first
    /// half.
    pub(super) second: Option<(Place, Place)>,
    pub(super) sets_flags: bool,
    /// Whether the stack pointer moves. The outputs' offsets are relative to its new value.
    pub(super) moves_stack: bool,
    /// The registers of addresses.
    pub(super) addresses: Vec<String>,
    /// Whether it jumps depending on its inputs.
    pub(super) jumps: bool,
    /// Whether only its inputs say where it jumps to.
    pub(super) is_computed: bool,
    pub(super) divides: bool,
    /// If it calls a function, the registers that the function may change.
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

/// Splits operands at the commas outside of addresses.
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
