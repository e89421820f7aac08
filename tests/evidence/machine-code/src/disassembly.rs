//! The functions of a program as objdump shows them, and where control goes in them.

use core::error::Error;
use std::collections::HashMap;
use std::path::Path;
use std::process::Command;

/// A function of the program.
pub struct Function {
    /// With the type parameters, if the program was compiled with
    /// `-C symbol-mangling-version=v0`.
    pub name: String,
    /// In the order of their addresses.
    pub instructions: Vec<Instruction>,
}

/// One instruction.
pub struct Instruction {
    /// Its address.
    pub address: u64,
    /// As in `vpaddd`.
    pub mnemonic: String,
    /// In the notation of objdump.
    pub operands: String,
    /// objdump's comment on the operands: the target of an address relative to this instruction.
    comment: String,
    /// Where control goes from here.
    pub flow: Flow,
}

/// Where control goes after an instruction.
pub enum Flow {
    /// To the next.
    On,
    /// To the next after a call of the function.
    Call(String),
    /// To an address, or to the next if the jump is conditional.
    Jump {
        /// `None` if it is computed.
        target: Option<u64>,
        /// Whether it may go on to the next instead.
        conditional: bool,
    },
    /// Out of the function.
    End,
}

/// Disassembles a program with `objdump`, which must be the one for the program's architecture.
pub fn functions(objdump: &str, program: &Path) -> Result<Vec<Function>, Box<dyn Error>> {
    let text = run(objdump, &["-d", "-C", "--no-show-raw-insn"], program)?;
    let mut functions = Vec::<Function>::new();
    for line in text.lines() {
        if let Some((_, name)) = line
            .strip_suffix(">:")
            .and_then(|line| line.split_once(" <"))
        {
            functions.push(Function {
                name: name.into(),
                instructions: Vec::new(),
            });
        } else if let Some(instruction) = Instruction::parse(line)
            && let Some(function) = functions.last_mut()
        {
            function.instructions.push(instruction);
        }
    }
    // Calls of other crates go through a table that is filled when the program starts.
    let table = table(&run(objdump, &["-R"], program)?, &functions);
    for function in &mut functions {
        function.name_callees(&table);
    }
    Ok(functions)
}

impl Function {
    /// The lines of a function's instructions.
    #[cfg(test)]
    pub(crate) fn parse(name: &str, text: &str) -> Self {
        Self {
            name: name.into(),
            instructions: text.lines().filter_map(Instruction::parse).collect(),
        }
    }

    /// The calls in loops, with the name of the called function.
    ///
    /// Calls of functions that don't return, such as those that panic, are not among them.
    pub fn calls_in_loops(&self) -> impl Iterator<Item = (&Instruction, &str)> {
        let calls = self.instructions.iter().enumerate();
        calls.filter_map(|(i, instruction)| match &instruction.flow {
            Flow::Call(callee) if self.comes_round(i) => Some((instruction, callee.as_str())),
            _ => None,
        })
    }

    /// The names of the functions that it calls, and of jump targets outside of itself.
    pub(crate) fn callees(&self) -> impl Iterator<Item = &str> {
        self.instructions
            .iter()
            .filter_map(|instruction| match &instruction.flow {
                Flow::Call(callee) => Some(callee.as_str()),
                Flow::Jump {
                    target: Some(target),
                    ..
                } if self.index_of(*target).is_none() => symbol(&instruction.operands),
                _ => None,
            })
    }

    /// Whether control can come back from instruction `i` to it.
    pub fn comes_round(&self, i: usize) -> bool {
        let mut reached = vec![false; self.instructions.len()];
        let mut next = self.successors(i);
        while let Some(at) = next.pop() {
            if !reached[at] {
                reached[at] = true;
                next.extend(self.successors(at));
            }
        }
        reached[i]
    }

    /// Replaces the address of a table entry by the name of the entry's function, also in a register into which
    /// the entry was loaded before.
    fn name_callees(&mut self, table: &HashMap<u64, String>) {
        let mut loaded = HashMap::new();
        for instruction in &mut self.instructions {
            let entry = entry_address(&instruction.comment).and_then(|entry| table.get(&entry));
            if let Flow::Call(callee) = &mut instruction.flow {
                let register = callee.strip_prefix('*');
                if let Some(name) = entry.or_else(|| loaded.get(register?).copied()) {
                    *callee = name.clone();
                }
            } else if let (Some((_, register)), Some(name)) =
                (instruction.operands.rsplit_once(','), entry)
            {
                loaded.insert(register, name);
            }
        }
    }

    /// The instructions that can follow instruction `i`, by index.
    pub(crate) fn successors(&self, i: usize) -> Vec<usize> {
        let next = Some(i + 1).filter(|next| *next < self.instructions.len());
        let successors = match &self.instructions[i].flow {
            Flow::On => [next, None],
            Flow::Call(callee) => [next.filter(|_| !never_returns(callee)), None],
            Flow::Jump {
                target,
                conditional,
            } => [
                target.and_then(|target| self.index_of(target)),
                next.filter(|_| *conditional),
            ],
            Flow::End => [None, None],
        };
        successors.into_iter().flatten().collect()
    }

    fn index_of(&self, address: u64) -> Option<usize> {
        let by_address = |instruction: &Instruction| instruction.address;
        let found = self.instructions.binary_search_by_key(&address, by_address);
        found.ok()
    }
}

impl Instruction {
    /// A line `   31b12:\tmov    $0x1,%r15d  # comment`.
    fn parse(line: &str) -> Option<Self> {
        let (address, code) = line.split_once(":\t")?;
        let address = u64::from_str_radix(address.trim(), 16).ok()?;
        let code = code.split("//").next()?;
        let (code, comment) = match code.split_once(['#', ';']) {
            // an immediate number of aarch64 is not a comment
            Some((code, comment)) if comment.starts_with(' ') => (code, comment),
            _ => (code, ""),
        };
        let code = code.trim();
        let (mnemonic, operands) = code.split_once(char::is_whitespace).unwrap_or((code, ""));
        // `bnd` and other prefixes
        let (mnemonic, operands) = match mnemonic {
            "bnd" | "notrack" | "rep" | "repz" | "lock" => operands
                .trim()
                .split_once(char::is_whitespace)
                .unwrap_or_default(),
            _ => (mnemonic, operands),
        };
        let operands = operands.trim();
        Some(Self {
            address,
            mnemonic: mnemonic.into(),
            operands: operands.into(),
            comment: comment.trim().into(),
            flow: Flow::of(mnemonic, operands),
        })
    }
}

impl Flow {
    /// On x86-64 and aarch64.
    fn of(mnemonic: &str, operands: &str) -> Self {
        // `31b98 <name+0x588>`, after the operand that aarch64 tests
        let target = operands.split_once('<').and_then(|(operands, _)| {
            let target = operands.trim().rsplit([',', ' ', '\t']).next()?;
            u64::from_str_radix(target.trim_start_matches("0x"), 16).ok()
        });
        match mnemonic {
            "call" | "callq" | "bl" | "blr" => {
                Self::Call(symbol(operands).unwrap_or(operands).into())
            }
            "ret" | "retq" | "ud2" | "hlt" | "brk" | "udf" => Self::End,
            "jmp" | "jmpq" | "b" | "br" => Self::Jump {
                target,
                conditional: false,
            },
            "cbz" | "cbnz" | "tbz" | "tbnz" => Self::Jump {
                target,
                conditional: true,
            },
            _ if mnemonic.starts_with('j') || mnemonic.starts_with("b.") => Self::Jump {
                target,
                conditional: true,
            },
            _ => Self::On,
        }
    }
}

/// Whether a function panics, like those that report a failed check.
pub(crate) fn never_returns(name: &str) -> bool {
    name.starts_with("core::") && (name.contains("panic") || name.contains("fail"))
}

/// Whether a function only copies or fills memory, of a length that it gets as an argument.
pub fn copies(name: &str) -> bool {
    let name = name.split(['@', '+']).next();
    name.is_some_and(|name| ["memcpy", "memmove", "memset"].contains(&name))
}

/// The names in the table of functions, by the addresses of its entries.
fn table(relocations: &str, functions: &[Function]) -> HashMap<u64, String> {
    let starts = functions.iter().filter_map(|function| {
        let first = function.instructions.first()?;
        Some((first.address, function.name.as_str()))
    });
    let starts: HashMap<u64, &str> = starts.collect();
    let entries = relocations.lines().filter_map(|line| {
        let mut fields = line.split_whitespace();
        let entry = u64::from_str_radix(fields.next()?, 16).ok()?;
        let value = fields.nth(1)?;
        let name = match value.split_once("+0x") {
            Some(("*ABS*", address)) => {
                let address = u64::from_str_radix(address, 16).ok()?;
                starts.get(&address)?
            }
            _ => value,
        };
        Some((entry, name.to_owned()))
    });
    entries.collect()
}

/// `17a0b0` of `17a0b0 <_DYNAMIC+0x280>`.
fn entry_address(callee: &str) -> Option<u64> {
    u64::from_str_radix(callee.split_once(" <")?.0, 16).ok()
}

/// `name` of `31fa0 <name>`.
fn symbol(operand: &str) -> Option<&str> {
    Some(operand.split_once('<')?.1.rsplit_once('>')?.0)
}

fn run(objdump: &str, options: &[&str], program: &Path) -> Result<String, Box<dyn Error>> {
    let output = Command::new(objdump).args(options).arg(program).output()?;
    if output.status.success() {
        Ok(String::from_utf8(output.stdout)?)
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into())
    }
}
