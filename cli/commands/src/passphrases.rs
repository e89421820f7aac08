//! Where passphrases come from: a prompt, a file, a descriptor or an environment variable. Never the command
//! line itself, which other users of the machine can read.
//!
//! This room uses [`files`](crate::files).

use core::num::ParseIntError;
use core::str::FromStr;
use std::env;
use std::io::{self, IsTerminal};

use zeroize::Zeroizing;

use crate::files::{self, InputError, Source};

/// As bytes, which are UTF-8 unless somebody chose otherwise.
pub(crate) type Passphrase = Zeroizing<Vec<u8>>;

/// A file descriptor that something is read from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Descriptor(u32);

impl FromStr for Descriptor {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<Self, ParseIntError> {
        text.parse().map(Self)
    }
}

impl Descriptor {
    pub(crate) fn source(self) -> Source {
        Source::File(format!("/dev/fd/{}", self.0).into())
    }
}

/// Options that name a passphrase. A command that needs two passphrases has the same options under two names.
macro_rules! options {
    (
        $(#[$of_options:meta])* $options:ident, $heading:literal,
        $file:ident, $fd:ident, $env:ident
    ) => {
        $(#[$of_options])*
        #[derive(Clone, Debug, Default, clap::Args)]
        #[group(multiple = false)]
        pub(crate) struct $options {
            /// Take it from the first line of a file; "-" is standard input
            #[arg(long, value_name = "FILE", help_heading = $heading)]
            $file: Option<Source>,

            /// Take it from the first line of file descriptor N, such as 3 with "3<FILE"
            #[arg(long, value_name = "N", help_heading = $heading)]
            $fd: Option<Descriptor>,

            /// Take it from an environment variable
            #[arg(long, value_name = "NAME", help_heading = $heading)]
            $env: Option<String>,
        }

        impl $options {
            /// The passphrase that the options name, if there is one.
            fn named(&self) -> Result<Option<Passphrase>, PassphraseError> {
                if let Some(file) = &self.$file {
                    return Ok(Some(first_line(file)?));
                }
                if let Some(descriptor) = self.$fd {
                    return Ok(Some(first_line(&descriptor.source())?));
                }
                self.$env.as_deref().map(variable).transpose()
            }
        }
    };
}

options!(
    /// The passphrase of an encrypted private key.
    PassphraseOptions,
    "Passphrase of an encrypted private key [default: ask for it]",
    passphrase_file,
    passphrase_fd,
    passphrase_env
);

options!(
    /// The passphrase that a private key gets.
    NewPassphraseOptions,
    "New passphrase, which the private key is encrypted under [default: ask for it]",
    passphrase_file,
    passphrase_fd,
    passphrase_env
);

options!(
    /// The passphrase that a private key had until now.
    OldPassphraseOptions,
    "Current passphrase of FILE [default: ask for it]",
    old_passphrase_file,
    old_passphrase_fd,
    old_passphrase_env
);

options!(
    /// The passphrase of the key of a CA, beside that of another key.
    CaPassphraseOptions,
    "Passphrase of the CA's key, if it is encrypted [default: ask for it]",
    ca_passphrase_file,
    ca_passphrase_fd,
    ca_passphrase_env
);

options!(
    /// The passphrase that a key store is sealed under.
    StorePassphraseOptions,
    "Passphrase of the store [default: ask for it]",
    store_passphrase_file,
    store_passphrase_fd,
    store_passphrase_env
);

options!(
    /// The passphrase that a key store is to be sealed under.
    NewStorePassphraseOptions,
    "New passphrase of the store [default: ask for it]",
    new_passphrase_file,
    new_passphrase_fd,
    new_passphrase_env
);

/// Options for the passphrase of something that is there, with what their names begin with.
macro_rules! of_what_is_there {
    ($($options:ident $prefix:literal),+) => {$(
        impl $options {
            /// The passphrase of a file. Without an option, the user at the terminal is asked.
            pub(crate) fn of(&self, file: &str) -> Result<Passphrase, PassphraseError> {
                match self.named()? {
                    Some(passphrase) => Ok(passphrase),
                    None if !can_ask() => Err(PassphraseError::NeededToRead {
                        file: file.into(),
                        options: $prefix,
                    }),
                    None => ask(&format!("Passphrase of {file}: ")),
                }
            }
        }
    )+};
}

of_what_is_there!(
    PassphraseOptions "--passphrase",
    OldPassphraseOptions "--old-passphrase",
    CaPassphraseOptions "--ca-passphrase",
    StorePassphraseOptions "--store-passphrase"
);

/// Options for a new passphrase, with what their names begin with.
macro_rules! of_what_is_new {
    ($($options:ident $prefix:literal),+) => {$(
        impl $options {
            /// The new passphrase. Without an option, the user at the terminal is asked twice.
            pub(crate) fn of_new(&self) -> Result<Passphrase, PassphraseError> {
                let passphrase = match self.named()? {
                    Some(passphrase) => passphrase,
                    None if !can_ask() => {
                        return Err(PassphraseError::NeededToWrite { options: $prefix });
                    }
                    None => repeated(ask("New passphrase: ")?)?,
                };
                not_empty(passphrase)
            }
        }
    )+};
}

of_what_is_new!(
    PassphraseOptions "--passphrase",
    NewPassphraseOptions "--passphrase",
    StorePassphraseOptions "--store-passphrase",
    NewStorePassphraseOptions "--new-passphrase"
);

/// For `mut_args`: a passphrase is of use with this argument alone.
pub(crate) fn only_with(argument: &'static str, option: clap::Arg) -> clap::Arg {
    match option.get_id().as_str() {
        "passphrase_file" | "passphrase_fd" | "passphrase_env" => option.requires(argument),
        _ => option,
    }
}

impl StorePassphraseOptions {
    /// Whether an option names a passphrase.
    pub(crate) fn is_given(&self) -> bool {
        let Self {
            store_passphrase_file: file,
            store_passphrase_fd: descriptor,
            store_passphrase_env: variable,
        } = self;
        file.is_some() || descriptor.is_some() || variable.is_some()
    }

    /// The file with the passphrase, if one is named.
    pub(crate) fn file(&self) -> Option<&Source> {
        self.store_passphrase_file.as_ref()
    }
}

impl NewStorePassphraseOptions {
    /// The file with the passphrase, if one is named.
    pub(crate) fn file(&self) -> Option<&Source> {
        self.new_passphrase_file.as_ref()
    }
}

impl CaPassphraseOptions {
    /// Whether an option names a passphrase.
    pub(crate) fn is_given(&self) -> bool {
        let Self {
            ca_passphrase_file,
            ca_passphrase_fd,
            ca_passphrase_env,
        } = self;
        ca_passphrase_file.is_some() || ca_passphrase_fd.is_some() || ca_passphrase_env.is_some()
    }
}

impl NewPassphraseOptions {
    /// The new passphrase, if an option names one, or `encrypt` asks for one.
    pub(crate) fn of_new_if(&self, encrypt: bool) -> Result<Option<Passphrase>, PassphraseError> {
        let Self {
            passphrase_file,
            passphrase_fd,
            passphrase_env,
        } = self;
        let is_given =
            passphrase_file.is_some() || passphrase_fd.is_some() || passphrase_env.is_some();
        match encrypt || is_given {
            true => self.of_new().map(Some),
            false => Ok(None),
        }
    }
}

impl PassphraseOptions {
    /// Whether an option names a passphrase.
    pub(crate) fn is_given(&self) -> bool {
        let Self {
            passphrase_file,
            passphrase_fd,
            passphrase_env,
        } = self;
        passphrase_file.is_some() || passphrase_fd.is_some() || passphrase_env.is_some()
    }

    /// Refuses an environment variable that is not set, also where no passphrase is needed in the end.
    pub(crate) fn check(&self) -> Result<(), PassphraseError> {
        self.passphrase_env
            .as_deref()
            .map_or(Ok(()), |name| variable(name).map(drop))
    }

    /// The passphrase of new keys that may do without one. Without an option, a user at the terminal is asked, and may
    /// give none; scripts have no user.
    pub(crate) fn of_new_or_none(
        &self,
        whose: &str,
    ) -> Result<Option<Passphrase>, PassphraseError> {
        let passphrase = match self.named()? {
            Some(passphrase) => passphrase,
            None if !(can_ask() && io::stdin().is_terminal()) => return Ok(None),
            None => {
                let passphrase = ask(&format!("Passphrase for {whose} [none]: "))?;
                if passphrase.is_empty() {
                    return Ok(None);
                }
                repeated(passphrase)?
            }
        };
        not_empty(passphrase).map(Some)
    }
}

/// The passphrase, if the user types it once more.
fn repeated(passphrase: Passphrase) -> Result<Passphrase, PassphraseError> {
    match passphrase == ask("The same again: ")? {
        true => Ok(passphrase),
        false => Err(PassphraseError::Mistyped),
    }
}

fn not_empty(passphrase: Passphrase) -> Result<Passphrase, PassphraseError> {
    match passphrase.is_empty() {
        true => Err(PassphraseError::Empty),
        false => Ok(passphrase),
    }
}

/// More than the longest passphrase, since a file may have more lines below it.
const LIMIT: usize = 64 * 1024;

fn first_line(file: &Source) -> Result<Passphrase, PassphraseError> {
    let mut bytes = file.read(LIMIT)?;
    let end = bytes.iter().position(|byte| *byte == b'\n');
    let len = end.unwrap_or(bytes.len());
    bytes.truncate(len);
    if bytes.last() == Some(&b'\r') {
        bytes.pop();
    }
    Ok(bytes)
}

fn variable(name: &str) -> Result<Passphrase, PassphraseError> {
    let value = env::var_os(name).ok_or_else(|| PassphraseError::NoVariable(name.into()))?;
    Ok(Zeroizing::new(value.into_encoded_bytes()))
}

/// The passphrase as text, which PKCS#12 needs in two encodings.
pub(crate) fn text(passphrase: &Passphrase) -> Result<&str, PassphraseError> {
    core::str::from_utf8(passphrase).map_err(|_| PassphraseError::NoText)
}

/// Whether there is a user who can read the question.
fn can_ask() -> bool {
    io::stderr().is_terminal()
}

fn ask(question: &str) -> Result<Passphrase, PassphraseError> {
    let _restored = echo_restored_by_signals().map_err(PassphraseError::Prompt)?;
    let answer = rpassword::prompt_password(question).map_err(PassphraseError::Prompt)?;
    Ok(Zeroizing::new(answer.into_bytes()))
}

/// The terminal shows no passphrase while one is typed, and shows again what is typed after a signal has ended this
/// process, as long as what this returns is kept.
#[cfg(unix)]
fn echo_restored_by_signals() -> io::Result<impl Sized> {
    use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};
    use std::fs::OpenOptions;

    let terminal = OpenOptions::new().read(true).write(true).open("/dev/tty");
    let Ok(terminal) = terminal else {
        // Whoever asks will say why there is none.
        return Ok(None);
    };
    let before = tcgetattr(&terminal)?;
    let restore = move || {
        // The process ends, and nobody can be told.
        let _ = tcsetattr(&terminal, OptionalActions::Now, &before);
    };
    files::stopped_by_signals(restore).map(Some)
}

#[cfg(not(unix))]
fn echo_restored_by_signals() -> io::Result<impl Sized> {
    Ok(())
}

/// Why there is no passphrase.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PassphraseError {
    #[error(
        "{file} is encrypted: give its passphrase with {options}-file FILE, {options}-fd N or \
         {options}-env NAME, or run this at a terminal to be asked for it"
    )]
    NeededToRead { file: String, options: &'static str },
    #[error(
        "encrypting a key takes a passphrase: give it with {options}-file FILE, {options}-fd N or \
         {options}-env NAME, or run this at a terminal to be asked for it"
    )]
    NeededToWrite { options: &'static str },
    #[error("an empty passphrase protects nothing; choose one that nobody guesses")]
    Empty,
    #[error("the two passphrases differ, so nothing was encrypted; try again")]
    Mistyped,
    #[error("the passphrase of a PKCS#12 file is text, and this one is not in UTF-8; name another")]
    NoText,
    #[error("there is no environment variable {0:?}; set it, or name another")]
    NoVariable(String),
    #[error("can't ask for the passphrase: {0}; give it with --passphrase-file FILE")]
    Prompt(io::Error),
    #[error("the passphrase: {0}")]
    Input(InputError),
}

impl From<InputError> for PassphraseError {
    fn from(error: InputError) -> Self {
        Self::Input(error)
    }
}

impl PassphraseError {
    /// Whether the command line is wrong.
    pub(crate) fn is_usage(&self) -> bool {
        !matches!(self, Self::Prompt(_) | Self::Input(_))
    }
}
