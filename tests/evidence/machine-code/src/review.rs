//! Reviews all kernels of a program.

use alloc::collections::BTreeMap;

use crate::dependence::{Arguments, Kind, findings, is_x86_64};
use crate::disassembly::{Flow, Function, copies, never_returns};

/// The findings in the kernels of a program, for the code that is compiled with the instructions
/// of a backend.
pub struct Review {
    /// How many kernels there are.
    pub kernels: usize,
    /// How many conditional jumps these have.
    pub jumps: usize,
    /// How many other kernels may look at their data, since it is public.
    pub public: usize,
    /// The functions that kernels call, which are analysed like kernels. Those that copy memory and
    /// those that never return are not.
    pub callees: Vec<String>,
    /// What the kernels and these functions do in a time that may depend on data.
    pub findings: Vec<String>,
    /// What a meaningful review has to contain, and this one does not: kernels of secrets for
    /// each of the architecture's backends and for its instructions for SHA-256, for each kernel in `STRUCTURES`
    /// one that is passed by its address, and the planted mistakes.
    pub missing: Vec<String>,
}

/// Kernels whose data is public, or whose use of data reveals only public data: the names of their types.
///
/// * `RejectUniform` samples **Â** from ρ.
/// * `RejectBounded` samples **s**₁ and **s**₂: which half-bytes it rejects is public.
/// * `UseHint` is part of verification, and `Ones` encodes an accepted signature.
/// * `AddProduct` and `Terms` depend on the places of the coefficients of challenges, which are public
///   like the challenges. With AVX2 and portable code, valgrind shows that they depend on nothing else.
const PUBLIC: [&str; 6] = [
    "RejectUniform",
    "RejectBounded",
    "UseHint",
    "Ones",
    "AddProduct",
    "Terms",
];

/// Numbers that `keccak::Step` may compare with and branch on: how many bytes each lane absorbs, which is the rate
/// of a sponge.
const LOOKS_UP: (&str, [&str; 3]) = ("keccak::Step", ["0x48", "0x88", "0xa8"]);

/// Kernels of secrets, by the names of their types. Every backend has them.
const SECRET: [&str; 37] = [
    "keccak::KeccakF1600",
    "keccak::PermuteAndAbsorb",
    "keccak::Step",
    "ml_dsa::challenge::Rotate",
    "ml_dsa::challenge::Unrotate",
    "ml_dsa::encoding::BitPack",
    "ml_dsa::encoding::BitUnpack",
    "ml_dsa::encoding::SimpleBitPack",
    "ml_dsa::encoding::UnpackSmall",
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

/// Kernels that are passed by their address, since they are longer than two words. Their own words are addresses and
/// lengths; the values at these addresses are data.
const STRUCTURES: [&str; 24] = [
    "keccak::PermuteAndAbsorb",
    "keccak::Step",
    "ml_dsa::challenge::Unrotate",
    "ml_dsa::encoding::BitPack",
    "ml_dsa::encoding::BitUnpack",
    "ml_dsa::encoding::SimpleBitPack",
    "ml_dsa::encoding::SimpleBitUnpack",
    "ml_dsa::encoding::UnpackSmall",
    "ml_dsa::multiplication::InnerProduct",
    "ml_dsa::multiplication::Multiply",
    "ml_dsa::rounding::AddPower2Round",
    "ml_dsa::rounding::MakeHint",
    "ml_kem::compression::CompressEncode",
    "ml_kem::compression::CompressedDifference",
    "ml_kem::compression::Decode12",
    "ml_kem::compression::DecodeDecompress",
    "ml_kem::compression::Encode12",
    "ml_kem::multiplication::InnerProduct",
    "ml_kem::sampling::CentredBinomial",
    "sha2::Compress<",
    "sha2::streams::CompressStream",
    "slh_dsa::sha2::Chain<",
    "slh_dsa::sha2::ChainStreams",
    "slh_dsa::shake::Chain",
];

/// Another one of these, which only x86-64 has: elsewhere, words of SHA-512 are not computed ahead.
const STRUCTURE_OF_X86_64: &str = "sha2::ahead::CompressAhead";

/// Kernels of secrets that run on the CPU's instructions for SHA-256, which valgrind does not
/// know either.
const SECRET_SHA256: [&str; 2] = [
    "sha2::streams::CompressStream",
    "slh_dsa::sha2::ChainStreams",
];

/// Parts of the names of the functions that run kernels: on backends, and on
/// instructions for SHA-256.
const RUN: &str = " as pq_core::arch::backend::Backend>::run";
const RUN_SHA256: &str = " as pq_core::arch::backend::Sha256Instructions>::run";

/// The names of the functions on x86-64 that are kernels themselves: AES with instructions for several blocks;
/// valgrind knows only those for one block.
const AES: [&str; 2] = ["pq_core::arch::vaes::expand", "pq_core::arch::vaes::apply"];

/// Mistakes planted on purpose: the names of their functions, how these are called, and the kind of
/// mistake.
const PLANTED: [(&str, Arguments, Kind); 6] = [
    ("branch", Arguments::Values, Kind::Branch),
    ("index", Arguments::Values, Kind::Address),
    ("branch_on_words", Arguments::Values, Kind::Branch),
    ("index_by_word", Arguments::Values, Kind::Address),
    ("branch_on_word_behind", Arguments::Structure, Kind::Branch),
    ("index_by_word_behind", Arguments::Structure, Kind::Address),
];

impl Review {
    /// Reviews these functions, whose names must contain their type parameters.
    pub fn of(functions: &[Function]) -> Self {
        let kernels = functions.iter().filter(|f| is_kernel(f));
        let (public, kernels): (Vec<_>, Vec<_>) =
            kernels.partition(|f| PUBLIC.iter().any(|name| f.name.contains(name)));
        let jumps = kernels.iter().flat_map(|f| &f.instructions);
        let jumps = jumps.filter(|instruction| match instruction.flow {
            Flow::Jump { conditional, .. } => conditional,
            _ => false,
        });
        let callees = callees(functions, &kernels);
        let unknown = callees.iter().filter(|(_, found)| found.is_empty());
        let unknown = unknown.map(|(name, _)| format!("a call of {name}, which is not there"));
        let called = callees.values().flatten();
        let found = kernels.iter().chain(called).flat_map(|f| {
            let findings = findings(f, arguments(f), may_look_up(f)).into_iter();
            findings.map(|finding| format!("{finding} in {}", f.name))
        });
        Self {
            kernels: kernels.len(),
            jumps: jumps.count(),
            public: public.len(),
            findings: found.chain(unknown).collect(),
            callees: callees.keys().map(|name| (*name).into()).collect(),
            missing: missing(functions),
        }
    }
}

fn is_kernel(function: &Function) -> bool {
    let name = &function.name;
    name.contains(RUN) || name.contains(RUN_SHA256) || AES.contains(&&**name)
}

/// The functions that kernels call, and those that these call, by their names.
fn callees<'a>(
    functions: &'a [Function],
    kernels: &[&'a Function],
) -> BTreeMap<&'a str, Vec<&'a Function>> {
    let mut callees = BTreeMap::new();
    let mut callers = kernels.to_vec();
    while let Some(caller) = callers.pop() {
        for name in caller.callees() {
            let is_known = copies(name) || never_returns(name) || callees.contains_key(name);
            if !is_known && !kernels.iter().any(|kernel| kernel.name == name) {
                let called = functions.iter().filter(|function| function.name == name);
                let called: Vec<&Function> = called.collect();
                callers.extend(&called);
                callees.insert(name, called);
            }
        }
    }
    callees
}

fn arguments(kernel: &Function) -> Arguments {
    let mut structures = STRUCTURES.iter().chain([&STRUCTURE_OF_X86_64]);
    match structures.any(|name| is(kernel, name)) {
        true => Arguments::Structure,
        false => Arguments::Values,
    }
}

/// Whether a function runs the kernel with this name.
fn is(function: &Function, kernel: &str) -> bool {
    function
        .name
        .contains(&format!("pq_core::kernel::{kernel}"))
}

/// The numbers that a kernel may compare with and branch on.
fn may_look_up(kernel: &Function) -> &'static [&'static str] {
    let (name, numbers) = &LOOKS_UP;
    if is(kernel, name) { numbers } else { &[] }
}

fn missing(functions: &[Function]) -> Vec<String> {
    let (backends, sha256, aes) = match functions.iter().any(is_x86_64) {
        true => (["avx2::Avx2", "avx512::Avx512"], "sha_ni::ShaNi", &AES[..]),
        false => (
            ["neon::Neon", "neon::NeonSha3"],
            "neon_sha2::NeonSha2",
            &[][..],
        ),
    };
    let of_backend = |backend| SECRET.map(|kernel| (backend, RUN, kernel));
    let kernels = backends.into_iter().flat_map(of_backend);
    let kernels = kernels.chain(SECRET_SHA256.map(|kernel| (sha256, RUN_SHA256, kernel)));
    let missing = kernels.filter_map(|(cpu, run, kernel)| {
        let run = format!("<pq_core::arch::{cpu}{run}");
        // in general registers, `NeonSha3` and `Neon` have the same code, and the compiler keeps one copy
        let is_shared = cpu.starts_with("neon::") && kernel == "keccak::PermuteAndAbsorb";
        let is_run = |f: &Function| match is_shared {
            true => f.name.contains("<pq_core::arch::neon::Neon") && f.name.contains(RUN),
            false => f.name.contains(&run),
        };
        let found = functions.iter().any(|f| is_run(f) && is(f, kernel));
        (!found).then(|| format!("{kernel} of {cpu}"))
    });
    let of_x86_64 = [&STRUCTURE_OF_X86_64].into_iter();
    let of_x86_64 = of_x86_64.filter(|_| functions.iter().any(is_x86_64));
    let needless = STRUCTURES.iter().chain(of_x86_64).filter(|name| {
        let mut kernels = functions.iter().filter(|f| is_kernel(f));
        !kernels.any(|f| is(f, name) && !findings(f, Arguments::Values, &[]).is_empty())
    });
    let needless = needless.map(|name| format!("{name} that is passed by its address"));
    let aes = aes
        .iter()
        .filter(|name| functions.iter().all(|f| f.name != **name));
    missing
        .chain(aes.map(|name| (*name).into()))
        .chain(needless)
        .chain(planted_but_missed(functions))
        .collect()
}

/// The planted mistakes that are not found in these functions.
pub fn planted_but_missed(functions: &[Function]) -> Vec<String> {
    let planted = PLANTED.iter().filter_map(|(name, arguments, kind)| {
        let name = format!("machine_code::planted::{name}");
        let mut found = functions
            .iter()
            .filter(|function| function.name == name)
            .flat_map(|function| findings(function, *arguments, &[]));
        let is_found = found.any(|finding| finding.kind == *kind);
        (!is_found).then_some(name)
    });
    planted.collect()
}

#[cfg(test)]
mod tests {
    use super::Review;
    use crate::disassembly::Function;

    const STEP: &str = "keccak::Step";

    fn kernel(name: &str, text: &str) -> Function {
        let backend = "pq_core::arch::avx2::Avx2 as pq_core::arch::backend::Backend";
        Function::parse(
            &format!("<{backend}>::run::<pq_core::kernel::{name}>"),
            text,
        )
    }

    fn found(functions: &[Function]) -> Vec<String> {
        Review::of(functions).findings
    }

    /// A kernel may branch on whether a number is a rate, and on nothing else about the number.
    #[test]
    fn rates_are_looked_up() {
        let by_rate = "\
            10:\tmov    (%rsi),%rax\n\
            14:\tcmp    $0x88,%rax\n\
            18:\tje     1c <step+0xc>\n\
            1c:\tret\n";
        assert_eq!(found(&[kernel(STEP, by_rate)]), [""; 0]);
        assert_eq!(found(&[kernel("keccak::KeccakF1600", by_rate)]).len(), 1);
        let by_number = by_rate.replace("0x88", "0x89");
        assert_eq!(found(&[kernel(STEP, &by_number)]).len(), 1);
        // the comparison just before the jump, in the order of addresses, is not the one that sets its flags
        let by_data = "\
            10:\tmov    (%rsi),%rax\n\
            14:\ttest   %rax,%rax\n\
            18:\tjmp    20 <step+0x10>\n\
            1c:\tcmp    $0x88,%rax\n\
            20:\tje     24 <step+0x14>\n\
            24:\tret\n";
        assert_eq!(found(&[kernel(STEP, by_data)]).len(), 1);
        let by_rate = "\
            10:\tldr\tx8, [x1]\n\
            14:\tcmp\tx8, #0x88\n\
            18:\tb.eq\t1c <step+0xc>\n\
            1c:\tret\n";
        assert_eq!(found(&[kernel(STEP, by_rate)]), [""; 0]);
        let by_bit = by_rate.replace("b.eq\t", "tbz\tx8, #3, ");
        assert_eq!(found(&[kernel(STEP, &by_bit)]).len(), 1);
    }

    /// Functions that kernels call are analysed, wherever they are in the program.
    #[test]
    fn callees_are_analysed() {
        let caller = "\
            10:\tcall   20 <helper>\n\
            14:\tcall   60 <memcpy@plt>\n\
            18:\tcall   70 <core::panicking::panic_bounds_check>\n";
        let helper = "\
            20:\tjmp    40 <further>\n";
        let further = "\
            40:\tmov    (%rdi),%rax\n\
            44:\ttest   %rax,%rax\n\
            48:\tje     4c <further+0xc>\n\
            4c:\tret\n";
        let mut functions = vec![
            kernel("keccak::KeccakF1600", caller),
            Function::parse("helper", helper),
            Function::parse("further", further),
            Function::parse("nobody_s", further),
        ];
        let review = Review::of(&functions);
        assert_eq!(review.callees, ["further", "helper"]);
        let [finding] = &review.findings[..] else {
            panic!("not one finding: {:?}", review.findings);
        };
        assert!(finding.contains("Branch at 48"), "{finding}");
        functions.remove(2);
        assert!(found(&functions)[0].contains("further"));
        // through a pointer
        let pointer = caller.replace("20 <helper>", "*%rax");
        assert_eq!(found(&[kernel("keccak::KeccakF1600", &pointer)]).len(), 1);
    }

    #[test]
    fn kernels_that_are_not_there_are_missing() {
        let missing = Review::of(&[]).missing;
        for name in ["neon::Neon", "neon::NeonSha3"] {
            let kernel = format!("keccak::PermuteAndAbsorb of {name}");
            assert!(missing.contains(&kernel), "{missing:#?}");
        }
    }
}
