//! The chart of the page: bars of block characters for one parameter set of each family, for issuing and for
//! documents.

use core::fmt::{self, Write};

use super::{by_family, count, duration};
use crate::commands::bench::documents::{Operation, Rate};
use crate::commands::bench::findings::{Findings, Measured};

/// How long a bar is at most.
const WIDTH: f64 = 40.0;

/// The set of each family whose operations the chart shows, if it was measured.
const SHOWN: [&str; 3] = ["ML-KEM-768", "ML-DSA-65", "SLH-DSA-SHA2-128f"];

/// Bars in a block of code, as long as their figures: those of one operation stand below each other.
pub(super) fn chart(to: &mut impl Write, findings: &Findings) -> fmt::Result {
    to.write_str("\n## Chart\n\n```text\n")?;
    let mut charts: Vec<Chart> = Vec::new();
    for rows in by_family(findings) {
        let algorithm = |one: &Measured| one.row.algorithm.name();
        let is_shown = |one: &&Measured| SHOWN.contains(&algorithm(one));
        let set = algorithm(rows.iter().find(is_shown).unwrap_or(&rows[0]));
        let of_set = rows.iter().filter(|one| algorithm(one) == set);
        charts.extend(of_set.map(|one| of_operation(one, findings)));
    }
    charts.extend(of_issuing(findings));
    charts.extend(of_documents(findings));
    let names = charts.iter().flat_map(|chart| &chart.bars);
    let width = names.map(|bar| bar.name.chars().count()).max().unwrap_or(0);
    for (number, chart) in charts.iter().enumerate() {
        if number > 0 {
            writeln!(to)?;
        }
        chart.write(to, width)?;
    }
    to.write_str("```\n")
}

struct Chart {
    title: String,
    bars: Vec<Bar>,
}

struct Bar {
    name: String,
    figure: f64,
    text: String,
}

/// The medians; for OpenSSL the mean, since it tells nothing else.
fn of_operation(one: &Measured, findings: &Findings) -> Chart {
    let bar = |name: String, figure: f64| Bar {
        name,
        figure,
        text: duration(figure),
    };
    let ours = one.backends.iter();
    let mut bars: Vec<Bar> = ours
        .map(|backend| bar(backend.name.into(), backend.timing.p50))
        .collect();
    if let (Some(mean), Some(openssl)) = (&one.openssl, &findings.openssl) {
        bars.push(bar(format!("OpenSSL {}", openssl.version), mean.mean));
    }
    Chart {
        title: one.row.name(),
        bars,
    }
}

fn of_issuing(findings: &Findings) -> Option<Chart> {
    let issuing = findings.issuing.as_ref()?;
    let bar = |name: &str, figure: f64| Bar {
        name: name.into(),
        figure,
        text: count(figure),
    };
    let best = issuing.backends.first()?;
    let mut bars = vec![
        bar("verifying, signing", best.primitives_per_second),
        bar("pqtls, one file", best.one_file.per_second),
        bar("pqtls, a file each", best.many_files.per_second),
    ];
    let openssl = issuing.openssl.as_ref();
    bars.extend(openssl.map(|openssl| bar("openssl x509 -req", openssl.per_second)));
    Some(Chart {
        title: format!("certificates of {} a second", issuing.algorithm),
        bars,
    })
}

/// By CPU time, where that is known.
fn of_documents(findings: &Findings) -> Vec<Chart> {
    let documents = findings.documents.iter();
    let operations = documents.flat_map(|documents| &documents.operations);
    let bar = |name: String, rate: &Rate| {
        let figure = rate.per_second_of_cpu.unwrap_or(rate.per_second);
        Bar {
            name,
            figure,
            text: count(figure),
        }
    };
    let chart = |one: &Operation| {
        let theirs = one.openssl.as_ref().zip(findings.openssl.as_ref());
        let theirs =
            theirs.map(|(rate, openssl)| bar(format!("OpenSSL {}", openssl.version), rate));
        Chart {
            title: format!("{} documents, MB/s of CPU time", one.name),
            bars: [bar("pqtls".into(), &one.pqtls)]
                .into_iter()
                .chain(theirs)
                .collect(),
        }
    };
    operations.map(chart).collect()
}

impl Chart {
    fn write(&self, to: &mut impl Write, width: usize) -> fmt::Result {
        writeln!(to, "{}", self.title)?;
        let greatest = self.bars.iter().map(|bar| bar.figure).fold(0.0, f64::max);
        for Bar { name, figure, text } in &self.bars {
            let blocks = blocks(figure / greatest);
            writeln!(to, "  {name:width$} {blocks} {text}")?;
        }
        Ok(())
    }
}

/// A bar for a figure between 0 and 1, to an eighth of a block.
fn blocks(figure: f64) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (figure * WIDTH * 8.0).round().max(1.0) as usize;
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_long_as_their_figures() {
        assert_eq!(blocks(1.0), "█".repeat(40));
        assert_eq!(blocks(0.5), "█".repeat(20));
        assert_eq!(blocks(1.0 / 320.0), "▏");
        assert_eq!(blocks(0.0), "▏");
        assert_eq!(blocks(11.0 / 320.0), "█▍");
    }
}
