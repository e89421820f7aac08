//! The commands `pqtls store audit log` and `pqtls store audit head`.

use core::fmt;

use pq_keystore::audit::{AuditEntry, Deed, Outcome};
use pq_keystore::policy::Principal;
use serde::Serialize;

use super::moment;
use crate::commands::custody::{Opened, Place};
use crate::commands::delivery::{Delivery, OutputOptions};
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::{Access, Output};
use crate::report::{self, Report, hex};

/// Read the audit log, and have its head signed
///
/// "pqtls store check" checks that the log is whole.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    Log(Log),
    Head(Head),
}

pub(crate) fn run(command: Command, json: bool) -> Result<ExitStatus, Failure> {
    match command {
        Command::Log(arguments) => arguments.run(json),
        Command::Head(arguments) => arguments.run(json),
    }
}

/// Show the last entries of the audit log: who did what when
///
/// With --from, entries from that number on, and then the number of the next one, for --from. The number of an entry is its
/// place in the log; the time is by the clock of the machine. Where a verb stands for several things, the entry says which:
/// those of a store that an earlier program wrote may not.
#[derive(Debug, clap::Args)]
#[command(after_help = LOG)]
pub(crate) struct Log {
    /// Begin with the entry of this number, and not with the last ones
    #[arg(long, value_name = "N")]
    from: Option<u64>,

    /// How many entries, at most 1000
    #[arg(
        long,
        value_name = "N",
        default_value = "1000",
        value_parser = clap::value_parser!(u16).range(1..=1000)
    )]
    count: u16,

    #[command(flatten)]
    place: Place,
}

const LOG: &str = "\
Examples:
  $ pqtls store audit log --count 3 --kek-file kek
  $ pqtls store audit log --from 1 --count 100 --kek-file kek --json";

impl Log {
    fn run(&self, json: bool) -> Result<ExitStatus, Failure> {
        let Opened { store, principal } = self.place.open()?;
        let count = usize::from(self.count);
        let mut entries: Vec<Line> = Vec::new();
        let mut next = self.from;
        match self.from {
            None => {
                let last = store.last_audit_entries(&principal, count)?;
                entries.extend(last.iter().map(Line::of));
            }
            // A page of the storage may be shorter.
            Some(_) => {
                while let Some(from) = next.filter(|_| entries.len() < count) {
                    let page = store.audit_log(&principal, from, count - entries.len())?;
                    next = page.last().map(|last| last.sequence.saturating_add(1));
                    entries.extend(page.iter().map(Line::of));
                }
            }
        }
        report::print(&Entries { entries, next }, json)?;
        Ok(ExitStatus::Done)
    }
}

#[derive(Debug, Serialize)]
struct Entries {
    entries: Vec<Line>,
    /// The number of the entry after these, if they are from one on, and the log doesn't end here.
    next: Option<u64>,
}

#[derive(Debug, Serialize)]
struct Line {
    sequence: u64,
    time: String,
    /// Nobody for refused attempts of many.
    principal: Option<String>,
    verb: &'static str,
    /// What was done, where the verb stands for several things, and the entry says so.
    deed: Option<&'static str>,
    key: Option<String>,
    version: Option<u32>,
    /// Why it was refused or failed; nothing, if it was done.
    refused: Option<String>,
    count: u64,
}

impl Line {
    fn of(entry: &AuditEntry) -> Self {
        Self {
            sequence: entry.sequence,
            time: moment::text(entry.time),
            principal: entry.principal.as_ref().map(Principal::to_string),
            verb: entry.verb.name(),
            deed: entry.deed.map(Deed::name),
            key: entry.key.as_ref().map(ToString::to_string),
            version: entry.version.map(|version| version.get()),
            refused: match &entry.outcome {
                Outcome::Done => None,
                Outcome::Refused(code) => Some(code.clone()),
                _ => Some("other".into()),
            },
            count: entry.count,
        }
    }
}

impl Line {
    fn deed(&self) -> Option<Deed> {
        self.deed.and_then(|name| name.parse().ok())
    }

    /// Whether the version is the first that is left.
    fn is_before_version(&self) -> bool {
        self.deed() == Some(Deed::Trim)
    }

    /// What of its verb was done.
    fn write_deed(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match (self.deed(), self.version) {
            (Some(Deed::Trim), Some(first)) => {
                return write!(
                    f,
                    ", all versions before #{first}, with their public keys (trim)"
                );
            }
            (Some(Deed::Init), _) => "the store was made",
            (Some(Deed::SetGrants), _) => "the store's grants were changed",
            (Some(Deed::Rewrap), _) => "what the store is sealed under was changed (rewrap)",
            (Some(Deed::ConfirmTime), _) => "the clock was said to be right",
            (Some(Deed::RemoveOrphans), _) => {
                "keys in tokens that no version refers to are removed"
            }
            (Some(Deed::MakeWrappingKey), _) => "a key was made to send keys under",
            (Some(Deed::CancelDestruction), _) => "cancelled",
            (Some(Deed::Delete), _) => "the key was deleted, for good",
            _ => return Ok(()),
        };
        write!(f, ", {what}")
    }
}

impl Report for Entries {
    const SCHEMA: &'static str = "store-audit-log/1";
}

impl fmt::Display for Entries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in &self.entries {
            let principal = line.principal.as_deref().unwrap_or("others");
            write!(
                f,
                "{}  {}  {principal} {}",
                line.sequence, line.time, line.verb
            )?;
            match (&line.key, line.version) {
                (Some(key), Some(version)) if !line.is_before_version() => {
                    write!(f, " {key}#{version}")?;
                }
                (Some(key), _) => write!(f, " {key}")?,
                (None, _) => {}
            }
            line.write_deed(f)?;
            if line.count != 1 {
                write!(f, ", {} times", line.count)?;
            }
            match &line.refused {
                Some(code) => writeln!(f, ": {code}")?,
                None => writeln!(f)?,
            }
        }
        match self.next {
            Some(next) => writeln!(f, "more may follow: --from {next}"),
            None => Ok(()),
        }
    }
}

/// Write where the audit log ends now, signed by the store
///
/// Keep it where nobody who can write to the store can write. "pqtls store check --head FILE" shows later that the log still
/// has all that it had, so that no older copy of the store was put back.
#[derive(Debug, clap::Args)]
#[command(after_help = HEAD)]
pub(crate) struct Head {
    #[command(flatten)]
    output: OutputOptions,

    #[command(flatten)]
    place: Place,
}

const HEAD: &str = "\
Examples:
  $ pqtls store audit head --out store.head --kek-file kek";

impl Head {
    fn run(&self, json: bool) -> Result<ExitStatus, Failure> {
        let OutputOptions { out, force } = &self.output;
        let delivery = Delivery::to_public(&[out], *force, json)?;
        let opened = self.place.open()?;
        let head = opened.store.signed_head(&opened.principal)?;
        let text = head.to_string();
        let output = Output {
            to: out,
            content: text.as_bytes(),
            access: Access::Public,
            is_binary: false,
        };
        let report = Signed {
            store: hex(&head.store),
            sequence: head.head.sequence,
            hash: hex(&head.head.hash),
            time: moment::text(head.time),
            file: out.to_string(),
        };
        delivery.deliver(&[output], &report)
    }
}

#[derive(Debug, Serialize)]
struct Signed {
    store: String,
    sequence: u64,
    hash: String,
    time: String,
    file: String,
}

impl Report for Signed {
    const SCHEMA: &'static str = "store-audit-head/1";
}

impl fmt::Display for Signed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, sequence, .. } = self;
        writeln!(f, "{file}: head of the audit log at entry {sequence}")
    }
}
