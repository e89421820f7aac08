//! The effects of x86-64's instructions, in objdump's default notation: AT&T's syntax.

use super::effect::{Effect, FLAGS, Length, Place, split};
use crate::disassembly::{Flow, Instruction};

/// How the names of instructions begin that compute something but do not change the flags.
const KEEP_FLAGS: [&str; 10] = [
    "cmov", "bswap", "not", "rorx", "shlx", "shrx", "sarx", "pdep", "pext", "prefetch",
];

/// The effect of an instruction.
pub(super) fn effect(instruction: &Instruction) -> Effect {
    let mnemonic = instruction.mnemonic.as_str();
    let operands = split(&instruction.operands, '(', ')');
    let length = length_of(mnemonic, &operands);
    let place = |operand: &str| place_of(operand, length);
    let mut places: Vec<Place> = operands.iter().map(|operand| place(operand)).collect();
    let addresses = operands.iter().filter(|operand| operand.contains('('));
    let addresses = addresses.flat_map(|operand| registers_of(operand));
    let mut effect = Effect {
        inputs: Vec::new(),
        outputs: Vec::new(),
        second: None,
        sets_flags: false,
        moves_stack: false,
        addresses: addresses.collect(),
        jumps: false,
        is_computed: false,
        divides: mnemonic.contains("div"),
        calls: None,
    };
    let flags = || Place::Register(FLAGS.into());
    let top = || Place::Stack {
        offset: 0,
        length: Length::exactly(8),
    };
    match &instruction.flow {
        Flow::Jump {
            target,
            conditional,
        } => {
            effect.jumps = true;
            effect.is_computed = target.is_none();
            effect.inputs = if *conditional { vec![flags()] } else { places };
            effect
                .inputs
                .retain(|place| !matches!(place, Place::Memory(_)));
            return effect;
        }
        Flow::Call(_) => {
            effect.calls = Some(&["rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11"]);
            return effect;
        }
        Flow::End => return effect,
        Flow::On => {}
    }
    match mnemonic {
        // a nop of any length, with prefixes
        "data16" | "cs" if instruction.operands.contains("nop") => effect.addresses.clear(),
        "lea" => {
            let registers = core::mem::take(&mut effect.addresses).into_iter();
            effect.inputs = registers.map(Place::Register).collect();
            effect.outputs.extend(places.pop());
        }
        "nop" | "nopw" | "nopl" | "endbr64" | "vzeroupper" => effect.addresses.clear(),
        "push" => {
            effect.inputs = places;
            effect.outputs = vec![top()];
            effect.moves_stack = true;
        }
        "pop" => {
            effect.inputs = vec![top()];
            effect.outputs = places;
            effect.moves_stack = true;
        }
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
            // vector instructions too, except `ptest` and the like above
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

/// The length of an instruction's operand in memory.
fn length_of(mnemonic: &str, operands: &[&str]) -> Length {
    let name = mnemonic.trim_start_matches('v');
    // %cl holds only the shift distance
    let is_shift = ["sh", "sa", "ro", "rc"]
        .iter()
        .any(|start| name.starts_with(start));
    let registers = operands
        .iter()
        .filter(|operand| !is_shift || **operand != "%cl")
        .filter_map(|operand| register_length(operand));
    let bytes = match (name, registers.max(), name.chars().last()) {
        // the length before the extension, or of a part of a vector
        ("movd" | "movss" | "movslq" | "pextrd", ..) => 4,
        ("movq" | "movsd" | "movlps" | "movlpd" | "movhps" | "movhpd" | "pextrq", ..) => 8,
        _ if name.starts_with("movzb") || name.starts_with("movsb") => 1,
        _ if name.starts_with("movzw") || name.starts_with("movsw") => 2,
        (_, Some(bytes), _) => bytes,
        _ if name.starts_with("set") => 1,
        (.., Some('b')) => 1,
        (.., Some('w')) => 2,
        // `d` is for instructions on masks
        (.., Some('l' | 'd')) => 4,
        (.., Some('q')) => 8,
        _ => return Length { least: 1, most: 64 },
    };
    Length::exactly(bytes)
}

/// The length of a register in bytes: 4 for `%eax`. `None` for masks, and for operands that are not registers.
fn register_length(operand: &str) -> Option<u32> {
    let name = operand.strip_prefix('%')?.split('{').next()?;
    match name.as_bytes() {
        _ if name.contains('(') => None,
        [b'x', ..] => Some(16),
        [b'y', ..] => Some(32),
        [b'z', ..] => Some(64),
        [b'k', ..] => None,
        [b'e', ..] | [b'r', b'0'..=b'9', .., b'd'] => Some(4),
        [b'r', b'0'..=b'9', .., b'b'] | [.., b'l' | b'h'] => Some(1),
        [b'r', b'0'..=b'9', .., b'w'] | [_, _] if name != "r8" && name != "r9" => Some(2),
        _ => Some(8),
    }
}

/// An operand as in `$1`, `%eax`, `%zmm3{%k1}` or `0x20(%rsp,%rax,4)`.
fn place_of(operand: &str, length: Length) -> Place {
    if operand.starts_with('$') || operand.contains('<') {
        Place::Constant
    } else if operand.contains('(') {
        let registers = registers_of(operand);
        match registers.as_slice() {
            [stack]
                if stack == "rsp"
                    && let Some(offset) = offset_of(operand) =>
            {
                Place::Stack { offset, length }
            }
            [stack, index]
                if stack == "rsp"
                    && length == Length::exactly(8)
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

/// The offset in an operand: -0x20 in `-0x20(%rsp)`.
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

/// The general registers in an operand, by their 64-bit names; other registers by their own names.
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

#[cfg(test)]
mod tests {
    use super::{Length, length_of};
    use crate::dependence::effect::split;

    #[test]
    fn lengths_of_operands() {
        for (instruction, bytes) in [
            ("mov %rax,0x8(%rsp)", 8),
            ("mov %r8,0x8(%rsp)", 8),
            ("mov %r10d,0x8(%rsp)", 4),
            ("mov 0x8(%rsp),%ebp", 4),
            ("mov %bp,0x8(%rsp)", 2),
            ("mov %r9w,0x8(%rsp)", 2),
            ("mov %dil,0x8(%rsp)", 1),
            ("mov %r15b,0x8(%rsp)", 1),
            ("mov %ah,0x8(%rsp)", 1),
            ("movb $0x0,0x8(%rsp)", 1),
            ("movw $0x0,0x8(%rsp)", 2),
            ("movl $0x0,0x8(%rsp)", 4),
            ("addq $0x1,0x8(%rsp)", 8),
            ("shlq %cl,0x8(%rsp)", 8),
            ("movzbl 0x8(%rsp),%eax", 1),
            ("movswl 0x8(%rsp),%eax", 2),
            ("movslq 0x8(%rsp),%rax", 4),
            ("setne 0x8(%rsp)", 1),
            ("vmovd %xmm0,0x8(%rsp)", 4),
            ("vmovq %xmm0,0x8(%rsp)", 8),
            ("vpextrq $0x1,%xmm0,0x8(%rsp)", 8),
            ("vmovdqu64 %zmm0{%k1},0x8(%rsp)", 64),
            ("kmovq %k1,0x8(%rsp)", 8),
            ("kmovd %k1,0x8(%rsp)", 4),
        ] {
            let (mnemonic, operands) = instruction.split_once(' ').unwrap();
            let operands = split(operands, '(', ')');
            let length = length_of(mnemonic, &operands);
            assert_eq!(length, Length::exactly(bytes), "{instruction}");
        }
    }
}
