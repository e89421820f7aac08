//! README's figures of handshakes, and their chart, from the machine that was measured last.

use core::error::Error;

use benches::tls::handshake::Authentication;
use rustls_pq::Group as KeyExchange;

use super::pages::Page;
use crate::chart::{Bar, Chart, SIDES, Scale, Section, time};
use crate::figures::operations::is_ours;
use crate::goals::handshakes::ASKED;
use crate::page::goals::read_handshake;
use crate::page::handshakes::{Row, read};
use crate::place::{HANDSHAKES, OVERVIEW};

/// The lines before and after the figures.
const BEGIN: &str = "<!-- These figures are written by `report` of benches. -->\n";
const END: &str = "<!-- Here they end. -->\n";

/// README with the figures of this page in place of its own.
///
/// # Errors
///
/// If README has no place for them, or the page none of them.
pub(crate) fn with_figures(
    readme: &str,
    page: &Page,
    sources: &str,
) -> Result<String, Box<dyn Error>> {
    let (head, rest) = readme
        .split_once(BEGIN)
        .ok_or("README has no place for figures")?;
    let (_, tail) = rest.split_once(END).ok_or("README's figures don't end")?;
    Ok(format!(
        "{head}{BEGIN}{}{END}{tail}",
        section(page, sources)?
    ))
}

/// Handshakes that are all post-quantum, hybrid, and classical.
const KINDS: [(&str, KeyExchange, Authentication); 3] = [
    (
        "Post-quantum: X25519MLKEM768, ML-DSA-65 certificates",
        KeyExchange::X25519MLKEM768,
        Authentication::MlDsa65,
    ),
    (
        "Key exchange only: X25519MLKEM768, P-256 certificates",
        KeyExchange::X25519MLKEM768,
        Authentication::EcdsaP256,
    ),
    (
        "Classical: X25519, P-256 certificates",
        KeyExchange::X25519,
        Authentication::EcdsaP256,
    ),
];

/// The rows of a page for each of [`KINDS`].
fn rows(page: &Page) -> [Vec<Row>; 3] {
    KINDS.map(|(_, group, authentication)| read(&page.text, group, authentication))
}

/// Whether a page has all of README's figures.
pub(super) fn is_complete(page: &Page) -> bool {
    figures(page).is_some() && headline(page).is_some()
}

/// The chart: all kinds on one scale, since they are to be compared.
pub(super) fn chart(page: &Page) -> Chart {
    let sections = KINDS
        .iter()
        .zip(rows(page))
        .map(|((heading, ..), rows)| Section {
            heading: (*heading).to_owned(),
            bars: rows.iter().map(bar).collect(),
        });
    Chart {
        title: format!("CPU time of a TLS 1.3 handshake, on {}", page.name),
        unit: time,
        scale: Scale::OfChart,
        parts: SIDES,
        sections: sections.collect(),
    }
}

fn bar(row: &Row) -> Bar {
    Bar {
        label: row.provider.clone(),
        parts: vec![row.client, row.server],
        ours: is_ours(&row.provider),
    }
}

/// Our fastest post-quantum handshake beside the fastest classical one of any provider.
fn headline(page: &Page) -> Option<String> {
    let [post_quantum, _, classical] = rows(page);
    let ours = post_quantum.iter().find(|row| is_ours(&row.provider))?;
    let classical = classical.first()?;
    let claim = match ours.both() < classical.both() {
        true => "A post-quantum handshake here costs less than anybody's classical one",
        false => "A post-quantum handshake here beside the fastest classical one",
    };
    Some(format!(
        "**{claim}**: {} of CPU time, client and server
together, with X25519MLKEM768 and ML-DSA-65 certificates (`{}`), against {} with X25519 and
P-256 certificates (`{}`).",
        time(ours.both()),
        ours.provider,
        time(classical.both()),
        classical.provider,
    ))
}

/// The three ratios, if a page has them all.
fn figures(page: &Page) -> Option<[f64; 3]> {
    let [same, classical, hybrid] = ASKED
        .each_ref()
        .map(|asked| read_handshake(&page.text, &asked.ours(), &asked.other()));
    Some([same?, classical?, hybrid?])
}

fn section(page: &Page, sources: &str) -> Result<String, Box<dyn Error>> {
    let [same, classical, hybrid] =
        figures(page).ok_or_else(|| format!("{}: it lacks figures of handshakes", page.path()))?;
    let headline =
        headline(page).ok_or_else(|| format!("{}: it lacks rows of handshakes", page.path()))?;
    let age = match page.is_older(sources) {
        true => "; the code has changed since",
        false => "",
    };
    Ok(format!(
        "\
{headline}

![CPU time of a TLS 1.3 handshake: post-quantum, hybrid and classical, by provider]({HANDSHAKES})

All bars have one scale: the dark part is the client's, the light part the server's. Measured in one run, over graviola:

* all post-quantum, with X25519MLKEM768 and ML-DSA-65: **{:.2}** of what rustls with AWS-LC takes for the
  same, and **{:.2}** of what it takes for the classical one with X25519 and P-256;
* hybrid, with X25519MLKEM768 and P-256: **{:.2}** of what rustls with graviola alone takes.

Measured on [{}]({}) ({}), on {}{age}.
[{OVERVIEW}]({OVERVIEW}) has other operations and machines, and the goals.
",
        same,
        classical,
        hybrid,
        page.name,
        page.path(),
        page.class,
        page.date,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::goals::class::Class;

    fn page() -> Page {
        let text = ASKED.iter().zip([0.42, 0.78, 0.88]).map(|(asked, figure)| {
            format!(
                "| {} | {} | ≤ 0.50 | {figure:.2} (missed) |\n",
                asked.ours(),
                asked.other()
            )
        });
        let rows = "\
| x25519 | ECDSA-P-256 | rustls/graviola | 161 | 64.1 | 225 | 6211 | 15600 |
|  |  | rustls/aws-lc-rs | 190 | 83.2 | 273 | 5263 | 12019 |
| X25519MLKEM768 | ECDSA-P-256 | rustls-pq/graviola | 166 | 70.7 | 236 | 6030 | 14144 |
| X25519MLKEM768 | ML-DSA-65 | rustls-pq/graviola | 80.0 | 91.2 | 171 | 12500 | 10964 |
|  |  | rustls/aws-lc-rs | 176 | 211 | 386 | 5681 | 4739 |

| x25519 | another table |
";
        Page {
            name: "zen4".into(),
            class: Class::HalvedAvx512,
            cpu: "a CPU".into(),
            date: "2026-11-23".into(),
            sources: "0123".into(),
            text: text.chain([rows.to_owned()]).collect(),
        }
    }

    #[test]
    fn the_headline_is_the_measurement() {
        let written = headline(&page()).unwrap();
        for text in [
            "costs less than anybody's classical one**: 171 µs",
            "against 225 µs",
            "`rustls/graviola`",
        ] {
            assert!(written.contains(text), "{text}: {written}");
        }
        let mut slower = page();
        slower.text = slower.text.replace("| 161 | 64.1 |", "| 100 | 64.1 |");
        let written = headline(&slower).unwrap();
        assert!(!written.contains("less"), "{written}");
        slower.text = slower.text.replace("| x25519 |", "| another |");
        assert!(!is_complete(&slower));
    }

    #[test]
    fn the_chart_has_every_provider_and_one_scale() {
        let chart = chart(&page());
        assert_eq!(chart.scale, Scale::OfChart);
        let bars = chart.sections.iter().map(|section| section.bars.len());
        assert_eq!(bars.collect::<Vec<_>>(), [2, 1, 2]);
        let svg = chart.svg().unwrap();
        for text in [
            "client",
            "server",
            "Classical",
            "171 µs",
            "225 µs",
            "387 µs",
        ] {
            assert!(svg.contains(text), "{text}");
        }
    }

    #[test]
    fn figures_take_the_place_of_those_before() {
        let readme = format!("# Head\n\n{BEGIN}old\n{END}\nTail\n");
        let written = with_figures(&readme, &page(), "0123").unwrap();
        for text in [
            "# Head\n",
            "\nTail\n",
            "**0.42**",
            "**0.78**",
            "**0.88**",
            "on 2026-11-23.\n",
        ] {
            assert!(written.contains(text), "{text}: {written}");
        }
        assert!(!written.contains("old"));
        assert_eq!(with_figures(&written, &page(), "0123").unwrap(), written);
        let later = with_figures(&written, &page(), "4567").unwrap();
        assert!(
            later.contains("on 2026-11-23; the code has changed since."),
            "{later}"
        );
    }

    #[test]
    fn what_is_missing_is_an_error() {
        with_figures("# Head\n", &page(), "0123").unwrap_err();
        with_figures(&format!("# Head\n{BEGIN}"), &page(), "0123").unwrap_err();
        let empty = Page {
            text: String::new(),
            ..page()
        };
        with_figures(&format!("{BEGIN}{END}"), &empty, "0123").unwrap_err();
    }
}
