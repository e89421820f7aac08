//! What others take for a signature in their own process: Node.js, pyca and a token behind PKCS#11. Each measures itself, in
//! the same run as the rows of ours, but not in turns with them.

use core::error::Error;
use std::path::Path;
use std::process::Command;
use std::time::Instant;
use std::{env, fs};

use cryptoki::context::{CInitializeArgs, CInitializeFlags, Pkcs11};
use cryptoki::mechanism::Mechanism;
use cryptoki::mechanism::dsa::{HedgeType, SignAdditionalContext};
use cryptoki::object::{Attribute, MlDsaParameterSetType};
use cryptoki::session::UserType;
use cryptoki::types::AuthPin;

use super::fixture::messages;
use crate::timing::results::Timing;

type Outcome = Result<Timing, Box<dyn Error>>;

/// Another implementation that signs.
struct Other {
    name: &'static str,
    /// What its row needs.
    needs: &'static str,
    sign: fn(&str) -> Outcome,
}

const OTHERS: [Other; 3] = [
    Other {
        name: "node:crypto",
        needs: "Node.js 24.7 or later, on the path or in the environment variable NODE",
        sign: node,
    },
    Other {
        name: "pyca",
        needs: "cryptography with ML-DSA, in the python3 on the path or in the environment variable PYTHON",
        sign: pyca,
    },
    Other {
        name: "kryoptic",
        needs: "the environment of `tests/token/run -- cargo bench …`",
        sign: kryoptic,
    },
];

/// The rows of those that this machine has.
pub(super) fn signing() -> Vec<Timing> {
    let rows = OTHERS.iter().map(|other| (other.sign)(other.name));
    rows.filter_map(Result::ok).collect()
}

/// A line for each that this machine has not, with the reason.
pub fn missing() -> Vec<String> {
    let lines = OTHERS.iter().filter_map(|other| {
        let error = (other.sign)(other.name).err()?;
        Some(format!(
            "{} has no row: it takes {}: {error}",
            other.name, other.needs
        ))
    });
    lines.collect()
}

fn node(name: &str) -> Outcome {
    let program = env::var_os("NODE").unwrap_or_else(|| "node".into());
    let mut command = Command::new(program);
    command.args(["--input-type=module", "--eval", include_str!("sign.mjs")]);
    reported(name, &mut command)
}

fn pyca(name: &str) -> Outcome {
    let program = env::var_os("PYTHON").unwrap_or_else(|| "python3".into());
    let mut command = Command::new(program);
    command.args(["-c", include_str!("sign.py")]);
    reported(name, &mut command)
}

/// Reads the line that a script prints: its version and nanoseconds.
fn reported(name: &str, command: &mut Command) -> Outcome {
    let output = command.output()?;
    let printed = String::from_utf8_lossy(&output.stdout);
    let complaint = String::from_utf8_lossy(&output.stderr);
    let line = printed.trim_end().split_once(' ');
    let (version, nanoseconds) = line.ok_or_else(|| {
        let last = complaint.lines().rev().find(|line| line.contains("Error"));
        last.unwrap_or("it printed no figure").to_owned()
    })?;
    Ok(Timing::reported(
        &format!("{name} {version}"),
        nanoseconds.parse()?,
    ))
}

/// Signs in the token that `tests/token/run` makes, by the clock: the module may have threads of its own.
fn kryoptic(name: &str) -> Outcome {
    let named = |name| env::var_os(name).ok_or(name);
    let module = named("PQ_KEYSTORE_KRYOPTIC")?;
    let pin = fs::read_to_string(named("PQ_KEYSTORE_TOKEN_PIN")?)?;
    let pkcs11 = Pkcs11::new(Path::new(&module))?;
    pkcs11.initialize(CInitializeArgs::new(CInitializeFlags::OS_LOCKING_OK))?;
    let slots = pkcs11.get_slots_with_initialized_token()?;
    let session = pkcs11.open_rw_session(*slots.first().ok_or("no token")?)?;
    session.login(UserType::User, Some(&AuthPin::new(pin.trim_end().into())))?;
    let public = [
        Attribute::ParameterSet(MlDsaParameterSetType::ML_DSA_65.into()),
        Attribute::Verify(true),
        Attribute::Token(false),
    ];
    let private = [Attribute::Sign(true), Attribute::Token(false)];
    let (_, key) = session.generate_key_pair(&Mechanism::MlDsaKeyPairGen, &public, &private)?;
    let messages = messages();
    let pass = || {
        messages.iter().try_for_each(|message| {
            let hedged = SignAdditionalContext::new(HedgeType::Preferred, None);
            session
                .sign(&Mechanism::MlDsa(hedged), key, message)
                .map(drop)
        })
    };
    pass()?;
    const PASSES: u32 = 8;
    let started = Instant::now();
    (0..PASSES).try_for_each(|_| pass())?;
    let spent = started.elapsed().as_nanos() as f64;
    let signatures = f64::from(PASSES) * messages.len() as f64;
    Ok(Timing::reported(name, spent / signatures))
}
