//! The effects of aarch64's instructions.

use super::effect::{Effect, FLAGS, Length, Place, split};
use crate::disassembly::{Flow, Instruction};

/// The registers that a called function may change.
const CLOBBERED: [&str; 19] = [
    "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14",
    "x15", "x16", "x17", "x18",
];

/// The distance from the stack pointer to the frame pointer after a function's prologue, if it sets one.
/// Also `None` if the stack pointer moves by more than the prologue says.
pub(super) fn frame_pointer(instructions: &[Instruction]) -> Option<i64> {
    let set = instructions.iter().position(|i| {
        matches!(i.mnemonic.as_str(), "add" | "mov") && i.operands.starts_with("x29, sp")
    })?;
    let behind = immediate(&instructions[set].operands).unwrap_or(0);
    let is_move = |i: &&Instruction| i.mnemonic == "sub" && i.operands.starts_with("sp, sp, ");
    let jumps = |i: &Instruction| !matches!(i.flow, Flow::On);
    let after = &instructions[set..];
    let (prologue, rest) = after.split_at(after.iter().position(jumps).unwrap_or(after.len()));
    let moves = prologue.iter().filter(is_move);
    let moved: Option<i64> = moves.map(|i| immediate(&i.operands)).sum();
    let moved = moved.filter(|_| !rest.iter().any(|i| is_move(&i)))?;
    Some(behind + moved)
}

/// The number in an operand such as `sp, sp, #0x1, lsl #12`.
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

/// The effect of an instruction, where the frame pointer is this far above the stack pointer.
pub(super) fn effect(instruction: &Instruction, frame_pointer: Option<i64>) -> Effect {
    let mnemonic = instruction.mnemonic.as_str();
    let operands = split(&instruction.operands, '[', ']');
    let length = length_of(mnemonic, operands.first().copied().unwrap_or_default());
    let place = |operand: &str| place_of(operand, length, frame_pointer);
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
        moves_stack: moves_stack(&operands),
        addresses,
        jumps: false,
        is_computed: false,
        divides: mnemonic.ends_with("div"),
        calls: None,
    };
    let flags = || Place::Register(FLAGS.into());
    match &instruction.flow {
        Flow::Jump { target, .. } => {
            effect.jumps = true;
            effect.is_computed = target.is_none();
            effect.inputs = match mnemonic {
                "b" => Vec::new(),
                _ if mnemonic.starts_with("b.") => vec![flags()],
                // the register that is tested or holds the address
                _ => places.drain(..1).collect(),
            };
            return effect;
        }
        Flow::Call(_) => {
            effect.calls = Some(&CLOBBERED);
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
                    Place::Stack { offset, length } => Place::Stack {
                        offset: offset + i64::from(length.most),
                        length: *length,
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
            // these keep a part of the old value
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

/// The length of an instruction's operand in memory, by its first register; for a pair, the length of one half.
fn length_of(mnemonic: &str, register: &str) -> Length {
    let bytes = match (register.get(..1), mnemonic) {
        (_, "ldrb" | "ldurb" | "ldrsb" | "ldursb" | "strb" | "sturb") | (Some("b"), _) => 1,
        (_, "ldrh" | "ldurh" | "ldrsh" | "ldursh" | "strh" | "sturh") | (Some("h"), _) => 2,
        (_, "ldrsw" | "ldursw" | "ldpsw") | (Some("w" | "s"), _) => 4,
        (Some("x" | "d"), _) => 8,
        (Some("q"), _) => 16,
        // several vectors, or parts of them
        _ => return Length { least: 1, most: 64 },
    };
    Length::exactly(bytes)
}

/// An operand as in `#1`, `w0`, `v0.4s`, `lsl #2` or `[sp, #32]`.
fn place_of(operand: &str, length: Length, frame_pointer: Option<i64>) -> Place {
    if operand.starts_with('[') {
        let in_frame = || Some(offset_of(operand, "[x29")? + frame_pointer?);
        match offset_of(operand, "[sp").or_else(in_frame) {
            Some(offset) => Place::Stack { offset, length },
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

/// The offset in an operand that starts with `start`: 32 in `[sp, #32]` for `[sp`. `None` for operands that move
/// the pointer, such as `[sp, #-16]!`.
fn offset_of(operand: &str, start: &str) -> Option<i64> {
    let offset = operand.strip_prefix(start)?.strip_suffix(']')?;
    match offset {
        "" => Some(0),
        offset => offset.strip_prefix(", #")?.parse().ok(),
    }
}

/// Whether an instruction's operand in memory moves the stack pointer, such as `[sp, #-16]!` and
/// `[sp], #16`.
fn moves_stack(operands: &[&str]) -> bool {
    let at = operands
        .iter()
        .position(|operand| operand.starts_with("[sp"));
    at.is_some_and(|at| operands[at].ends_with('!') || at + 1 < operands.len())
}

/// Whether an operand is `s0` and the like, and not the stack pointer.
fn is_scalar_vector(operand: &str) -> bool {
    let number = operand.strip_prefix('s');
    number.is_some_and(|number| number.starts_with(|c: char| c.is_ascii_digit()))
}

/// The general registers in an operand, as `x` and their number; the stack pointer by its name.
fn registers_of(operand: &str) -> Vec<String> {
    let words = operand.split(|c: char| !c.is_ascii_alphanumeric());
    let names = words.filter_map(|word| match word.split_at_checked(1)? {
        _ if word == "sp" => Some("sp".to_owned()),
        ("x" | "w", number) if number.parse::<u8>().is_ok() => Some(format!("x{number}")),
        _ => None,
    });
    names.collect()
}
