//! aarch64.

use super::effect::{Effect, FLAGS, Place, split};
use crate::disassembly::{Flow, Instruction};

/// What an instruction does.
pub(super) fn effect(instruction: &Instruction) -> Effect {
    let mnemonic = instruction.mnemonic.as_str();
    let operands = split(&instruction.operands, '[', ']');
    let is_word = operands
        .first()
        .is_some_and(|operand| operand.starts_with('x'))
        && matches!(mnemonic, "ldr" | "ldp" | "ldur");
    let place = |operand: &str| place_of(operand, is_word);
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
        Flow::Call(_) | Flow::End => return effect,
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
            let bytes = match operands.first().map_or("", |operand| &operand[..1]) {
                "q" => 16,
                "w" | "s" => 4,
                _ if mnemonic == "ldpsw" => 4,
                _ => 8,
            };
            let mut places = places.into_iter();
            if let (Some(first), Some(second), Some(memory)) =
                (places.next(), places.next(), places.next())
            {
                let after = match &memory {
                    Place::Stack(operand) => Place::Stack(stack_after(operand, bytes)),
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

/// An operand as in `#1`, `w0`, `v0.4s`, `lsl #2` or `[sp, #32]`.
fn place_of(operand: &str, is_word: bool) -> Place {
    if operand.starts_with('[') {
        let registers = registers_of(operand);
        match registers.as_slice() {
            [stack] if stack == "sp" => Place::Stack(operand.into()),
            _ => Place::Memory { registers, is_word },
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

/// The place so many bytes after one as in `[sp]` or `[sp, #32]`. One that moves the stack pointer,
/// as in `[sp, #-16]!`, has none that is known.
fn stack_after(operand: &str, bytes: u32) -> String {
    let offset = operand
        .strip_prefix("[sp")
        .and_then(|rest| rest.strip_suffix(']'));
    let offset = offset.and_then(|offset| match offset {
        "" => Some(0),
        offset => offset.strip_prefix(", #")?.parse::<u32>().ok(),
    });
    match offset {
        Some(offset) => format!("[sp, #{}]", offset + bytes),
        None => format!("after {operand}"),
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
