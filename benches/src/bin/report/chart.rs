//! Horizontal bars as SVG.

use core::error::Error;
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
    pub(crate) sections: Vec<Section>,
}

/// Bars that share a scale, under a heading.
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
    /// Pixels for one unit, so that the longest bar just fits.
    fn scale(&self) -> f64 {
        let longest = self
            .bars
            .iter()
            .map(Bar::length)
            .fold(f64::MIN_POSITIVE, f64::max);
        f64::from(WIDTH - AXIS - FIGURE - MARGIN) / longest
    }
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

/// The colours of the parts of a bar, in turn.
const OURS: [RGBColor; 2] = [RGBColor(0x1f, 0x6f, 0xb4), RGBColor(0x74, 0xb0, 0xe0)];
const OTHERS: [RGBColor; 2] = [RGBColor(0x8c, 0x8c, 0x8c), RGBColor(0xc4, 0xc4, 0xc4)];
const INK: RGBColor = RGBColor(0x22, 0x22, 0x22);

impl Chart {
    /// Draws the chart into a file.
    pub(crate) fn write(&self, path: &Path) -> Result<(), Box<dyn Error>> {
        let (width, height) = (u32::try_from(WIDTH)?, u32::try_from(self.height())?);
        let area = SVGBackend::new(path, (width, height)).into_drawing_area();
        area.fill(&WHITE)?;
        let write = |text: &str, x, y, size: i32, from| {
            let style = ("sans-serif", size)
                .into_text_style(&area)
                .color(&INK)
                .pos(Pos::new(from, VPos::Center));
            area.draw(&Text::new(text.to_owned(), (x, y), style))
        };

        let mut y = TITLE_HEIGHT;
        write(&self.title, MARGIN, y / 2 + 4, 22, HPos::Left)?;
        for section in &self.sections {
            let scale = section.scale();
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
            sections: vec![Section {
                heading: "Section".into(),
                bars: vec![bar("one", true), bar("another", false)],
            }],
        };
        let path = std::env::temp_dir().join(format!("chart-{}.svg", std::process::id()));
        chart.write(&path).unwrap();
        let svg = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        for text in ["Title", "Section", "one", "another", "4.00 µs"] {
            assert!(svg.contains(text), "{text}");
        }
        // the ground and four parts
        assert_eq!(svg.matches("<rect").count(), 5);
    }
}
