//! The review of all kernels of a program.

use crate::dependence::{Arguments, Finding, Kind, findings, is_x86_64};
use crate::disassembly::{Flow, Function};

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
    /// each of the architecture's backends and for its instructions for SHA-256, those of kernels
    /// passed by their address that are, and the mistakes planted on purpose.
    pub missing: Vec<String>,
}

/// Kernels of data that is public, or as far as it is public: their types' names.
///
/// * `RejectUniform` samples **Â** from ρ.
/// * `RejectBounded` samples **s**₁ and **s**₂: which half-bytes it refuses is public.
/// * `UseHint` is verification's, and `Ones` encodes a signature that is accepted.
/// * `AddProduct` and `Terms` go by the places of the coefficients of challenges, which are public
///   as those are. With AVX2, and portable, valgrind sees that they look at nothing else.
const PUBLIC: [&str; 6] = [
    "RejectUniform",
    "RejectBounded",
    "UseHint",
    "Ones",
    "AddProduct",
    "Terms",
];

/// What `keccak::Step` looks up, and may branch on: how many bytes each lane absorbs, which is the rate
/// of a sponge. Whether it is one of these is asked by comparing with it.
const LOOKS_UP: (&str, [&str; 3]) = ("keccak::Step", ["0x48", "0x88", "0xa8"]);

/// Kernels of secrets, by their types' names, which every backend has.
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

/// Kernels that are passed by their address, since they are more than two words: what a word of them
/// leads to is data, the words themselves are addresses and lengths.
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

/// Kernels of secrets that run on the CPU's instructions for SHA-256, which valgrind does not
/// know either.
const SECRET_SHA256: [&str; 2] = [
    "sha2::streams::CompressStream",
    "slh_dsa::sha2::ChainStreams",
];

/// What the names of the functions that run kernels contain: those of backends, and those of
/// instructions for SHA-256.
const RUN: &str = " as pq_core::arch::backend::Backend>::run";
const RUN_SHA256: &str = " as pq_core::arch::backend::Sha256Instructions>::run";

/// Mistakes planted on purpose, by their functions' names, with how these are called and what they
/// are.
const PLANTED: [(&str, Arguments, Kind); 6] = [
    ("branch", Arguments::Values, Kind::Branch),
    ("index", Arguments::Values, Kind::Address),
    ("branch_on_words", Arguments::Values, Kind::Branch),
    ("index_by_word", Arguments::Values, Kind::Address),
    ("branch_on_word_behind", Arguments::Structure, Kind::Branch),
    ("index_by_word_behind", Arguments::Structure, Kind::Address),
];

impl Review {
    /// Of functions with the type parameters in their names.
    pub fn of(functions: &[Function]) -> Self {
        let kernels = functions
            .iter()
            .filter(|f| f.name.contains(RUN) || f.name.contains(RUN_SHA256));
        let (public, kernels): (Vec<_>, Vec<_>) =
            kernels.partition(|f| PUBLIC.iter().any(|name| f.name.contains(name)));
        let jumps = kernels.iter().flat_map(|f| &f.instructions);
        let jumps = jumps.filter(|instruction| match instruction.flow {
            Flow::Jump { conditional, .. } => conditional,
            _ => false,
        });
        let found = kernels.iter().flat_map(|f| {
            let findings = findings(f, arguments(f)).into_iter();
            let findings = findings.filter(|finding| !is_look_up(f, finding));
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

fn arguments(kernel: &Function) -> Arguments {
    match STRUCTURES.iter().any(|name| is(kernel, name)) {
        true => Arguments::Structure,
        false => Arguments::Values,
    }
}

/// Whether a function runs the kernel of this name.
fn is(function: &Function, kernel: &str) -> bool {
    function
        .name
        .contains(&format!("pq_core::kernel::{kernel}"))
}

/// Whether it is a branch by what a kernel [`LOOKS_UP`].
fn is_look_up(kernel: &Function, finding: &Finding<'_>) -> bool {
    let (name, numbers) = LOOKS_UP;
    let is_number = |operand: &str| numbers.contains(&operand.trim_start_matches(['$', '#']));
    let compared = finding.compared.is_some_and(|instruction| {
        let mut operands = instruction.operands.split([',', ' ']);
        instruction.mnemonic == "cmp" && operands.any(is_number)
    });
    finding.kind == Kind::Branch && is(kernel, name) && compared
}

fn missing(functions: &[Function]) -> Vec<String> {
    let (backends, sha256) = match functions.iter().any(is_x86_64) {
        true => (["avx2::Avx2", "avx512::Avx512"], "sha_ni::ShaNi"),
        false => (["neon::Neon", "neon::NeonSha3"], "neon_sha2::NeonSha2"),
    };
    let of_backend = |backend| SECRET.map(|kernel| (backend, RUN, kernel));
    let kernels = backends.into_iter().flat_map(of_backend);
    let kernels = kernels.chain(SECRET_SHA256.map(|kernel| (sha256, RUN_SHA256, kernel)));
    let missing = kernels.filter_map(|(cpu, run, kernel)| {
        let run = format!("<pq_core::arch::{cpu}{run}");
        // that of `NeonSha3`, in general registers, is that of `Neon`: the compiler keeps one
        let is_shared = (cpu, kernel) == ("neon::NeonSha3", "keccak::PermuteAndAbsorb");
        let is_it = |f: &Function| f.name.contains(&run) && is(f, kernel) || is_shared;
        let found = functions.iter().any(is_it);
        (!found).then(|| format!("{kernel} of {cpu}"))
    });
    let needless = STRUCTURES.iter().filter(|name| {
        let mut kernels = functions
            .iter()
            .filter(|f| f.name.contains(RUN) || f.name.contains(RUN_SHA256));
        !kernels.any(|f| is(f, name) && !findings(f, Arguments::Values).is_empty())
    });
    let needless = needless.map(|name| format!("{name} that is passed by its address"));
    missing
        .chain(needless)
        .chain(planted_but_missed(functions))
        .collect()
}

/// The mistakes planted on purpose in the program that are not found in its functions.
pub fn planted_but_missed(functions: &[Function]) -> Vec<String> {
    let planted = PLANTED.iter().filter_map(|(name, arguments, kind)| {
        let name = format!("machine_code::planted::{name}");
        let mut found = functions
            .iter()
            .filter(|function| function.name == name)
            .flat_map(|function| findings(function, *arguments));
        let is_found = found.any(|finding| finding.kind == *kind);
        (!is_found).then_some(name)
    });
    planted.collect()
}
