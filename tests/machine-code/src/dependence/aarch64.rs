//! aarch64.

use super::effect::{Effect, FLAGS, Place, split};
use crate::disassembly::{Flow, Instruction};

/// How far behind the stack pointer the frame pointer is, after a function's prologue, if it has one.
pub(super) fn frame_pointer(instructions: &[Instruction]) -> Option<i64> {
    let set = instructions.iter().position(|i| {
        matches!(i.mnemonic.as_str(), "add" | "mov") && i.operands.starts_with("x29, sp")
    })?;
    let behind = immediate(&instructions[set].operands).unwrap_or(0);
    let moves = instructions[set..].iter();
    let moves = moves.filter(|i| i.mnemonic == "sub" && i.operands.starts_with("sp, sp, "));
    let moved: Option<i64> = moves.map(|i| immediate(&i.operands)).sum();
    Some(behind + moved?)
}

/// The number in `sp, sp, #0x1, lsl #12`.
fn immediate(operands: &str) -> Option<i64> {
    let (_, number) = operands.split_once('#')?;
    let (number, shift) = match number.split_once(", lsl #") {
        Some((number, shift)) => (number, shift.parse().ok()?),
        None => (number, 0),
    };
    let number = match number.strip_prefix("0x") {
        Some(digits) => i64::from_str_radix(digits, 16).ok()?,
        None => number.parse().ok()?,
    };
    number.checked_shl(shift)
}

/// What an instruction does, where the frame pointer is so far behind the stack pointer.
pub(super) fn effect(instruction: &Instruction, frame_pointer: Option<i64>) -> Effect {
    let mnemonic = instruction.mnemonic.as_str();
    let operands = split(&instruction.operands, '[', ']');
    let bytes = bytes_of(mnemonic, operands.first().copied().unwrap_or_default());
    let place = |operand: &str| place_of(operand, bytes, frame_pointer);
    let mut places: Vec<Place> = operands.iter().map(|operand| place(operand)).collect();
    let addresses = operands.iter().filter(|operand| operand.starts_with('['));
    let addresses: Vec<String> = addresses
        .flat_map(|operand| registers_of(operand))
        .collect();
    let mut effect = Effect {
        inputs: Vec::new(),
        outputs: Vec::new(),
        second: None,
        sets_flags: matches!(
            mnemonic,
            "adds" | "subs" | "ands" | "bics" | "negs" | "adcs" | "sbcs"
        ),
        addresses,
        jumps: false,
        divides: mnemonic.ends_with("div"),
        returned: &[],
    };
    let flags = || Place::Register(FLAGS.into());
    match &instruction.flow {
        Flow::Jump { .. } => {
            effect.jumps = true;
            effect.inputs = match mnemonic {
                "b" => Vec::new(),
                _ if mnemonic.starts_with("b.") => vec![flags()],
                // the register that is tested or holds the address
                _ => places.drain(..1).collect(),
            };
            return effect;
        }
        Flow::Call(_) => {
            effect.returned = &["x0", "x1"];
            return effect;
        }
        Flow::End => return effect,
        Flow::On => {}
    }
    match mnemonic {
        "nop" | "bti" | "paciasp" | "autiasp" | "prfm" => {}
        "cmp" | "cmn" | "tst" | "fcmp" => {
            effect.inputs = places;
            effect.sets_flags = true;
        }
        "ccmp" | "ccmn" => {
            effect.inputs = places;
            effect.inputs.push(flags());
            effect.sets_flags = true;
        }
        "stp" | "stnp" | "ldp" | "ldnp" | "ldpsw" => {
            let mut places = places.into_iter();
            if let (Some(first), Some(second), Some(memory)) =
                (places.next(), places.next(), places.next())
            {
                let after = match &memory {
                    Place::Stack { offset, bytes } => Place::Stack {
                        offset: offset + i64::from(*bytes),
                        bytes: *bytes,
                    },
                    _ => place(operands[2]),
                };
                let (from, to, pair) = if mnemonic.starts_with("st") {
                    (first, memory, (second, after))
                } else {
                    (memory, first, (after, second))
                };
                effect.inputs = vec![from];
                effect.outputs = vec![to];
                effect.second = Some(pair);
            }
        }
        _ if mnemonic.starts_with("st") => {
            effect.outputs = places.split_off(1);
            effect.inputs = places;
        }
        _ if !places.is_empty() => {
            if mnemonic.starts_with("cs")
                || mnemonic.starts_with("cin")
                || mnemonic.starts_with("adc")
                || mnemonic.starts_with("sbc")
            {
                effect.inputs.push(flags());
            }
            let inputs = places.split_off(1);
            effect.outputs = places;
            effect.inputs.extend(inputs);
            // these keep a part of what is there
            if matches!(mnemonic, "movk" | "bfi" | "bfxil") {
                effect
                    .inputs
                    .extend(operands.first().map(|operand| place(operand)));
            }
        }
        _ => {}
    }
    effect
}

/// How long what an instruction has in memory is at most, one half of a pair, by its first register.
fn bytes_of(mnemonic: &str, register: &str) -> u32 {
    match register.get(..1) {
        Some("{") => 64,
        Some("q") => 16,
        Some("x") if mnemonic.ends_with("sw") => 4,
        Some("x" | "d") => 8,
        _ => 4,
    }
}

/// An operand as in `#1`, `w0`, `v0.4s`, `lsl #2` or `[sp, #32]`.
fn place_of(operand: &str, bytes: u32, frame_pointer: Option<i64>) -> Place {
    if operand.starts_with('[') {
        let in_frame = || Some(offset_of(operand, "[x29")? + frame_pointer?);
        match offset_of(operand, "[sp").or_else(in_frame) {
            Some(offset) => Place::Stack { offset, bytes },
            None => Place::Memory(registers_of(operand)),
        }
    } else if operand.starts_with(['{', 'v', 'q', 'd', 'h', 'b']) || is_scalar_vector(operand) {
        Place::Vector
    } else {
        match registers_of(operand).pop() {
            Some(name) => Place::Register(name),
            None => Place::Constant,
        }
    }
}

/// 32 of `[sp, #32]`, which starts with `[sp`. What moves the pointer, as `[sp, #-16]!` does, has
/// none.
fn offset_of(operand: &str, start: &str) -> Option<i64> {
    let offset = operand.strip_prefix(start)?.strip_suffix(']')?;
    match offset {
        "" => Some(0),
        offset => offset.strip_prefix(", #")?.parse().ok(),
    }
}

/// `s0` and the like, which are no stack pointers.
fn is_scalar_vector(operand: &str) -> bool {
    let number = operand.strip_prefix('s');
    number.is_some_and(|number| number.starts_with(|c: char| c.is_ascii_digit()))
}

/// The general registers in an operand, by their numbers; the stack pointer by name.
fn registers_of(operand: &str) -> Vec<String> {
    let words = operand.split(|c: char| !c.is_ascii_alphanumeric());
    let names = words.filter_map(|word| match word.split_at_checked(1)? {
        _ if word == "sp" => Some("sp".to_owned()),
        ("x" | "w", number) if number.parse::<u8>().is_ok() => Some(format!("x{number}")),
        _ => None,
    });
    names.collect()
}
