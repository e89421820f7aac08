//! x86-64, as objdump writes it by default: AT&T's syntax.

use super::effect::{Effect, FLAGS, Place, split};
use crate::disassembly::{Flow, Instruction};

/// How those instructions begin that compute something and leave the flags as they are.
const KEEP_FLAGS: [&str; 10] = [
    "cmov", "bswap", "not", "rorx", "shlx", "shrx", "sarx", "pdep", "pext", "prefetch",
];

/// What an instruction does.
pub(super) fn effect(instruction: &Instruction) -> Effect {
    let mnemonic = instruction.mnemonic.as_str();
    let operands = split(&instruction.operands, '(', ')');
    let is_word = mnemonic.ends_with('q')
        || operands
            .iter()
            .any(|operand| operand.starts_with("%r") && !operand.ends_with(['d', 'w', 'b']))
            && !mnemonic.starts_with("movz")
            && !mnemonic.starts_with("movs");
    let bytes = bytes_of(mnemonic, &operands, is_word);
    let place = |operand: &str| place_of(operand, bytes);
    let mut places: Vec<Place> = operands.iter().map(|operand| place(operand)).collect();
    let addresses = operands.iter().filter(|operand| operand.contains('('));
    let addresses = addresses.flat_map(|operand| registers_of(operand));
    let mut effect = Effect {
        inputs: Vec::new(),
        outputs: Vec::new(),
        second: None,
        sets_flags: false,
        addresses: addresses.collect(),
        jumps: false,
        divides: mnemonic.contains("div"),
        returned: &[],
    };
    let flags = || Place::Register(FLAGS.into());
    match &instruction.flow {
        Flow::Jump { conditional, .. } => {
            effect.jumps = true;
            effect.inputs = if *conditional { vec![flags()] } else { places };
            effect
                .inputs
                .retain(|place| !matches!(place, Place::Memory(_)));
            return effect;
        }
        Flow::Call(_) => {
            effect.returned = &["rax", "rdx"];
            return effect;
        }
        Flow::End => return effect,
        Flow::On => {}
    }
    match mnemonic {
        // of any length, by its prefixes
        "data16" | "cs" if instruction.operands.contains("nop") => effect.addresses.clear(),
        "lea" => {
            let registers = core::mem::take(&mut effect.addresses).into_iter();
            effect.inputs = registers.map(Place::Register).collect();
            effect.outputs.extend(places.pop());
        }
        "nop" | "nopw" | "nopl" | "push" | "endbr64" | "vzeroupper" => effect.addresses.clear(),
        "pop" => effect.outputs = places,
        "cltq" => {}
        "cltd" | "cqto" => {
            effect.inputs = vec![Place::Register("rax".into())];
            effect.outputs = vec![Place::Register("rdx".into())];
        }
        "xchg" => {
            effect.inputs = places;
            effect.outputs = operands.iter().map(|operand| place(operand)).collect();
        }
        _ if mnemonic.starts_with("mulx") => {
            effect.outputs = places.split_off(1);
            effect.inputs = places;
            effect.inputs.push(Place::Register("rdx".into()));
        }
        _ if mnemonic.starts_with("cmp")
            || mnemonic.contains("test")
            || mnemonic.contains("comis")
            || mnemonic == "bt" =>
        {
            effect.inputs = places;
            effect.sets_flags = true;
        }
        _ if mnemonic.starts_with("set") => {
            effect.inputs = vec![flags()];
            effect.outputs = places;
        }
        _ if mnemonic.starts_with("mov") || mnemonic.starts_with(['v', 'k']) => {
            effect.outputs.extend(places.pop());
            effect.inputs = places;
        }
        "xor" | "sub" if operands.len() == 2 && operands[0] == operands[1] => {
            effect.outputs.extend(places.pop());
            effect.sets_flags = true;
        }
        "mul" | "imul" | "div" | "idiv" if operands.len() == 1 => {
            places.push(Place::Register("rax".into()));
            effect.inputs = places;
            effect.outputs = ["rax", "rdx"].map(|r| Place::Register(r.into())).into();
            effect.sets_flags = true;
        }
        _ => {
            if mnemonic.starts_with("cmov")
                || mnemonic.starts_with("adc")
                || mnemonic.starts_with("sbb")
            {
                effect.inputs.push(flags());
            }
            // vectors' instructions too, all but `ptest` and its kind above
            let keeps_flags = places.iter().any(|place| matches!(place, Place::Vector))
                || KEEP_FLAGS.iter().any(|start| mnemonic.starts_with(start));
            effect
                .outputs
                .extend(operands.last().map(|operand| place(operand)));
            effect.inputs.append(&mut places);
            effect.sets_flags = !keeps_flags;
        }
    }
    effect
}

/// How long what an instruction has in memory is at most.
fn bytes_of(mnemonic: &str, operands: &[&str], is_word: bool) -> u32 {
    let vectors = operands
        .iter()
        .filter_map(|operand| match operand.get(..4)? {
            "%xmm" => Some(16),
            "%ymm" => Some(32),
            "%zmm" => Some(64),
            _ => None,
        });
    let of_half = [
        "movd", "movq", "movss", "movsd", "movlps", "movlpd", "movhps", "movhpd",
    ];
    let name = mnemonic.trim_start_matches('v');
    match vectors.max() {
        Some(_) if of_half.contains(&name) || name.starts_with("pextr") => 8,
        Some(bytes) => bytes,
        None if is_word => 8,
        // the registers of masks, too
        None if operands.iter().any(|operand| operand.starts_with("%k")) => 8,
        None => 4,
    }
}

/// An operand as in `$1`, `%eax`, `%zmm3{%k1}` or `0x20(%rsp,%rax,4)`.
fn place_of(operand: &str, bytes: u32) -> Place {
    if operand.starts_with('$') || operand.contains('<') {
        Place::Constant
    } else if operand.contains('(') {
        let registers = registers_of(operand);
        match registers.as_slice() {
            [stack]
                if stack == "rsp"
                    && let Some(offset) = offset_of(operand) =>
            {
                Place::Stack { offset, bytes }
            }
            [stack, index]
                if stack == "rsp"
                    && bytes == 8
                    && operand.ends_with(",8)")
                    && let Some(offset) = offset_of(operand) =>
            {
                Place::Words {
                    offset,
                    index: index.clone(),
                }
            }
            _ => Place::Memory(registers),
        }
    } else {
        match registers_of(operand).pop() {
            Some(name) if name.starts_with(['k', 'x', 'y', 'z']) => Place::Vector,
            Some(name) => Place::Register(name),
            None => Place::Constant,
        }
    }
}

/// -0x20 of `-0x20(%rsp)`.
fn offset_of(operand: &str) -> Option<i64> {
    let (offset, _) = operand.split_once('(')?;
    let (is_negative, digits) = match offset.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, offset),
    };
    let magnitude = match digits.strip_prefix("0x") {
        Some(digits) => i64::from_str_radix(digits, 16).ok()?,
        None if digits.is_empty() => 0,
        None => return None,
    };
    Some(if is_negative { -magnitude } else { magnitude })
}

/// The general registers in an operand, by their names of 64 bits; others by their own.
fn registers_of(operand: &str) -> Vec<String> {
    let names = operand.split('%').skip(1).map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric());
        let name = &rest[..end.unwrap_or(rest.len())];
        match name
            .strip_prefix('r')
            .filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        {
            Some(number) => format!("r{}", number.trim_end_matches(['d', 'w', 'b'])),
            None => match name.trim_start_matches(['r', 'e']).trim_end_matches('l') {
                "a" | "ax" | "ah" => "rax".into(),
                "b" | "bx" | "bh" => "rbx".into(),
                "c" | "cx" | "ch" => "rcx".into(),
                "d" | "dx" | "dh" => "rdx".into(),
                "si" => "rsi".into(),
                "di" => "rdi".into(),
                "bp" => "rbp".into(),
                "sp" => "rsp".into(),
                _ => name.into(),
            },
        }
    });
    names.collect()
}
