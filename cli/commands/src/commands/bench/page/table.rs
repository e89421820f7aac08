//! Tables in Markdown whose columns are aligned, so that their source can be read as it is.

use core::fmt;

/// A table in Markdown, whose columns stand below each other.
pub(super) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// With these words above the columns.
    pub(super) fn new<S: Into<String>>(head: impl IntoIterator<Item = S>) -> Self {
        let mut table = Self { rows: Vec::new() };
        table.row(head);
        table
    }

    /// Adds a row, of as many columns.
    pub(super) fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    fn width(&self, column: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, row) in self.rows.iter().enumerate() {
            for (column, cell) in row.iter().enumerate() {
                let width = self.width(column);
                match column {
                    0 => write!(f, "| {cell:width$} ")?,
                    _ => write!(f, "| {cell:>width$} ")?,
                }
            }
            f.write_str("|\n")?;
            if number == 0 {
                for column in 0..row.len() {
                    let line = "-".repeat(self.width(column));
                    match column {
                        0 => write!(f, "|-{line}-")?,
                        _ => write!(f, "|-{line}:")?,
                    }
                }
                f.write_str("|\n")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_below_each_other() {
        let mut table = Table::new(["what", "µs"]);
        table.row(["signing", "1234"]);
        let expected = "\
| what    |   µs |
|---------|-----:|
| signing | 1234 |
";
        assert_eq!(table.to_string(), expected);
    }
}
