//! Which jumps and addresses of a function depend on data, as far as its instructions
//! tell: for what no valgrind runs.
//!
//! Data is what a function loads from memory, or takes out of a vector. What it is called
//! with is not, nor are counters and constants. A word of 64 bits at a fixed place behind a
//! pointer, or in an array on the stack, is taken for a pointer or a length, which is what
//! kernels have there, but for the states of hash functions. Values on the stack are what was
//! stored there.

mod aarch64;
mod effect;
mod x86_64;

use core::fmt;

use crate::disassembly::{Function, Instruction};
use effect::{Effect, State};

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
        true => x86_64::effect(i),
        false => aarch64::effect(i),
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
pub(crate) fn is_x86_64(function: &Function) -> bool {
    let instructions = function.instructions.iter();
    instructions.map(|i| &i.operands).any(|o| o.contains('%'))
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
        // vectors leave the flags of a counter alone, but for what is there to set them
        let vectors = "\
            10:\tdec    %rcx\n\
            14:\tpaddd  %xmm1,%xmm0\n\
            18:\tbswap  %eax\n\
            1c:\tjne    10 <function>\n\
            20:\tptest  %xmm0,%xmm0\n\
            24:\tjne    10 <function>\n\
            28:\tret\n";
        assert_eq!(found(vectors), [(0x24, Kind::Branch)]);
        // and so do these, of which one takes two registers from two
        let others = "\
            10:\tmovzbl (%rsi),%eax\n\
            14:\ttest   %al,%al\n\
            18:\trorx   $0x3,%rcx,%r8\n\
            1c:\tnot    %r8\n\
            20:\tjne    10 <function>\n\
            24:\tmulx   %rcx,%r9,%r10\n\
            28:\ttest   %r9,%r9\n\
            2c:\tje     10 <function>\n\
            30:\tmovzbl (%rsi),%edx\n\
            34:\tmulx   %rcx,%r9,%r10\n\
            38:\ttest   %r9,%r9\n\
            3c:\tje     24 <function+0x14>\n\
            40:\tret\n";
        assert_eq!(
            found(others),
            [
                (0x20, Kind::Branch),
                (0x2c, Kind::Branch),
                (0x3c, Kind::Branch)
            ]
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
