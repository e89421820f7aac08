//! Welch's t-test of times: of all times, and of choices without the slowest.

/// The least t, by magnitude, that counts as a difference. Without a difference, fewer than one in a million
/// measurements have a t so large.
pub const THRESHOLD: f64 = 5.0;

/// How many choices of times are compared, in addition to all times. Other work of the machine makes some times long,
/// which hides small differences between the others.
const CROPS: u32 = 20;

/// The result of comparing two classes of times.
#[derive(Clone, Copy, Debug)]
pub struct Finding {
    /// The number of times in both classes together.
    pub samples: usize,
    /// Welch's t for the choice of times where its magnitude is largest; positive if the second class
    /// takes longer.
    pub t: f64,
    /// How many nanoseconds longer the second class takes there, on average.
    pub difference: f64,
    /// The smallest difference, in nanoseconds, that at least one choice of times would have shown.
    pub noticeable: f64,
}

impl Finding {
    /// Compares times in nanoseconds.
    ///
    /// With too few times no statement is possible: then t is 0, and no difference would have been noticed.
    pub fn of(times: &[Vec<u32>; 2]) -> Self {
        let mut sorted = times.concat();
        sorted.sort_unstable();
        let mut finding = Self {
            samples: sorted.len(),
            t: 0.0,
            difference: 0.0,
            noticeable: f64::INFINITY,
        };
        let limits = (1..=CROPS).filter_map(|crop| {
            let share = 1.0 - 0.5_f64.powf(10.0 * f64::from(crop) / f64::from(CROPS));
            sorted.get((share * sorted.len() as f64) as usize).copied()
        });
        for limit in limits.chain([u32::MAX]) {
            let Some(comparison) = Comparison::up_to(limit, times) else {
                continue;
            };
            finding.noticeable = finding.noticeable.min(THRESHOLD * comparison.error);
            if comparison.t().abs() > finding.t.abs() {
                finding.t = comparison.t();
                finding.difference = comparison.difference;
            }
        }
        finding
    }

    /// Whether the times tell the classes apart.
    pub fn is_difference(&self) -> bool {
        self.t.abs() >= THRESHOLD
    }
}

/// The difference of two means, and its standard error.
struct Comparison {
    difference: f64,
    error: f64,
}

impl Comparison {
    /// Compares the times up to a limit. `None` if there are too few, or if all are the same.
    fn up_to(limit: u32, times: &[Vec<u32>; 2]) -> Option<Self> {
        const LEAST: f64 = 10.0;
        let [first, second] = times.each_ref().map(|times| {
            let kept = || times.iter().filter(|time| **time <= limit);
            let kept = || kept().map(|time| f64::from(*time));
            let count = kept().count() as f64;
            let mean = kept().sum::<f64>() / count;
            let squares: f64 = kept().map(|time| (time - mean).powi(2)).sum();
            (count, mean, squares / (count - 1.0))
        });
        let error = (first.2 / first.0 + second.2 / second.0).sqrt();
        (first.0.min(second.0) >= LEAST && error > 0.0).then_some(Self {
            difference: second.1 - first.1,
            error,
        })
    }

    fn t(&self) -> f64 {
        self.difference / self.error
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pseudorandom numbers below a bound.
    fn random(bound: u32) -> impl FnMut() -> u32 {
        let mut state = 1_u64;
        move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as u32 % bound
        }
    }

    /// Times around 10 µs, one in eight of them much longer; those of the second class are longer by `later`.
    fn times(count: usize, later: u32) -> [Vec<u32>; 2] {
        let mut random = random(8000);
        [0, later].map(|later| {
            let time = |_| {
                let disturbance = if random() < 1000 { 50 * random() } else { 0 };
                10_000 + random() / 100 + disturbance + later
            };
            (0..count).map(time).collect()
        })
    }

    #[test]
    fn t_is_welchs() {
        let first = [27, 21, 19, 23, 17, 18, 16, 20, 22, 22, 23, 19].to_vec();
        let second = [27, 22, 20, 23, 23, 24, 25, 22, 24, 20, 21, 22].to_vec();
        let comparison = Comparison::up_to(u32::MAX, &[first, second]).unwrap();
        assert!((comparison.difference - 26.0 / 12.0).abs() < 1e-9);
        // computed with Python's statistics.variance
        assert!((comparison.t() - 2.038_183_000_648_882_4).abs() < 1e-9);
    }

    #[test]
    fn equal_classes_are_not_told_apart() {
        for count in [100, 10_000, 100_000] {
            let finding = Finding::of(&times(count, 0));
            assert!(!finding.is_difference(), "{finding:?}");
            assert_eq!(finding.samples, 2 * count);
        }
    }

    #[test]
    fn small_differences_show_beside_large_disturbances() {
        let finding = Finding::of(&times(100_000, 3));
        assert!(finding.is_difference() && finding.t > 0.0, "{finding:?}");
        assert!((2.0..4.0).contains(&finding.difference), "{finding:?}");
        assert!(finding.noticeable < 3.0, "{finding:?}");
        // all times together would not show the difference
        let all = Comparison::up_to(u32::MAX, &times(100_000, 3)).unwrap();
        assert!(all.t().abs() < THRESHOLD);
        let [first, second] = times(100_000, 3);
        assert!(Finding::of(&[second, first]).t < -THRESHOLD);
    }

    #[test]
    fn of_too_little_nothing_is_said() {
        for times in [
            [vec![], vec![]],
            [vec![1], vec![1000]],
            [vec![7; 1000], vec![7; 1000]],
        ] {
            let finding = Finding::of(&times);
            assert_eq!((finding.t, finding.noticeable), (0.0, f64::INFINITY));
        }
    }
}
