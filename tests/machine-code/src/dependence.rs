//! Which jumps and addresses of a function depend on data, as far as its instructions
//! tell: for what no valgrind runs.
//!
//! Data is what a function loads from memory, or takes out of a vector. What it is called
//! with is not, nor are counters and constants. A word of 64 bits at a fixed place behind a
//! pointer, or in an array on the stack, is taken for a pointer or a length, which is what
//! kernels have there, but for the states of hash functions. Values on the stack are what was
//! stored there.

use core::fmt;
use std::collections::HashMap;

use crate::disassembly::{Flow, Function, Instruction};

/// What is found in the kernels of a program, as far as it is compiled for the instructions
/// of a backend.
pub struct Review {
    /// How many kernels there are.
    pub kernels: usize,
    /// How many conditional jumps these have.
    pub jumps: usize,
    /// How many more there are that may look at data, since it is public.
    pub public: usize,
    /// What the kernels do in a time that may depend on data.
    pub findings: Vec<String>,
    /// What a review that says anything has, and this one has not: kernels of secrets for
    /// each of the architecture's backends, and the mistakes planted on purpose.
    pub missing: Vec<String>,
}

/// Kernels of data that is public, or as far as it is public: their types' names.
///
/// * `RejectUniform` samples **Â** from ρ.
/// * `RejectBounded` samples **s**₁ and **s**₂: which half-bytes it refuses is public.
/// * `UseHint` is verification's.
/// * `AddProduct` and `Terms` go by the places of the coefficients of challenges, which are public
///   as those are. With AVX2, and portable, valgrind sees that they look at nothing else.
/// * `keccak::Step` is told how many bytes each lane absorbs, and which lanes. With AVX2, and
///   portable, valgrind sees that it looks at nothing else.
const PUBLIC: [&str; 6] = [
    "RejectUniform",
    "RejectBounded",
    "UseHint",
    "AddProduct",
    "Terms",
    "keccak::Step",
];

/// Kernels of secrets, by their types' names, which every backend has.
const SECRET: [&str; 34] = [
    "keccak::KeccakF1600",
    "ml_dsa::challenge::Rotate",
    "ml_dsa::challenge::Unrotate",
    "ml_dsa::encoding::BitPack",
    "ml_dsa::encoding::BitUnpack",
    "ml_dsa::encoding::SimpleBitPack",
    "ml_dsa::multiplication::InnerProduct",
    "ml_dsa::multiplication::Multiply",
    "ml_dsa::rounding::AddPower2Round",
    "ml_dsa::rounding::Below",
    "ml_dsa::rounding::Decompose",
    "ml_dsa::rounding::MakeHint",
    "ml_kem::addition::Add",
    "ml_kem::addition::Subtract",
    "ml_kem::compression::Canonicalise",
    "ml_kem::compression::CompressEncode",
    "ml_kem::compression::CompressedDifference",
    "ml_kem::compression::Decode12",
    "ml_kem::compression::DecodeDecompress",
    "ml_kem::compression::DecodeMessage",
    "ml_kem::compression::Encode12",
    "ml_kem::multiplication::InnerProduct",
    "ml_kem::multiplication::MakeFactor",
    "ml_kem::multiplication::OverRadix",
    "ml_kem::multiplication::TimesRadixPlus",
    "ml_kem::sampling::CentredBinomial",
    "ntt::InverseNtt<pq_core::kernel::ntt::ml_dsa",
    "ntt::InverseNtt<pq_core::kernel::ntt::ml_kem",
    "ntt::Ntt<pq_core::kernel::ntt::ml_dsa",
    "ntt::Ntt<pq_core::kernel::ntt::ml_kem",
    "ntt::NttOf<pq_core::kernel::ntt::ml_dsa",
    "sha2::CompressLanes",
    "slh_dsa::sha2::Chain",
    "slh_dsa::shake::Chain",
];

/// Mistakes planted on purpose, by their functions' names, and what they are.
const PLANTED: [(&str, Kind); 2] = [("branch", Kind::Branch), ("index", Kind::Address)];

impl Review {
    /// Of functions with the type parameters in their names.
    pub fn of(functions: &[Function]) -> Self {
        let kernels = functions
            .iter()
            .filter(|f| f.name.contains(" as pq_core::arch::Backend>::run"));
        let (public, kernels): (Vec<_>, Vec<_>) =
            kernels.partition(|f| PUBLIC.iter().any(|name| f.name.contains(name)));
        let jumps = kernels.iter().flat_map(|f| &f.instructions);
        let jumps = jumps.filter(|instruction| match instruction.flow {
            Flow::Jump { conditional, .. } => conditional,
            _ => false,
        });
        let found = kernels.iter().flat_map(|f| {
            let findings = findings(f).into_iter();
            findings.map(|finding| format!("{finding} in {}", f.name))
        });
        Self {
            kernels: kernels.len(),
            jumps: jumps.count(),
            public: public.len(),
            findings: found.collect(),
            missing: missing(functions),
        }
    }
}

fn missing(functions: &[Function]) -> Vec<String> {
    let backends = match functions.iter().any(is_x86_64) {
        true => ["avx2::Avx2", "avx512::Avx512"],
        false => ["neon::Neon", "neon::NeonSha3"],
    };
    let kernels = backends.iter().flat_map(|backend| {
        SECRET.iter().filter_map(move |kernel| {
            let run = format!("<pq_core::arch::{backend} as pq_core::arch::Backend>::run");
            let argument = format!("pq_core::kernel::{kernel}");
            let is_it = |f: &Function| f.name.contains(&run) && f.name.contains(&argument);
            let found = functions.iter().any(is_it);
            (!found).then(|| format!("{kernel} of {backend}"))
        })
    });
    kernels.chain(planted_but_missed(functions)).collect()
}

/// The mistakes planted on purpose in the program that are not found in its functions.
pub fn planted_but_missed(functions: &[Function]) -> Vec<String> {
    let planted = PLANTED.iter().filter_map(|(name, kind)| {
        let name = format!("machine_code::planted::{name}");
        let found = functions
            .iter()
            .filter(|function| function.name == name)
            .flat_map(findings)
            .any(|finding| finding.kind == *kind);
        (!found).then_some(name)
    });
    planted.collect()
}

/// An instruction whose time may depend on data.
pub struct Finding<'a> {
    /// Which.
    pub instruction: &'a Instruction,
    /// In what way.
    pub kind: Kind,
}

/// How time may depend on data.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    /// A jump that is taken or not.
    Branch,
    /// An address.
    Address,
    /// A division, on any operands.
    Division,
}

impl fmt::Display for Finding<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Instruction {
            address,
            mnemonic,
            operands,
            ..
        } = self.instruction;
        write!(f, "{:?} at {address:x}: {mnemonic} {operands}", self.kind)
    }
}

/// What is found in a function.
pub fn findings(function: &Function) -> Vec<Finding<'_>> {
    let instructions = &function.instructions;
    let is_x86_64 = is_x86_64(function);
    let effects = instructions.iter().map(|i| match is_x86_64 {
        true => Effect::x86_64(i),
        false => Effect::aarch64(i),
    });
    let effects: Vec<Effect> = effects.collect();
    // What is known before each instruction, to which every way to it adds.
    let mut before: Vec<Option<State>> = vec![None; instructions.len()];
    let mut changed = Vec::new();
    if let Some(first) = before.first_mut() {
        *first = Some(State::default());
        changed.push(0);
    }
    while let Some(i) = changed.pop() {
        let Some(mut state) = before[i].clone() else {
            continue;
        };
        effects[i].apply(&mut state);
        for next in function.successors(i) {
            if State::join(&mut before[next], &state) {
                changed.push(next);
            }
        }
    }
    let reached = instructions.iter().zip(effects).zip(before);
    let kinds = reached.filter_map(|((instruction, effect), state)| {
        let kind = effect.kind(&state?)?;
        Some(Finding { instruction, kind })
    });
    kinds.collect()
}

/// objdump marks the registers of x86-64.
fn is_x86_64(function: &Function) -> bool {
    let instructions = function.instructions.iter();
    instructions.map(|i| &i.operands).any(|o| o.contains('%'))
}

/// The registers and places on the stack that are known, and whether they hold data.
/// Registers that are not known hold what the function was called with, places on the
/// stack data.
#[derive(Clone, Default)]
struct State(HashMap<String, bool>);

/// In place of a register, the flags that a conditional jump looks at.
const FLAGS: &str = "flags";

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
    fn join(known: &mut Option<Self>, other: &Self) -> bool {
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
enum Place {
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
struct Effect {
    inputs: Vec<Place>,
    outputs: Vec<Place>,
    /// The input and the output of the second half of a pair, which the first has nothing to do
    /// with.
    second: Option<(Place, Place)>,
    sets_flags: bool,
    /// The registers of addresses.
    addresses: Vec<String>,
    /// Whether it jumps by its inputs.
    jumps: bool,
    divides: bool,
}

impl Effect {
    fn apply(&self, state: &mut State) {
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

    fn kind(&self, state: &State) -> Option<Kind> {
        if self.jumps && self.inputs.iter().any(|place| state.is_data(place)) {
            Some(Kind::Branch)
        } else if self.addresses.iter().any(|name| state.has_data(name)) {
            Some(Kind::Address)
        } else {
            self.divides.then_some(Kind::Division)
        }
    }

    fn x86_64(instruction: &Instruction) -> Self {
        let mnemonic = instruction.mnemonic.as_str();
        let operands = split(&instruction.operands, '(', ')');
        let is_word = mnemonic.ends_with('q')
            || operands
                .iter()
                .any(|operand| operand.starts_with("%r") && !operand.ends_with(['d', 'w', 'b']))
                && !mnemonic.starts_with("movz")
                && !mnemonic.starts_with("movs");
        let place = |operand: &str| x86_64_place(operand, is_word);
        let mut places: Vec<Place> = operands.iter().map(|operand| place(operand)).collect();
        let addresses = operands.iter().filter(|operand| operand.contains('('));
        let addresses = addresses.flat_map(|operand| x86_64_registers(operand));
        let mut effect = Self {
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
            _ if mnemonic.starts_with("cmp") || mnemonic.contains("test") || mnemonic == "bt" => {
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
                effect
                    .outputs
                    .extend(operands.last().map(|operand| place(operand)));
                effect.inputs.append(&mut places);
                effect.sets_flags = !mnemonic.starts_with("cmov");
            }
        }
        effect
    }

    fn aarch64(instruction: &Instruction) -> Self {
        let mnemonic = instruction.mnemonic.as_str();
        let operands = split(&instruction.operands, '[', ']');
        let is_word = operands
            .first()
            .is_some_and(|operand| operand.starts_with('x'))
            && matches!(mnemonic, "ldr" | "ldp" | "ldur");
        let place = |operand: &str| aarch64_place(operand, is_word);
        let mut places: Vec<Place> = operands.iter().map(|operand| place(operand)).collect();
        let addresses = operands.iter().filter(|operand| operand.starts_with('['));
        let addresses: Vec<String> = addresses
            .flat_map(|operand| aarch64_registers(operand))
            .collect();
        let mut effect = Self {
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
                        Place::Stack(operand) => Place::Stack(aarch64_stack_after(operand, bytes)),
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
}

/// Operands, separated by commas outside of addresses.
fn split(operands: &str, open: char, close: char) -> Vec<&str> {
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

/// An operand as in `$1`, `%eax`, `%zmm3{%k1}` or `0x20(%rsp,%rax,4)`.
fn x86_64_place(operand: &str, is_word: bool) -> Place {
    if operand.starts_with('$') || operand.contains('<') {
        Place::Constant
    } else if operand.contains('(') {
        let registers = x86_64_registers(operand);
        match registers.as_slice() {
            [stack] if stack == "rsp" => Place::Stack(operand.into()),
            // constants of the program
            [pc] if pc == "rip" => Place::Constant,
            _ => Place::Memory { registers, is_word },
        }
    } else {
        match x86_64_registers(operand).pop() {
            Some(name) if name.starts_with(['k', 'x', 'y', 'z']) => Place::Vector,
            Some(name) => Place::Register(name),
            None => Place::Constant,
        }
    }
}

/// The general registers in an operand, by their names of 64 bits; others by their own.
fn x86_64_registers(operand: &str) -> Vec<String> {
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

/// An operand as in `#1`, `w0`, `v0.4s`, `lsl #2` or `[sp, #32]`.
fn aarch64_place(operand: &str, is_word: bool) -> Place {
    if operand.starts_with('[') {
        let registers = aarch64_registers(operand);
        match registers.as_slice() {
            [stack] if stack == "sp" => Place::Stack(operand.into()),
            _ => Place::Memory { registers, is_word },
        }
    } else if operand.starts_with(['{', 'v', 'q', 'd', 'h', 'b']) || is_scalar_vector(operand) {
        Place::Vector
    } else {
        match aarch64_registers(operand).pop() {
            Some(name) => Place::Register(name),
            None => Place::Constant,
        }
    }
}

/// The place so many bytes after one as in `[sp]` or `[sp, #32]`. One that moves the stack pointer,
/// as in `[sp, #-16]!`, has none that is known.
fn aarch64_stack_after(operand: &str, bytes: u32) -> String {
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
fn aarch64_registers(operand: &str) -> Vec<String> {
    let words = operand.split(|c: char| !c.is_ascii_alphanumeric());
    let names = words.filter_map(|word| match word.split_at_checked(1)? {
        _ if word == "sp" => Some("sp".to_owned()),
        ("x" | "w", number) if number.parse::<u8>().is_ok() => Some(format!("x{number}")),
        _ => None,
    });
    names.collect()
}

#[cfg(test)]
mod tests {
    use super::{Kind, findings};
    use crate::disassembly::Function;

    fn found(text: &str) -> Vec<(u64, Kind)> {
        let function = Function::parse("function", text);
        let findings = findings(&function).into_iter();
        let findings = findings.map(|finding| (finding.instruction.address, finding.kind));
        findings.collect()
    }

    /// A loop over bytes by a counter, one that ends at a zero, and a table.
    #[test]
    fn data_is_followed_on_x86_64() {
        let by_counter = "\
            10:\tmov    0x8(%rdi),%rcx\n\
            14:\tmovzbl (%rsi),%eax\n\
            18:\tadd    %eax,%edx\n\
            1c:\tinc    %rsi\n\
            20:\tdec    %rcx\n\
            24:\tjne    14 <function+0x4>\n\
            28:\tret\n";
        assert_eq!(found(by_counter), []);
        let until_zero = by_counter.replace("dec    %rcx", "test   %al,%al");
        assert_eq!(found(&until_zero), [(0x24, Kind::Branch)]);
        let spilled = "\
            10:\tvmovd  %xmm0,%eax\n\
            14:\tmov    %rax,0x8(%rsp)\n\
            18:\txor    %eax,%eax\n\
            1c:\tmov    0x8(%rsp),%rcx\n\
            20:\tmov    (%rdx,%rcx,4),%eax\n\
            24:\tidiv   %r8d\n\
            28:\tret\n";
        assert_eq!(
            found(spilled),
            [(0x20, Kind::Address), (0x24, Kind::Division)]
        );
    }

    #[test]
    fn data_is_followed_on_aarch64() {
        let by_counter = "\
            10:\tldr\tx1, [x0, #8]\n\
            14:\tldrb\tw2, [x3], #1\n\
            18:\tadd\tw4, w4, w2\n\
            1c:\tsubs\tx1, x1, #0x1\n\
            20:\tb.ne\t14 <function+0x4>  // b.any\n\
            24:\tret\n";
        assert_eq!(found(by_counter), []);
        let until_zero = by_counter.replace("subs\tx1, x1, #0x1", "cmp\tw2, #0x0");
        assert_eq!(found(&until_zero), [(0x20, Kind::Branch)]);
        let spilled = "\
            10:\tumov\tw1, v0.s[1]\n\
            14:\tstr\tx1, [sp, #8]\n\
            18:\tmov\tx1, #0x0\n\
            1c:\tldr\tx2, [sp, #8]\n\
            20:\tldr\tw3, [x4, x2, lsl #2]\n\
            24:\ttbnz\tw2, #3, 1c <function+0xc>\n\
            28:\tret\n";
        assert_eq!(
            found(spilled),
            [(0x20, Kind::Address), (0x24, Kind::Branch)]
        );
        // of the pair only the second, which lies after what was no data before
        let pair = "\
            10:\tumov\tw1, v0.s[1]\n\
            14:\tstr\tx0, [sp, #16]\n\
            18:\tstp\tx0, x1, [sp, #8]\n\
            1c:\tldp\tx2, x3, [sp, #8]\n\
            20:\tldr\tx4, [x2, #8]\n\
            24:\tldr\tx4, [x3, #8]\n\
            28:\tldr\tx5, [sp, #16]\n\
            2c:\tcbz\tx5, 30 <function+0x20>\n\
            30:\tret\n";
        assert_eq!(found(pair), [(0x24, Kind::Address), (0x2c, Kind::Branch)]);
        // both of what was loaded
        let loaded = "\
            10:\tldpsw\tx1, x2, [x0]\n\
            14:\tcbz\tx1, 18 <function+0x8>\n\
            18:\tcbz\tx2, 1c <function+0xc>\n\
            1c:\tret\n";
        assert_eq!(found(loaded), [(0x14, Kind::Branch), (0x18, Kind::Branch)]);
    }
}
