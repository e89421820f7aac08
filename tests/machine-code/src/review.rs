//! The review of all kernels of a program.

use crate::dependence::{Kind, findings, is_x86_64};
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
    /// each of the architecture's backends and for its instructions for SHA-256, and the
    /// mistakes planted on purpose.
    pub missing: Vec<String>,
}

/// Kernels of data that is public, or as far as it is public: their types' names.
///
/// * `RejectUniform` samples **Â** from ρ.
/// * `RejectBounded` samples **s**₁ and **s**₂: which half-bytes it refuses is public.
/// * `UseHint` is verification's, and `Ones` encodes a signature that is accepted.
/// * `AddProduct` and `Terms` go by the places of the coefficients of challenges, which are public
///   as those are. With AVX2, and portable, valgrind sees that they look at nothing else.
/// * `keccak::Step` is told how many bytes each lane absorbs, and which lanes, and
///   `keccak::PermuteAndAbsorb` the rate and how many blocks. With AVX2, and portable, valgrind sees
///   that they look at nothing else.
const PUBLIC: [&str; 8] = [
    "RejectUniform",
    "RejectBounded",
    "UseHint",
    "Ones",
    "AddProduct",
    "Terms",
    "keccak::Step",
    "keccak::PermuteAndAbsorb",
];

/// Kernels of secrets, by their types' names, which every backend has.
const SECRET: [&str; 35] = [
    "keccak::KeccakF1600",
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

/// Mistakes planted on purpose, by their functions' names, and what they are.
const PLANTED: [(&str, Kind); 2] = [("branch", Kind::Branch), ("index", Kind::Address)];

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
    let (backends, sha256) = match functions.iter().any(is_x86_64) {
        true => (["avx2::Avx2", "avx512::Avx512"], "sha_ni::ShaNi"),
        false => (["neon::Neon", "neon::NeonSha3"], "neon_sha2::NeonSha2"),
    };
    let of_backend = |backend| SECRET.map(|kernel| (backend, RUN, kernel));
    let kernels = backends.into_iter().flat_map(of_backend);
    let kernels = kernels.chain(SECRET_SHA256.map(|kernel| (sha256, RUN_SHA256, kernel)));
    let missing = kernels.filter_map(|(cpu, run, kernel)| {
        let run = format!("<pq_core::arch::{cpu}{run}");
        let argument = format!("pq_core::kernel::{kernel}");
        let is_it = |f: &Function| f.name.contains(&run) && f.name.contains(&argument);
        let found = functions.iter().any(is_it);
        (!found).then(|| format!("{kernel} of {cpu}"))
    });
    missing.chain(planted_but_missed(functions)).collect()
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
