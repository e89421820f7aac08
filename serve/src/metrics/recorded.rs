//! What libraries count by the facade `metrics`, such as the operations of a key store: a recorder for the process.

use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use ::metrics::{
    Counter, CounterFn, Gauge, GaugeFn, Histogram, HistogramFn, Key, KeyName, Metadata, Recorder,
    SharedString, Unit,
};

/// The recorder of the process, if it has one.
static RECORDED: OnceLock<Arc<Recorded>> = OnceLock::new();

/// Has the facade `metrics` count for each [`Metrics`](super::Metrics) of this process: what libraries count and time is part
/// of `/metrics` from then on. A histogram has the buckets that are given with its name, in ascending order, or none but the
/// count and the sum.
///
/// # Errors
///
/// [`RecorderInUse`] if the process has a recorder already.
pub fn record_facade(buckets: &[(&'static str, &'static [f64])]) -> Result<(), RecorderInUse> {
    let recorded = Arc::new(Recorded {
        buckets: buckets.to_vec(),
        ..Recorded::default()
    });
    ::metrics::set_global_recorder(Installed(recorded.clone())).map_err(|_| RecorderInUse)?;
    RECORDED.set(recorded).map_err(|_| RecorderInUse)
}

/// The process has a recorder for the facade `metrics` already.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("this process has a recorder of metrics already")]
pub struct RecorderInUse;

/// Adds what was recorded to a text in the format of Prometheus.
pub(super) fn append(text: &mut String) -> fmt::Result {
    match RECORDED.get() {
        Some(recorded) => recorded.write(text),
        None => Ok(()),
    }
}

/// A name, and the labels as they are written: `{a="b"}`, or nothing.
type Series = (String, String);

#[derive(Default)]
struct Recorded {
    buckets: Vec<(&'static str, &'static [f64])>,
    counters: Mutex<BTreeMap<Series, Arc<Count>>>,
    gauges: Mutex<BTreeMap<Series, Arc<Level>>>,
    histograms: Mutex<BTreeMap<Series, Arc<Times>>>,
    descriptions: Mutex<BTreeMap<String, String>>,
}

#[derive(Default)]
struct Count(AtomicU64);

impl CounterFn for Count {
    fn increment(&self, value: u64) {
        self.0.fetch_add(value, Ordering::Relaxed);
    }

    fn absolute(&self, value: u64) {
        self.0.fetch_max(value, Ordering::Relaxed);
    }
}

/// What a gauge shows, as the bits of a number.
#[derive(Default)]
struct Level(AtomicU64);

impl Level {
    fn change(&self, change: impl Fn(f64) -> f64) {
        let change = |bits| Some(change(f64::from_bits(bits)).to_bits());
        // It never fails, since there is always a change.
        let _ = self
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, change);
    }
}

impl GaugeFn for Level {
    fn increment(&self, value: f64) {
        self.change(|before| before + value);
    }

    fn decrement(&self, value: f64) {
        self.change(|before| before - value);
    }

    fn set(&self, value: f64) {
        self.0.store(value.to_bits(), Ordering::Relaxed);
    }
}

/// What a histogram has counted.
struct Times {
    bounds: &'static [f64],
    counted: Mutex<Counted>,
}

#[derive(Clone)]
struct Counted {
    /// For each bound, how many values are not above it, but above the one before.
    buckets: Vec<u64>,
    count: u64,
    sum: f64,
}

impl HistogramFn for Times {
    fn record(&self, value: f64) {
        let at = self.bounds.iter().position(|bound| value <= *bound);
        let mut counted = lock(&self.counted);
        counted.count += 1;
        counted.sum += value;
        if let Some(bucket) = at.and_then(|at| counted.buckets.get_mut(at)) {
            *bucket += 1;
        }
    }
}

impl Recorded {
    fn counter(&self, key: &Key) -> Arc<Count> {
        lock(&self.counters).entry(series(key)).or_default().clone()
    }

    fn gauge(&self, key: &Key) -> Arc<Level> {
        lock(&self.gauges).entry(series(key)).or_default().clone()
    }

    fn histogram(&self, key: &Key) -> Arc<Times> {
        let mut histograms = lock(&self.histograms);
        let new = || {
            let own = self.buckets.iter().find(|(name, _)| *name == key.name());
            let bounds: &[f64] = own.map_or(&[], |(_, bounds)| bounds);
            Arc::new(Times {
                bounds,
                counted: Mutex::new(Counted {
                    buckets: vec![0; bounds.len()],
                    count: 0,
                    sum: 0.0,
                }),
            })
        };
        histograms.entry(series(key)).or_insert_with(new).clone()
    }

    fn write(&self, text: &mut String) -> fmt::Result {
        let mut last = String::new();
        for ((name, labels), count) in &*lock(&self.counters) {
            self.head(text, &mut last, name, "counter")?;
            writeln!(text, "{name}{labels} {}", count.0.load(Ordering::Relaxed))?;
        }
        for ((name, labels), level) in &*lock(&self.gauges) {
            self.head(text, &mut last, name, "gauge")?;
            let level = f64::from_bits(level.0.load(Ordering::Relaxed));
            writeln!(text, "{name}{labels} {level}")?;
        }
        for ((name, labels), times) in &*lock(&self.histograms) {
            self.head(text, &mut last, name, "histogram")?;
            let counted = lock(&times.counted).clone();
            let mut total = 0;
            for (bound, count) in times.bounds.iter().zip(&counted.buckets) {
                total += count;
                let labels = with_bound(labels, &bound.to_string());
                writeln!(text, "{name}_bucket{labels} {total}")?;
            }
            let all = with_bound(labels, "+Inf");
            writeln!(text, "{name}_bucket{all} {}", counted.count)?;
            writeln!(text, "{name}_sum{labels} {}", counted.sum)?;
            writeln!(text, "{name}_count{labels} {}", counted.count)?;
        }
        Ok(())
    }

    /// What stands before the first series of a name.
    fn head(&self, text: &mut String, last: &mut String, name: &str, kind: &str) -> fmt::Result {
        if last == name {
            return Ok(());
        }
        name.clone_into(last);
        if let Some(help) = lock(&self.descriptions).get(name) {
            writeln!(text, "# HELP {name} {}", help.replace(['\\', '\n'], " "))?;
        }
        writeln!(text, "# TYPE {name} {kind}")
    }

    fn describe(&self, name: &KeyName, description: &SharedString) {
        let (name, description) = (name.as_str().into(), description.to_string());
        lock(&self.descriptions).insert(name, description);
    }
}

/// The series of a key; names have no other characters than Prometheus's names have.
fn series(key: &Key) -> Series {
    let is_plain = |one: char| one.is_ascii_alphanumeric() || one == '_' || one == ':';
    let plain = |name: &str| name.replace(|one| !is_plain(one), "_");
    let label = |label: &::metrics::Label| {
        let value = label.value().replace('\\', r"\\").replace('"', r#"\""#);
        format!("{}=\"{}\"", plain(label.key()), value.replace('\n', r"\n"))
    };
    let labels: Vec<_> = key.labels().map(label).collect();
    let labels = match labels.is_empty() {
        true => String::new(),
        false => format!("{{{}}}", labels.join(",")),
    };
    (plain(key.name()), labels)
}

fn with_bound(labels: &str, bound: &str) -> String {
    match labels.strip_suffix('}') {
        Some(labels) => format!("{labels},le=\"{bound}\"}}"),
        None => format!("{{le=\"{bound}\"}}"),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The recorder that the facade has.
struct Installed(Arc<Recorded>);

impl Recorder for Installed {
    fn describe_counter(&self, name: KeyName, _: Option<Unit>, description: SharedString) {
        self.0.describe(&name, &description);
    }

    fn describe_gauge(&self, name: KeyName, _: Option<Unit>, description: SharedString) {
        self.0.describe(&name, &description);
    }

    fn describe_histogram(&self, name: KeyName, _: Option<Unit>, description: SharedString) {
        self.0.describe(&name, &description);
    }

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        Counter::from_arc(self.0.counter(key))
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::from_arc(self.0.gauge(key))
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::from_arc(self.0.histogram(key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_counted_is_written_as_prometheus_reads_it() {
        const BUCKETS: &[f64] = &[0.001, 0.5];
        let recorded = Arc::new(Recorded {
            buckets: vec![("times", BUCKETS)],
            ..Recorded::default()
        });
        ::metrics::with_local_recorder(&Installed(recorded.clone()), || {
            ::metrics::describe_counter!("uses", "Uses of\nkeys");
            for outcome in ["done", "a \"b\""] {
                ::metrics::counter!("uses", "outcome" => outcome).increment(2);
                ::metrics::counter!("uses", "outcome" => outcome).increment(1);
            }
            ::metrics::gauge!("end").set(1_800_000_000.0);
            ::metrics::gauge!("level", "of" => "a").increment(2.5);
            ::metrics::gauge!("level", "of" => "a").decrement(1.0);
            for value in [0.0005, 0.25, 0.25, 7.0] {
                ::metrics::histogram!("times", "of" => "sign").record(value);
            }
            ::metrics::histogram!("others").record(1.5);
        });
        let mut text = String::new();
        recorded.write(&mut text).unwrap();
        let expected = "\
# HELP uses Uses of keys
# TYPE uses counter
uses{outcome=\"a \\\"b\\\"\"} 3
uses{outcome=\"done\"} 3
# TYPE end gauge
end 1800000000
# TYPE level gauge
level{of=\"a\"} 1.5
# TYPE others histogram
others_bucket{le=\"+Inf\"} 1
others_sum 1.5
others_count 1
# TYPE times histogram
times_bucket{of=\"sign\",le=\"0.001\"} 1
times_bucket{of=\"sign\",le=\"0.5\"} 3
times_bucket{of=\"sign\",le=\"+Inf\"} 4
times_sum{of=\"sign\"} 7.5005
times_count{of=\"sign\"} 4
";
        assert_eq!(text, expected);
    }
}
