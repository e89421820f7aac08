//! A service and a timer of systemd that renew a certificate by the options of this command.

use core::fmt;
use std::env;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::Arguments;
use crate::commands::delivery::Delivery;
use crate::exit_status::ExitStatus;
use crate::failure::{AcmeFailure, Failure};
use crate::files::{Access, Destination, Output};
use crate::report::{self, Report};

pub(super) fn run(arguments: &Arguments, folder: &Path, json: bool) -> Result<ExitStatus, Failure> {
    let Destination::File(out) = &arguments.out else {
        return Err(AcmeFailure::NeedsFile { option: "install" }.into());
    };
    let here = env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
    let out = here.join(out);
    let name = out.file_stem().unwrap_or_default().to_string_lossy();
    let name: String = name
        .chars()
        .map(|one| {
            if one.is_ascii_alphanumeric() || "-_.".contains(one) {
                one
            } else {
                '_'
            }
        })
        .collect();
    let name = format!("pqtls-{name}");
    let units = Units {
        service: service(&name, &here),
        timer: timer(&out),
        service_file: folder.join(format!("{name}.service")).display().to_string(),
        timer_file: folder.join(format!("{name}.timer")).display().to_string(),
        is_written: !arguments.print,
        name,
    };
    if arguments.print {
        report::print(&units, json)?;
        return Ok(ExitStatus::Done);
    }
    let files = [&units.service_file, &units.timer_file];
    let files = files.map(|file| Destination::File(file.into()));
    let delivery = Delivery::to_public(&[&files[0], &files[1]], arguments.force, json)?;
    let texts = [&units.service, &units.timer];
    let output = |number: usize| Output {
        to: &files[number],
        content: texts[number].as_bytes(),
        access: Access::Public,
        is_binary: false,
    };
    delivery.deliver(&[output(0), output(1)], &units)
}

/// The command line of this run, as one that renews.
fn command_line() -> Vec<String> {
    let program = env::current_exe().map(|program| program.display().to_string());
    let given = env::args_os().skip(1);
    let given = given.map(|argument| argument.to_string_lossy().into_owned());
    let is_kept = |argument: &String| {
        let others = ["--print", "--force", "--renew", "--json"];
        !others.contains(&argument.as_str()) && !argument.starts_with("--install")
    };
    [program.unwrap_or_else(|_| "pqtls".into())]
        .into_iter()
        .chain(given.filter(is_kept))
        .chain(["--renew".into()])
        .collect()
}

/// An argument as systemd reads it (systemd.service(5), "Command lines").
fn quoted(argument: &str) -> String {
    let mut text = String::new();
    for one in argument.chars() {
        match one {
            '%' | '$' => text.extend([one, one]),
            '"' | '\\' => text.extend(['\\', one]),
            _ => text.push(one),
        }
    }
    let is_plain = |one: char| one.is_ascii_alphanumeric() || "-_./:=@,+%$*".contains(one);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text,
        false => format!("\"{text}\""),
    }
}

fn service(name: &str, here: &Path) -> String {
    let words: Vec<String> = command_line().iter().map(|word| quoted(word)).collect();
    // Specifiers begin with it.
    let here = here.display().to_string().replace('%', "%%");
    let nothing = ExitStatus::NothingToDo as u8;
    format!(
        "[Unit]
Description=Renews a certificate by ACME ({name})
Wants=network-online.target
After=network-online.target

[Service]
Type=oneshot
WorkingDirectory={here}
ExecStart={}
# the certificate was not due
SuccessExitStatus={nothing}
UMask=0077
NoNewPrivileges=yes
PrivateTmp=yes
",
        words.join(" ")
    )
}

fn timer(out: &Path) -> String {
    let out = out.display().to_string().replace('%', "%%");
    format!(
        "[Unit]
Description=Renews {out} when it is due

[Timer]
# as often as CAs want to be asked (RFC 9773, section 4.3)
OnCalendar=00/6:00
RandomizedDelaySec=3h
Persistent=yes

[Install]
WantedBy=timers.target
"
    )
}

#[derive(Debug, Serialize)]
struct Units {
    service_file: String,
    service: String,
    timer_file: String,
    timer: String,
    #[serde(rename = "written")]
    is_written: bool,
    #[serde(skip)]
    name: String,
}

impl Report for Units {
    const SCHEMA: &'static str = "cert-obtain-timer/1";
}

impl fmt::Display for Units {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.is_written {
            writeln!(f, "# {}\n{}", self.service_file, self.service)?;
            return write!(f, "# {}\n{}", self.timer_file, self.timer);
        }
        writeln!(f, "{}: renews the certificate", self.service_file)?;
        writeln!(f, "{}: when", self.timer_file)?;
        writeln!(
            f,
            "What to do next:\n  systemctl daemon-reload && systemctl enable --now {}.timer",
            self.name
        )
    }
}
