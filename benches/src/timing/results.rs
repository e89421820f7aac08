//! The results of measurements, and the folder that keeps them for the report.

use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{env, fs, io};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// A table of implementations of one operation, measured together.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Group {
    /// Such as `ML-KEM-768/encapsulation`.
    pub name: String,
    /// When the measurement ended.
    pub measured: SystemTime,
    /// In the order in which they were measured.
    pub rows: Vec<Timing>,
}

impl Group {
    /// The row of this name.
    pub fn row(&self, name: &str) -> Option<&Timing> {
        self.rows.iter().find(|row| row.name == name)
    }
}

/// The time of an implementation.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Timing {
    /// The implementation's name.
    pub name: String,
    /// How many samples were taken.
    pub samples: u32,
    /// The time of one operation.
    pub time: Quartiles,
    /// The times of both sides, if the operation has a client and a server.
    pub sides: Option<Sides>,
}

impl Timing {
    /// A figure that the implementation itself reported, in nanoseconds.
    pub(crate) fn reported(name: &str, nanoseconds: f64) -> Self {
        Self::of(name, vec![nanoseconds])
    }

    /// Some figures in nanoseconds that were found otherwise than by repeating one operation.
    pub(crate) fn of(name: &str, samples: Vec<f64>) -> Self {
        Self {
            name: name.into(),
            samples: samples.len().try_into().expect("they are few"),
            time: Quartiles::of(samples),
            sides: None,
        }
    }
}

/// The times of a client and a server for one operation.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Sides {
    /// The client.
    pub client: Quartiles,
    /// The server.
    pub server: Quartiles,
}

/// The spread of some samples, in nanoseconds.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct Quartiles {
    /// A quarter of the samples is at most this.
    pub lower: f64,
    /// Half of them.
    pub median: f64,
    /// Three quarters of them.
    pub upper: f64,
}

impl Quartiles {
    /// # Panics
    ///
    /// If there are no samples.
    pub(crate) fn of(mut samples: Vec<f64>) -> Self {
        samples.sort_by(f64::total_cmp);
        let last = samples.len() - 1;
        let quantile = |quarters: usize| {
            let (index, rest) = (last * quarters / 4, last * quarters % 4);
            let (below, above) = (samples[index], samples[(index + 1).min(last)]);
            below + (above - below) * rest as f64 / 4.0
        };
        Self {
            lower: quantile(1),
            median: quantile(2),
            upper: quantile(3),
        }
    }
}

/// A table with the hash of the measured sources.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Measured<T> {
    /// The [hash](crate::sources::hash) of the sources.
    pub sources: String,
    /// The table.
    pub table: T,
}

/// Writes a table to the folder, in place of its earlier measurement.
///
/// # Errors
///
/// If the file can't be written.
pub fn save(folder: &Path, name: &str, table: &Measured<impl Serialize>) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let file = format!("{}.json", name.replace('/', " "));
    let json = serde_json::to_vec_pretty(table)?;
    fs::write(folder.join(file), json)
}

/// All tables of the folder.
///
/// # Errors
///
/// If the folder or a file can't be read, if [`save`] didn't write a file, or if it has another kind of
/// table.
pub fn load<T: DeserializeOwned>(folder: &Path) -> io::Result<Vec<Measured<T>>> {
    fs::read_dir(folder)?
        .map(|entry| {
            let file = entry?.path();
            serde_json::from_slice(&fs::read(&file)?).map_err(|error| {
                let file = file.display();
                io::Error::other(format!(
                    "{error}, in {file}; measure it again, or remove it"
                ))
            })
        })
        .collect()
}

/// Files that cargo writes into a target folder: the first only if cargo made the folder.
const MARKS: [&str; 2] = ["CACHEDIR.TAG", ".rustc_info.json"];

/// The folder `measured` in this program's target folder.
///
/// # Errors
///
/// If this program is not in a target folder.
pub fn folder() -> io::Result<PathBuf> {
    let program = env::current_exe()?;
    program
        .ancestors()
        .find(|folder| MARKS.iter().any(|mark| folder.join(mark).exists()))
        .map(|target| target.join("measured"))
        .ok_or_else(|| io::Error::other("this program is in no target folder of cargo's"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_interpolate() {
        for (samples, lower, median, upper) in [
            (vec![7.0], 7.0, 7.0, 7.0),
            (vec![3.0, 1.0], 1.5, 2.0, 2.5),
            (vec![4.0, 1.0, 0.0, 3.0, 2.0], 1.0, 2.0, 3.0),
        ] {
            let expected = Quartiles {
                lower,
                median,
                upper,
            };
            assert_eq!(Quartiles::of(samples), expected);
        }
    }

    #[test]
    fn what_is_saved_is_loaded() {
        let folder = env::temp_dir().join(format!("measured-{}", std::process::id()));
        let mut measured = Measured {
            sources: "0123".into(),
            table: Group {
                name: "group/operation".into(),
                measured: SystemTime::UNIX_EPOCH,
                rows: Vec::new(),
            },
        };
        save(&folder, "group/operation", &measured).unwrap();
        measured.table.rows.push(Timing {
            name: "row".into(),
            samples: 3,
            time: Quartiles::of(vec![1.5]),
            sides: None,
        });
        save(&folder, "group/operation", &measured).unwrap();

        let loaded: Vec<Measured<Group>> = load(&folder).unwrap();
        fs::remove_dir_all(&folder).unwrap();
        let [loaded] = &loaded[..] else {
            panic!("not one group");
        };
        assert_eq!(loaded.sources, measured.sources);
        assert_eq!(loaded.table.name, measured.table.name);
        let row = loaded.table.row("row");
        assert_eq!(row.map(|row| row.time.median), Some(1.5));
    }
}
