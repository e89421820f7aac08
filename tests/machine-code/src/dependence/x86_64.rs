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
    let place = |operand: &str| place_of(operand, is_word);
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
    };
    let flags = || Place::Register(FLAGS.into());
    match &instruction.flow {
        Flow::Jump { conditional, .. } => {
            effect.jumps = true;
            effect.inputs = if *conditional { vec![flags()] } else { places };
            effect
                .inputs
                .retain(|place| !matches!(place, Place::Memory { .. }));
            return effect;
        }
        Flow::Call(_) | Flow::End => return effect,
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

/// An operand as in `$1`, `%eax`, `%zmm3{%k1}` or `0x20(%rsp,%rax,4)`.
fn place_of(operand: &str, is_word: bool) -> Place {
    if operand.starts_with('$') || operand.contains('<') {
        Place::Constant
    } else if operand.contains('(') {
        let registers = registers_of(operand);
        match registers.as_slice() {
            [stack] if stack == "rsp" => Place::Stack(operand.into()),
            // constants of the program
            [pc] if pc == "rip" => Place::Constant,
            _ => Place::Memory { registers, is_word },
        }
    } else {
        match registers_of(operand).pop() {
            Some(name) if name.starts_with(['k', 'x', 'y', 'z']) => Place::Vector,
            Some(name) => Place::Register(name),
            None => Place::Constant,
        }
    }
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
