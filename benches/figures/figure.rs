//! From samples to a figure, and its printing.

use std::time::Duration;

use serde_json::json;

/// What must hold.
#[derive(Clone, Copy)]
pub(crate) enum Goal {
    /// The ratio to the baseline is at most this.
    Ratio(f64),
    /// The median, in the figure's unit, is at most this.
    Value(f64),
}

/// Samples of ours and of the baseline, taken in turns.
pub(crate) struct Figure {
    pub(crate) ours: Vec<Duration>,
    pub(crate) baseline: Vec<Duration>,
    pub(crate) goal: Option<Goal>,
}

/// A sample that starts when the machine is quiet: what the one before left to background threads (a pool to refill) is
/// not billed to it. Figures of sustained work bill it.
fn rested(sample: &mut impl FnMut() -> Duration) -> Duration {
    std::thread::sleep(REST);
    sample()
}

const REST: Duration = Duration::from_millis(1);

impl Figure {
    /// Calls both in turns, `warm_up` rounds unmeasured and `rounds` measured, and swaps who goes first each round.
    pub(crate) fn interleaved(
        (warm_up, rounds): (usize, usize),
        goal: Option<Goal>,
        mut ours: impl FnMut() -> Duration,
        mut baseline: impl FnMut() -> Duration,
    ) -> Self {
        let mut ours = || rested(&mut ours);
        let mut baseline = || rested(&mut baseline);
        let mut figure = Self { ours: Vec::with_capacity(rounds), baseline: Vec::with_capacity(rounds), goal };
        for round in 0..warm_up + rounds {
            let (a, b) = if round % 2 == 0 {
                let a = ours();
                (a, baseline())
            } else {
                let b = baseline();
                (ours(), b)
            };
            if round >= warm_up {
                figure.ours.push(a);
                figure.baseline.push(b);
            }
        }
        figure
    }

    /// Upper end of the 95 % bootstrap interval of a statistic of both medians.
    fn upper(&self, statistic: impl Fn(f64, f64) -> f64) -> f64 {
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        let mut statistics: Vec<f64> = (0..1000)
            .map(|_| {
                let picks: Vec<usize> = (0..self.ours.len()).map(|_| random.below(self.ours.len())).collect();
                let resample =
                    |samples: &[Duration]| quantile(&picks.iter().map(|&i| samples[i]).collect::<Vec<_>>(), 0.5);
                statistic(resample(&self.ours), resample(&self.baseline))
            })
            .collect();
        statistics.sort_by(f64::total_cmp);
        statistics[974]
    }
}

/// In microseconds.
fn quantile(samples: &[Duration], q: f64) -> f64 {
    let mut sorted = samples.to_vec();
    sorted.sort_unstable();
    let index = ((sorted.len() - 1) as f64 * q).round() as usize;
    sorted[index].as_secs_f64() * 1e6
}

/// Marsaglia's xorshift: resampling needs no better, and the same samples give the same interval.
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % most as u64) as usize
    }
}

/// Prints figures as they come.
pub(crate) struct Report {
    json: bool,
    skipped: usize,
    failed: usize,
}

impl Report {
    pub(crate) fn new(json: bool) -> Self {
        if !json {
            println!("{:<32} {:>12} {:>12} {:>7}  {:<22} holds", "figure", "ours µs", "baseline µs", "ratio", "goal");
        }
        Self { json, skipped: 0, failed: 0 }
    }

    pub(crate) fn add(&mut self, name: &str, figure: Result<Figure, String>) {
        let figure = match figure {
            Ok(figure) => figure,
            Err(reason) => {
                self.skipped += 1;
                eprintln!("SKIP: {name}: {reason}");
                return;
            }
        };
        let (goal, holds) = match figure.goal {
            None => (None, None),
            Some(Goal::Ratio(most)) => {
                (Some(format!("ratio <= {most}")), Some(figure.upper(|ours, baseline| ours / baseline) <= most))
            }
            Some(Goal::Value(most)) => (Some(format!("value <= {most}")), Some(figure.upper(|ours, _| ours) <= most)),
        };
        self.failed += usize::from(holds == Some(false));
        self.line(name, &figure, 0.5, goal.as_deref(), holds);
        self.line(&format!("{name}/p99"), &figure, 0.99, None, None);
    }

    fn line(&self, name: &str, figure: &Figure, q: f64, goal: Option<&str>, holds: Option<bool>) {
        let (ours, baseline) = (quantile(&figure.ours, q), quantile(&figure.baseline, q));
        let ratio = ours / baseline;
        if self.json {
            let round = |x: f64| (x * 1000.0).round() / 1000.0;
            println!(
                "{}",
                json!({"name": name, "value": round(ours), "unit": "us", "baseline": round(baseline), "ratio": round(ratio), "goal": goal, "holds": holds})
            );
        } else {
            let holds = holds.map_or("", |holds| if holds { "yes" } else { "NO" });
            println!("{name:<32} {ours:>12.1} {baseline:>12.1} {ratio:>7.3}  {:<22} {holds}", goal.unwrap_or(""));
        }
    }

    pub(crate) fn finish(self) {
        if self.skipped > 0 {
            eprintln!("{} skipped", self.skipped);
        }
        if self.failed > 0 {
            std::process::exit(1);
        }
    }
}
