//! Horizontal bars as SVG.

use core::error::Error;
use std::fs;
use std::path::Path;

use benches::timing::results::Timing;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::figures::operations::is_ours;

/// Bars in sections.
pub(crate) struct Chart {
    pub(crate) title: String,
    /// Writes the length of a bar.
    pub(crate) unit: fn(f64) -> String,
    pub(crate) scale: Scale,
    /// What the parts of bars are, in their order; empty if bars have one.
    pub(crate) parts: &'static [&'static str],
    pub(crate) sections: Vec<Section>,
}

/// Which bars can be compared by their lengths.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Scale {
    /// Those of a section: sections may differ by orders of magnitude.
    OfSection,
    /// All of the chart.
    OfChart,
}

/// The parts of bars of handshakes.
pub(crate) const SIDES: &[&str] = &["client", "server"];

/// Bars under a heading.
pub(crate) struct Section {
    pub(crate) heading: String,
    pub(crate) bars: Vec<Bar>,
}

/// A bar of one or several parts.
pub(crate) struct Bar {
    pub(crate) label: String,
    /// In the unit that the chart's `unit` takes.
    pub(crate) parts: Vec<f64>,
    /// Whether it belongs to this project, which gets the strong colours.
    pub(crate) ours: bool,
}

impl Section {
    fn longest(&self) -> f64 {
        self.bars.iter().map(Bar::length).fold(0.0, f64::max)
    }
}

/// Pixels for one unit, so that a bar of this length just fits.
fn scale(longest: f64) -> f64 {
    f64::from(WIDTH - AXIS - FIGURE - MARGIN) / longest.max(f64::MIN_POSITIVE)
}

impl Bar {
    /// The bar of a row of a table, in microseconds, in two parts if the row has two sides.
    pub(crate) fn of(row: &Timing) -> Self {
        let parts = match &row.sides {
            Some(sides) => vec![sides.client.median, sides.server.median],
            None => vec![row.time.median],
        };
        Self {
            label: row.name.clone(),
            parts: parts
                .into_iter()
                .map(|nanoseconds| nanoseconds / 1e3)
                .collect(),
            ours: is_ours(&row.name),
        }
    }

    fn length(&self) -> f64 {
        self.parts.iter().sum()
    }
}

const WIDTH: i32 = 860;
const MARGIN: i32 = 16;
/// Where bars begin; the labels are to the left.
const AXIS: i32 = 220;
/// The space that the longest bar leaves for its figure.
const FIGURE: i32 = 110;
const TITLE_HEIGHT: i32 = 40;
const HEADING_HEIGHT: i32 = 26;
const BAR_HEIGHT: i32 = 19;
const GAP: i32 = 4;
/// The width of a part's squares and name.
const LEGEND: i32 = 100;

/// The colours of the parts of a bar, in turn.
const OURS: [RGBColor; 2] = [RGBColor(0x1f, 0x6f, 0xb4), RGBColor(0x74, 0xb0, 0xe0)];
const OTHERS: [RGBColor; 2] = [RGBColor(0x8c, 0x8c, 0x8c), RGBColor(0xc4, 0xc4, 0xc4)];
const INK: RGBColor = RGBColor(0x22, 0x22, 0x22);

impl Chart {
    /// Draws the chart into a file.
    pub(crate) fn write(&self, path: &Path) -> Result<(), Box<dyn Error>> {
        Ok(fs::write(path, self.svg()?)?)
    }

    /// Draws the chart.
    pub(crate) fn svg(&self) -> Result<String, Box<dyn Error>> {
        let mut svg = String::new();
        self.draw(&mut svg)?;
        Ok(svg)
    }

    fn draw(&self, svg: &mut String) -> Result<(), Box<dyn Error>> {
        let size = (u32::try_from(WIDTH)?, u32::try_from(self.height())?);
        let area = SVGBackend::with_string(svg, size).into_drawing_area();
        area.fill(&WHITE)?;
        let write = |text: &str, x, y, size: i32, from| {
            let style = ("sans-serif", size)
                .into_text_style(&area)
                .color(&INK)
                .pos(Pos::new(from, VPos::Center));
            area.draw(&Text::new(text.to_owned(), (x, y), style))
        };

        let square = |x, y, colour: RGBColor| {
            let corners = [(x, y), (x + BAR_HEIGHT - GAP, y + BAR_HEIGHT - GAP)];
            area.draw(&Rectangle::new(corners, colour.filled()))
        };

        let mut y = TITLE_HEIGHT;
        write(&self.title, MARGIN, y / 2 + 4, 22, HPos::Left)?;
        for (part, name) in self.parts.iter().enumerate() {
            let x = WIDTH - MARGIN - LEGEND * (self.parts.len() - part) as i32;
            let top = y / 2 + 4 - (BAR_HEIGHT - GAP) / 2;
            square(x, top, OURS[part % OURS.len()])?;
            square(x + BAR_HEIGHT, top, OTHERS[part % OTHERS.len()])?;
            write(name, x + 2 * BAR_HEIGHT + GAP, y / 2 + 4, 16, HPos::Left)?;
        }
        let longest = self
            .sections
            .iter()
            .map(Section::longest)
            .fold(0.0, f64::max);
        for section in &self.sections {
            let scale = match self.scale {
                Scale::OfSection => scale(section.longest()),
                Scale::OfChart => scale(longest),
            };
            write(
                &section.heading,
                MARGIN,
                y + HEADING_HEIGHT / 2,
                18,
                HPos::Left,
            )?;
            y += HEADING_HEIGHT;
            for bar in &section.bars {
                let middle = y + (BAR_HEIGHT - GAP) / 2;
                write(&bar.label, AXIS - 8, middle, 16, HPos::Right)?;
                let colours = if bar.ours { OURS } else { OTHERS };
                let mut length = 0.0;
                for (part, colour) in bar.parts.iter().zip(colours.iter().cycle()) {
                    let from = AXIS + (length * scale).round() as i32;
                    length += part;
                    let to = AXIS + (length * scale).round() as i32;
                    let corners = [(from, y), (to, y + BAR_HEIGHT - GAP)];
                    area.draw(&Rectangle::new(corners, colour.filled()))?;
                }
                let end = AXIS + (length * scale).round() as i32;
                write(&(self.unit)(length), end + 6, middle, 16, HPos::Left)?;
                y += BAR_HEIGHT;
            }
        }
        area.present()?;
        Ok(())
    }

    fn height(&self) -> i32 {
        let bars: usize = self.sections.iter().map(|section| section.bars.len()).sum();
        TITLE_HEIGHT
            + HEADING_HEIGHT * self.sections.len() as i32
            + BAR_HEIGHT * bars as i32
            + MARGIN
    }
}

/// A time in microseconds, written in the unit that fits.
pub(crate) fn time(microseconds: f64) -> String {
    if microseconds < 1e3 {
        format!("{} µs", figure(microseconds))
    } else {
        format!("{} ms", figure(microseconds / 1e3))
    }
}

/// Three significant digits, or all before the point.
pub(crate) fn figure(value: f64) -> String {
    let decimals = match value {
        ..9.995 => 2,
        ..99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_digits() {
        for (value, expected) in [
            (0.5, "0.50"),
            (9.994, "9.99"),
            (9.995, "10.0"),
            (99.96, "100"),
            (12345.6, "12346"),
        ] {
            assert_eq!(figure(value), expected);
        }
    }

    #[test]
    fn units_suit() {
        assert_eq!(time(4.567), "4.57 µs");
        assert_eq!(time(12_345.0), "12.3 ms");
    }

    #[test]
    fn every_bar_is_drawn() {
        let bar = |label: &str, ours| Bar {
            label: label.into(),
            parts: vec![1.5, 2.5],
            ours,
        };
        let chart = Chart {
            title: "Title".into(),
            unit: time,
            scale: Scale::OfSection,
            parts: SIDES,
            sections: vec![Section {
                heading: "Section".into(),
                bars: vec![bar("one", true), bar("another", false)],
            }],
        };
        let path = std::env::temp_dir().join(format!("chart-{}.svg", std::process::id()));
        chart.write(&path).unwrap();
        let svg = fs::read_to_string(&path).unwrap();
        fs::remove_file(&path).unwrap();
        for text in [
            "Title", "Section", "one", "another", "4.00 µs", "client", "server",
        ] {
            assert!(svg.contains(text), "{text}");
        }
        // the ground, two squares for each side, and four parts
        assert_eq!(svg.matches("<rect").count(), 9);
    }

    /// 211 µs once looked as long as 376.
    #[test]
    fn bars_of_one_scale_are_as_long_as_their_figures() {
        let section = |length| Section {
            heading: "Section".into(),
            bars: vec![Bar {
                label: "bar".into(),
                parts: vec![length],
                ours: true,
            }],
        };
        let widths = |scale| {
            let chart = Chart {
                title: "Title".into(),
                unit: time,
                scale,
                parts: &[],
                sections: vec![section(188.0), section(376.0)],
            };
            let svg = chart.svg().unwrap();
            let bars = svg.lines().filter(|line| line.contains("#1F6FB4"));
            let width = |line: &str| -> Option<f64> {
                let (_, rest) = line.split_once("width=\"")?;
                rest.split_once('"')?.0.parse().ok()
            };
            bars.filter_map(width).collect::<Vec<_>>()
        };
        let [short, long] = widths(Scale::OfChart)[..] else {
            panic!("not two bars");
        };
        assert!((long / short - 2.0).abs() < 0.01, "{short} {long}");
        assert_eq!(widths(Scale::OfSection), [long, long]);
    }
}
