//! What the standards make public about secrets, and which functions may therefore depend on it.

use crate::report::Site;

/// Functions that depend on something that comes from a secret but is public.
pub(crate) struct Public {
    /// The operations where they may, of any set of the scheme: see [`of_scheme`]. In other operations something
    /// else is secret, so they may not.
    operations: &'static [&'static str],
    /// As in [`Site::file`].
    file: &'static str,
    /// As in [`Site::function`].
    functions: &'static [&'static str],
    /// What is public, and why.
    pub(crate) reason: &'static str,
    /// The place in the standard.
    pub(crate) step: &'static str,
}

impl Public {
    /// The operations and sites that it allows.
    pub(crate) fn sites(&self) -> impl Iterator<Item = (&'static str, Site)> {
        let of_operation = move |operation: &'static str| {
            let site = move |function: &&str| Site {
                file: self.file.into(),
                function: (*function).into(),
            };
            self.functions
                .iter()
                .map(move |function| (operation, site(function)))
        };
        self.operations.iter().copied().flat_map(of_operation)
    }
}

/// `ml-kem generate` of `ml-kem-768 generate`.
pub(crate) fn of_scheme(operation: &str) -> String {
    let (set, what) = operation.split_once(' ').unwrap_or((operation, ""));
    let schemes = ["ml-kem", "ml-dsa", "slh-dsa"];
    let scheme = schemes.into_iter().find(|scheme| set.starts_with(scheme));
    format!("{} {what}", scheme.unwrap_or(set))
}

/// All functions that may depend on secrets in this way.
pub(crate) const LIST: &[Public] = &[
    Public {
        operations: &["ml-kem generate"],
        file: "kernel/ml_kem/sampling.rs",
        functions: &["RejectUniform::run"],
        reason: "which candidates for coefficients of Â are below q: it follows from ρ, a part of \
                 the encapsulation key",
        step: "FIPS 203, algorithm 7, steps 8 and 12; algorithm 13, step 19",
    },
    Public {
        operations: &["ml-kem generate"],
        file: "ml_kem/generation.rs",
        functions: &["Generation::take", "Generation::make_rows"],
        reason: "how many of them there are by now, and so which rows of Â are complete",
        step: "FIPS 203, algorithm 7, step 4",
    },
    Public {
        operations: &["ml-kem generate"],
        file: "hash/lanes/slot.rs",
        functions: &["Slot::step"],
        reason: "how many blocks of output an entry of Â takes",
        step: "FIPS 203, algorithm 7, step 5",
    },
    Public {
        operations: &["ml-kem decapsulate"],
        file: "ml_kem/keys.rs",
        functions: &[
            "DecapsulationKey::decode",
            "DecapsulationKey::from_expanded",
        ],
        reason: "whether a key that is read is refused, and why",
        step: "FIPS 203, section 7.3, and the checks that `from_expanded` documents",
    },
    Public {
        operations: &["ml-dsa generate"],
        file: "kernel/ml_dsa/sampling.rs",
        functions: &["RejectUniform::run"],
        reason: "which candidates for coefficients of Â are below q: it follows from ρ, a part of \
                 the verifying key",
        step: "FIPS 204, algorithm 30, steps 6 and 7; algorithm 6, step 8",
    },
    Public {
        operations: &["ml-dsa generate"],
        file: "kernel/ml_dsa/sampling.rs",
        functions: &["RejectBounded::run"],
        reason: "which half-bytes are refused as coefficients of s₁ and s₂: they are independent \
                 of those that are not",
        step: "FIPS 204, algorithm 31, steps 8 and 12",
    },
    Public {
        operations: &["ml-dsa generate"],
        file: "ml_dsa/expansion.rs",
        functions: &["Expansion::take"],
        reason: "how many coefficients of both kinds there are by now",
        step: "FIPS 204, algorithms 30 and 31, step 4",
    },
    Public {
        operations: &["ml-dsa sign, secret vectors"],
        file: "ml_dsa/signing_key.rs",
        functions: &["SigningKey::decode"],
        reason: "whether a key that is read is refused, and why",
        step: "FIPS 204, section 3.6.2 and algorithm 25, and the checks that `from_expanded` \
               documents",
    },
    Public {
        operations: &["ml-dsa sign, secret mask"],
        file: "ml_dsa/sampling.rs",
        functions: &["Ball::take"],
        reason: "c̃, from which c is sampled: it is part of the signature; for refused attempts \
                 the head of `ml_dsa/signing.rs` has the argument",
        step: "FIPS 204, algorithm 29; algorithm 7, steps 15 and 16",
    },
    Public {
        operations: &["ml-dsa sign, secret mask"],
        file: "kernel/ml_dsa/challenge.rs",
        functions: &["Terms::run", "AddProduct::run", "add_rotations"],
        reason: "the places of the coefficients of c that are not 0, as c̃; with secret vectors \
                 and a known c nothing here depends on a secret",
        step: "FIPS 204, algorithm 7, steps 16, 18 and 19",
    },
    Public {
        operations: &["ml-dsa sign, secret mask"],
        file: "ml_dsa/ring.rs",
        functions: &["Challenge::set", "Rq::add_product"],
        reason: "the same, and whether the product refuses the attempt",
        step: "FIPS 204, algorithm 7, steps 16 and 23",
    },
    Public {
        operations: &["ml-dsa sign, secret vectors", "ml-dsa sign, secret mask"],
        file: "ml_dsa/signing.rs",
        functions: &["Space::respond"],
        reason: "whether an attempt is refused, at which polynomial, and why; and the hint, which \
                 is part of the signature",
        step: "FIPS 204, algorithm 7, steps 23, 28 and 33",
    },
    Public {
        operations: &["ml-dsa sign, secret mask"],
        file: "ml_dsa/signing.rs",
        functions: &["sign_mu"],
        reason: "the same, where the compiler makes one function of both",
        step: "FIPS 204, algorithm 7, steps 23, 28 and 33",
    },
    Public {
        operations: &["ml-dsa sign, secret vectors", "ml-dsa sign, secret mask"],
        file: "ml_dsa/signature.rs",
        functions: &["encode_hints"],
        reason: "where the hint of an accepted attempt is 1",
        step: "FIPS 204, algorithm 20; algorithm 7, step 33",
    },
    Public {
        operations: &["ml-dsa sign, secret vectors", "ml-dsa sign, secret mask"],
        file: "kernel/ml_dsa/encoding.rs",
        functions: &["Ones::run"],
        reason: "where the hint of an accepted attempt is 1",
        step: "FIPS 204, algorithm 20; algorithm 7, step 33",
    },
    Public {
        operations: &["slh-dsa sign, SK.seed", "slh-dsa sign, SK.prf"],
        file: "slh_dsa/algorithms.rs",
        functions: &["sign"],
        reason: "whether the root is PK.root, without which signing fails",
        step: "FIPS 205, algorithm 18, step 3, and what `sign_into` documents",
    },
    Public {
        operations: &["slh-dsa sign, SK.seed"],
        file: "slh_dsa/signing_key.rs",
        functions: &["SigningKey::sign_into"],
        reason: "whether signing has failed, as before",
        step: "what `sign_into` documents",
    },
    Public {
        operations: &["slh-dsa sign, SK.seed", "slh-dsa sign, SK.prf"],
        file: "slh_dsa/wots.rs",
        functions: &["KeyPairs::compute", "KeyPairs::ends"],
        reason: "which key pair of a tree a signature uses, and how far it walks its chains: that \
                 follows from R, and from the root of the tree below or the public key of FORS, \
                 which the signature lets everybody compute",
        step: "FIPS 205, algorithm 10, steps 6 and 7; algorithm 7, steps 2 to 7; algorithm 19, \
               steps 9, 10, 16 and 17",
    },
    Public {
        operations: &["slh-dsa sign, SK.seed", "slh-dsa sign, SK.prf"],
        file: "kernel/slh_dsa/sha2.rs",
        functions: &["Chain::run_with"],
        reason: "how many steps of a chain there are, as before; whole chains, when a key is \
                 generated, depend on no secret",
        step: "FIPS 205, algorithm 5, step 2",
    },
    Public {
        operations: &["slh-dsa sign, SK.seed", "slh-dsa sign, SK.prf"],
        file: "kernel/slh_dsa/shake.rs",
        functions: &["Chain::run_with"],
        reason: "the same with SHAKE",
        step: "FIPS 205, algorithm 5, step 2",
    },
    Public {
        operations: &["slh-dsa sign, SK.prf"],
        file: "slh_dsa/fors.rs",
        functions: &["Secrets::compute"],
        reason: "which leaves of FORS a signature opens: it follows from R, which is in the \
                 signature",
        step: "FIPS 205, algorithm 16, steps 2 to 4; algorithm 19, steps 3 to 10",
    },
    Public {
        operations: &["slh-dsa sign, SK.prf"],
        file: "slh_dsa/merkle.rs",
        functions: &["block_root"],
        reason: "which leaf of a tree a signature opens, as before",
        step: "FIPS 205, algorithm 16, steps 6 and 7; algorithm 10, steps 2 and 3",
    },
    Public {
        operations: &["slh-dsa sign, SK.prf"],
        file: "slh_dsa/wots.rs",
        functions: &["Digits::of_chain"],
        reason: "which chain of a key pair has which digit, as before",
        step: "FIPS 205, algorithm 7, steps 2 to 7",
    },
    Public {
        operations: &["slh-dsa sign, SK.prf"],
        file: "slh_dsa/sha2.rs",
        functions: &["Sha2Lanes::value"],
        reason: "in which lane the leaf or the chain is that a signature opens, as before",
        step: "FIPS 205, algorithm 16, step 4; algorithm 10, steps 6 and 7",
    },
];
