//! README's figures: three of handshakes, from the machine that was measured last.

use core::error::Error;

use super::pages::Page;
use crate::goals::handshakes::ASKED;
use crate::page::goals::read_handshake;
use crate::place::{OVERVIEW, chart_of};

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

/// The three figures, if a page has them all.
pub(super) fn figures(page: &Page) -> Option<[f64; 3]> {
    let [same, classical, hybrid] = ASKED
        .each_ref()
        .map(|asked| read_handshake(&page.text, &asked.ours(), &asked.other()));
    Some([same?, classical?, hybrid?])
}

fn section(page: &Page, sources: &str) -> Result<String, Box<dyn Error>> {
    let [same, classical, hybrid] =
        figures(page).ok_or_else(|| format!("{}: it lacks figures of handshakes", page.path()))?;
    let age = match page.is_older(sources) {
        true => "; the code has changed since",
        false => "",
    };
    Ok(format!(
        "\
The CPU time of a TLS 1.3 handshake, client and server together:

* all post-quantum, with X25519MLKEM768 and ML-DSA-65: **{:.2}** of what rustls with AWS-LC takes for the
  same, and **{:.2}** of what it takes for the classical one with X25519 and P-256;
* hybrid, with X25519MLKEM768 and P-256: **{:.2}** of what rustls with graviola alone takes.

![Handshakes with X25519MLKEM768, by certificate]({})

Measured on [{}]({}) ({}), on {}{age}.
[{OVERVIEW}]({OVERVIEW}) has other operations and machines, and the goals.
",
        same,
        classical,
        hybrid,
        chart_of(&page.name, "handshakes-by-certificate.svg"),
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
        Page {
            name: "zen4".into(),
            class: Class::HalvedAvx512,
            cpu: "a CPU".into(),
            date: "2026-11-23".into(),
            sources: "0123".into(),
            text: text.collect(),
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
