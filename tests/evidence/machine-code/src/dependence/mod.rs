//! Finds the jumps and addresses of a function that depend on data, as far as its instructions
//! tell: for code that valgrind cannot run.
//!
//! Data is everything that a function loads from memory, of any length, or takes out of a vector, and everything
//! that a call returns. The function's arguments, counters and constants are not data. A large structure is
//! passed by its address: then values at fixed places in it count as arguments, and
//! the values that these point to are data. Once the function stores data in the structure, all of it is data. Values
//! on the stack are what was stored there, until a call or a move of the stack pointer.

mod aarch64;
mod effect;
mod x86_64;

use core::fmt;

use crate::disassembly::{Function, Instruction};
use effect::{Effect, State};

/// An instruction whose time may depend on data.
pub struct Finding<'a> {
    /// The instruction.
    pub instruction: &'a Instruction,
    /// How its time may depend on data.
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
    /// A jump whose target no instruction names. The analysis does not follow it.
    Computed,
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

/// How a function is called.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Arguments {
    /// With addresses of data, and with numbers.
    Values,
    /// With the address of a structure of addresses and numbers.
    Structure,
}

/// The findings in a function that may branch on comparisons with one of `numbers`.
pub fn findings<'a>(
    function: &'a Function,
    arguments: Arguments,
    numbers: &[&str],
) -> Vec<Finding<'a>> {
    let instructions = &function.instructions;
    let is_x86_64 = is_x86_64(function);
    let frame_pointer = aarch64::frame_pointer(instructions);
    let effects = instructions.iter().map(|i| {
        let mut effect = match is_x86_64 {
            true => x86_64::effect(i),
            false => aarch64::effect(i, frame_pointer),
        };
        if compares_with(i, numbers) {
            effect.inputs.clear();
        }
        effect
    });
    let effects: Vec<Effect> = effects.collect();
    // The state before each instruction, joined from all paths to it.
    let mut before: Vec<Option<State>> = vec![None; instructions.len()];
    let mut changed = Vec::new();
    if let Some(first) = before.first_mut() {
        *first = Some(State::new(arguments));
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
    let found = instructions.iter().zip(effects).zip(before);
    let found = found.filter_map(|((instruction, effect), state)| {
        let kind = effect.kind(&state?)?;
        Some(Finding { instruction, kind })
    });
    found.collect()
}

/// Whether an instruction compares something with one of these numbers.
fn compares_with(instruction: &Instruction, numbers: &[&str]) -> bool {
    let mut operands = instruction.operands.split(',');
    let is_number = |operand: &str| {
        let number = operand.trim().strip_prefix(['$', '#']);
        number.is_some_and(|number| numbers.contains(&number))
    };
    instruction.mnemonic == "cmp" && operands.any(is_number)
}

/// Whether a function is for x86-64, where objdump marks registers with `%`.
pub(crate) fn is_x86_64(function: &Function) -> bool {
    let instructions = function.instructions.iter();
    instructions.map(|i| &i.operands).any(|o| o.contains('%'))
}

#[cfg(test)]
mod tests {
    use super::{Arguments, Kind, findings};
    use crate::disassembly::Function;

    fn found(text: &str) -> Vec<(u64, Kind)> {
        found_with(Arguments::Values, text)
    }

    fn found_with(arguments: Arguments, text: &str) -> Vec<(u64, Kind)> {
        let function = Function::parse("function", text);
        let findings = findings(&function, arguments, &[]).into_iter();
        let findings = findings.map(|finding| (finding.instruction.address, finding.kind));
        findings.collect()
    }

    /// A loop over bytes with a counter, a loop that ends at a zero, and a table.
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
        assert_eq!(found_with(Arguments::Structure, by_counter), []);
        assert_eq!(found(by_counter), [(0x24, Kind::Branch)]);
        let until_zero = by_counter.replace("dec    %rcx", "test   %al,%al");
        let found_until_zero = found_with(Arguments::Structure, &until_zero);
        assert_eq!(found_until_zero, [(0x24, Kind::Branch)]);
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
        // vectors do not change the flags of a counter, except the instructions that set flags
        let vectors = "\
            10:\tdec    %rcx\n\
            14:\tpaddd  %xmm1,%xmm0\n\
            18:\tbswap  %eax\n\
            1c:\tjne    10 <function>\n\
            20:\tptest  %xmm0,%xmm0\n\
            24:\tjne    10 <function>\n\
            28:\tret\n";
        assert_eq!(found(vectors), [(0x24, Kind::Branch)]);
        // nor do these, one of which writes two registers from two
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
        assert_eq!(found_with(Arguments::Structure, by_counter), []);
        assert_eq!(found(by_counter), [(0x20, Kind::Branch)]);
        let until_zero = by_counter.replace("subs\tx1, x1, #0x1", "cmp\tw2, #0x0");
        let found_until_zero = found_with(Arguments::Structure, &until_zero);
        assert_eq!(found_until_zero, [(0x20, Kind::Branch)]);
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
        // only the second of the pair, which is stored over a value that was not data
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
        // both loaded values
        let loaded = "\
            10:\tldpsw\tx1, x2, [x0]\n\
            14:\tcbz\tx1, 18 <function+0x8>\n\
            18:\tcbz\tx2, 1c <function+0xc>\n\
            1c:\tret\n";
        assert_eq!(found(loaded), [(0x14, Kind::Branch), (0x18, Kind::Branch)]);
    }
    /// A word of a state, in memory whose address is an argument or is in a structure, and values that
    /// are computed from it.
    #[test]
    fn words_are_data_on_x86_64() {
        let branch = "\
            10:\tmov    0x28(%rdi),%rax\n\
            14:\trol    $0x3,%rax\n\
            18:\txor    %rcx,%rax\n\
            1c:\ttest   %rax,%rax\n\
            20:\tje     24 <function+0x14>\n\
            24:\tmov    (%rsi,%rax,8),%rdx\n\
            28:\tret\n";
        assert_eq!(found(branch), [(0x20, Kind::Branch), (0x24, Kind::Address)]);
        let in_memory = "\
            10:\ttestb  $0x4,0x28(%rdi)\n\
            14:\tje     18 <function+0x8>\n\
            18:\tret\n";
        assert_eq!(found(in_memory), [(0x14, Kind::Branch)]);
        // the structure's own words are not data; those of another argument are
        let behind = "\
            10:\tmov    0x8(%rdi),%rax\n\
            14:\tcmp    $0x88,%rax\n\
            18:\tje     1c <function+0xc>\n\
            1c:\tmov    (%rdi),%rcx\n\
            20:\tmov    0x60(%rcx),%rdx\n\
            24:\tbt     $0x3,%rdx\n\
            28:\tjb     2c <function+0x1c>\n\
            2c:\tmov    (%rsi),%rdx\n\
            30:\tmov    (%rcx,%rdx,1),%al\n\
            34:\tret\n";
        let expected = [(0x28, Kind::Branch), (0x30, Kind::Address)];
        assert_eq!(found_with(Arguments::Structure, behind), expected);
    }

    #[test]
    fn words_are_data_on_aarch64() {
        let pair = "\
            10:\tldp\tx8, x9, [x0, #48]\n\
            14:\teor\tx9, x9, x2, ror #3\n\
            18:\tcbz\tx8, 1c <function+0xc>\n\
            1c:\ttbnz\tx9, #5, 20 <function+0x10>\n\
            20:\tldr\tx10, [x0, #192]\n\
            24:\tldrb\tw11, [x1, x10]\n\
            28:\tret\n";
        let expected = [
            (0x18, Kind::Branch),
            (0x1c, Kind::Branch),
            (0x24, Kind::Address),
        ];
        assert_eq!(found(pair), expected);
        // the structure's own words are not data; those of another argument are
        let behind = "\
            10:\tldp\tx8, x9, [x0]\n\
            14:\tcmp\tx9, #0x88\n\
            18:\tb.eq\t1c <function+0xc>\n\
            1c:\tldr\tx10, [x8, #96]\n\
            20:\ttbz\tx10, #3, 24 <function+0x14>\n\
            24:\tldr\tx11, [x1]\n\
            28:\tldr\tw12, [x8, x11]\n\
            2c:\tret\n";
        let expected = [(0x20, Kind::Branch), (0x28, Kind::Address)];
        assert_eq!(found_with(Arguments::Structure, behind), expected);
    }

    /// Words on the stack are what was stored there last, by any instruction, on every path.
    #[test]
    fn stack_is_followed_on_x86_64() {
        // a vector stored over a word, and an array of words that were stored
        let written_over = "\
            10:\tmov    %rsi,0x28(%rsp)\n\
            14:\tmov    %rdi,0x48(%rsp)\n\
            18:\tvmovdqu %ymm0,0x20(%rsp)\n\
            1c:\tmov    0x48(%rsp,%rcx,8),%rax\n\
            20:\tmov    (%rax),%edx\n\
            24:\tmov    0x28(%rsp),%rax\n\
            28:\tmov    (%rax),%edx\n\
            2c:\tret\n";
        assert_eq!(found(written_over), [(0x28, Kind::Address)]);
        // a store somewhere on the stack
        let somewhere = "\
            10:\tmov    %rsi,0x28(%rsp)\n\
            14:\tlea    0x20(%rsp),%rax\n\
            18:\tmov    %rcx,(%rax,%rdx,8)\n\
            1c:\tmov    0x28(%rsp),%rax\n\
            20:\tmov    (%rax),%rcx\n\
            24:\tlea    0x20(%rsp),%rax\n\
            28:\tmov    %rcx,(%rax,%rdx,8)\n\
            2c:\tmov    0x28(%rsp),%rax\n\
            30:\tmov    (%rax),%rcx\n\
            34:\tret\n";
        assert_eq!(found(somewhere), [(0x30, Kind::Address)]);
        // a store on one of two paths
        let one_way = "\
            10:\ttest   %rsi,%rsi\n\
            14:\tje     1c <function+0xc>\n\
            18:\tmov    %rsi,0x28(%rsp)\n\
            1c:\tmov    0x28(%rsp),%rax\n\
            20:\tmov    (%rax),%rcx\n\
            24:\tret\n";
        assert_eq!(found(one_way), [(0x20, Kind::Address)]);
        // the result of a call
        let returned = "\
            10:\tcall   100 <other>\n\
            14:\ttest   %rax,%rax\n\
            18:\tje     1c <function+0xc>\n\
            1c:\tret\n";
        assert_eq!(found(returned), [(0x18, Kind::Branch)]);
    }

    /// The lanes of a vector are data, and so are a gather's addresses.
    #[test]
    fn gathers_are_addresses() {
        let gathers = "\
            10:\tvpgatherdd %ymm2,(%rax,%ymm1,4),%ymm0\n\
            16:\tvpgatherdq (%rax,%ymm1,8),%zmm0{%k1}\n\
            1c:\tvpgatherqq %xmm2,(,%xmm1,8),%xmm0\n\
            22:\tvmovdqu8 (%rax),%ymm0{%k1}{z}\n\
            28:\tret\n";
        let expected = [0x10, 0x16, 0x1c].map(|address| (address, Kind::Address));
        assert_eq!(found(gathers), expected);
    }

    /// The analysis does not follow what comes after them.
    #[test]
    fn computed_jumps_are_found() {
        let table = "\
            10:\tnotrack jmp *(%rax,%rcx,8)\n\
            14:\tret\n";
        assert_eq!(found(table), [(0x10, Kind::Computed)]);
        let register = "\
            10:\tadd\tx8, x9, x8, lsl #2\n\
            14:\tbr\tx8\n";
        assert_eq!(found(register), [(0x14, Kind::Computed)]);
    }

    /// A structure no longer holds only arguments once the function stores data in it.
    #[test]
    fn structures_are_given_up_when_written_on_x86_64() {
        let written = "\
            10:\tmov    0x8(%rdi),%rcx\n\
            14:\ttest   %rcx,%rcx\n\
            18:\tje     1c <function+0xc>\n\
            1c:\tmov    (%rsi),%rax\n\
            20:\tmov    %rax,0x8(%rdi)\n\
            24:\tmov    0x8(%rdi),%rcx\n\
            28:\ttest   %rcx,%rcx\n\
            2c:\tje     30 <function+0x20>\n\
            30:\tret\n";
        let expected = [(0x2c, Kind::Branch)];
        assert_eq!(found_with(Arguments::Structure, written), expected);
        let by_index = written.replace("0x8(%rdi)\n", "(%rdi,%rdx,8)\n");
        assert_eq!(found_with(Arguments::Structure, &by_index), expected);
        let what_is_known = written.replace("(%rsi),%rax", "$0x1,%eax");
        assert_eq!(found_with(Arguments::Structure, &what_is_known), []);
    }

    #[test]
    fn structures_are_given_up_when_written_on_aarch64() {
        let written = "\
            10:\tmov\tx19, x0\n\
            14:\tldr\tx9, [x1]\n\
            18:\tstr\tx9, [x19, #8]\n\
            1c:\tldr\tx10, [x0, #8]\n\
            20:\tcbz\tx10, 24 <function+0x14>\n\
            24:\tret\n";
        let expected = [(0x20, Kind::Branch)];
        assert_eq!(found_with(Arguments::Structure, written), expected);
        let by_vector = written.replace("str\tx9", "str\tq0");
        assert_eq!(found_with(Arguments::Structure, &by_vector), expected);
        // a called function may have stored data
        let by_call = written.replace("str\tx9, [x19, #8]", "bl\t100 <other>");
        let by_call = by_call.replace("[x0, #8]", "[x19, #8]");
        assert_eq!(found_with(Arguments::Structure, &by_call), expected);
    }

    /// A called function may store in the frame and in registers.
    #[test]
    fn calls_are_followed() {
        let filled = "\
            10:\tmov    %rsi,0x28(%rsp)\n\
            14:\tlea    0x20(%rsp),%rdi\n\
            18:\tcall   100 <memcpy>\n\
            1c:\tmov    0x28(%rsp),%rax\n\
            20:\tmov    (%rax),%edx\n\
            24:\tmov    (%rcx),%edx\n\
            28:\tmov    (%rbx),%edx\n\
            2c:\tret\n";
        let expected = [(0x20, Kind::Address), (0x24, Kind::Address)];
        assert_eq!(found(filled), expected);
        let filled = "\
            10:\tstr\tx1, [sp, #40]\n\
            14:\tadd\tx0, sp, #0x20\n\
            18:\tbl\t100 <memcpy>\n\
            1c:\tldr\tx8, [sp, #40]\n\
            20:\tldr\tx9, [x8]\n\
            24:\tldr\tx9, [x3]\n\
            28:\tldr\tx9, [x19]\n\
            2c:\tret\n";
        assert_eq!(found(filled), expected);
    }

    /// After the stack pointer has moved, an offset from it is another place.
    #[test]
    fn moves_of_the_stack_pointer_are_followed() {
        let moved = "\
            10:\tmov    %rsi,0x8(%rsp)\n\
            14:\tvmovdqu %xmm0,0x10(%rsp)\n\
            18:\tadd    $0x8,%rsp\n\
            1c:\tmov    0x8(%rsp),%rax\n\
            20:\tmov    (%rax),%edx\n\
            24:\tret\n";
        assert_eq!(found(moved), [(0x20, Kind::Address)]);
        let popped = "\
            10:\tmov    (%rdi),%rax\n\
            14:\tpush   %rsi\n\
            18:\tpop    %rcx\n\
            1c:\tmov    (%rcx),%edx\n\
            20:\tpush   %rax\n\
            24:\tmov    (%rsp),%rcx\n\
            28:\tmov    (%rcx),%edx\n\
            2c:\tpop    %rcx\n\
            30:\tmov    (%rcx),%edx\n\
            34:\tret\n";
        let expected = [(0x28, Kind::Address), (0x30, Kind::Address)];
        assert_eq!(found(popped), expected);
        let written_back = "\
            10:\tstr\tx1, [sp, #8]\n\
            14:\tstr\tq0, [sp, #16]\n\
            18:\tldr\tx8, [sp], #8\n\
            1c:\tldr\tx8, [sp, #8]\n\
            20:\tldr\tx9, [x8]\n\
            24:\tret\n";
        assert_eq!(found(written_back), [(0x20, Kind::Address)]);
        // in a loop that touches each page of a large frame
        let in_a_loop = "\
            10:\tmov\tx29, sp\n\
            14:\tstur\tx1, [x29, #-16]\n\
            18:\tsub\tsp, sp, #0x1, lsl #12\n\
            1c:\tcmp\tsp, x9\n\
            20:\tb.ne\t24 <function+0x14>\n\
            24:\tsub\tsp, sp, #0x10\n\
            28:\tstur\tx1, [x29, #-32]\n\
            2c:\tldr\tx8, [sp, #4080]\n\
            30:\tldr\tx9, [x8]\n\
            34:\tret\n";
        assert_eq!(found(in_a_loop), [(0x30, Kind::Address)]);
    }

    /// A loaded value is data if a shorter store left a part of it unwritten.
    #[test]
    fn lengths_are_followed() {
        let one_byte = "\
            10:\tvmovdqu %xmm0,0x20(%rsp)\n\
            14:\tmovb   $0x0,0x20(%rsp)\n\
            18:\tmovzbl 0x20(%rsp),%eax\n\
            1c:\tmov    (%rdx,%rax,4),%ecx\n\
            20:\tmov    0x20(%rsp),%eax\n\
            24:\tmov    (%rdx,%rax,4),%ecx\n\
            28:\tret\n";
        assert_eq!(found(one_byte), [(0x24, Kind::Address)]);
        let one_byte = "\
            10:\tstr\tq0, [sp, #32]\n\
            14:\tstrb\twzr, [sp, #32]\n\
            18:\tldrb\tw8, [sp, #32]\n\
            1c:\tldr\tw9, [x1, x8]\n\
            20:\tldr\tw8, [sp, #32]\n\
            24:\tldr\tw9, [x1, x8]\n\
            28:\tret\n";
        assert_eq!(found(one_byte), [(0x24, Kind::Address)]);
        // an array of words, where a vector has overwritten the last one
        let array = "\
            10:\tmov    %rsi,0x20(%rsp)\n\
            14:\tmov    %rdi,0x28(%rsp)\n\
            18:\tmov    0x20(%rsp,%rcx,8),%rax\n\
            1c:\tmov    (%rax),%edx\n\
            20:\tvmovdqu %xmm0,0x30(%rsp)\n\
            24:\tmov    0x20(%rsp,%rcx,8),%rax\n\
            28:\tmov    (%rax),%edx\n\
            2c:\tret\n";
        assert_eq!(found(array), [(0x28, Kind::Address)]);
        // or an unknown one
        let somewhere = array.replace("vmovdqu %xmm0,0x30(%rsp)", "vmovdqu %xmm0,(%rsp,%rcx,1)");
        assert_eq!(found(&somewhere), [(0x28, Kind::Address)]);
    }

    /// Also through the frame pointer.
    #[test]
    fn stack_is_followed_on_aarch64() {
        let frame = "\
            10:\tstp\tx29, x30, [sp, #-32]!\n\
            14:\tmov\tx29, sp\n\
            18:\tsub\tsp, sp, #0x40\n\
            1c:\tstur\tx1, [x29, #-16]\n\
            20:\tldr\tx8, [sp, #48]\n\
            24:\tldr\tx9, [x8]\n\
            28:\tstr\tq0, [sp, #48]\n\
            2c:\tldur\tx8, [x29, #-16]\n\
            30:\tldr\tx9, [x8]\n\
            34:\tret\n";
        assert_eq!(found(frame), [(0x30, Kind::Address)]);
    }
}
