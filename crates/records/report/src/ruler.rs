//! From values to places on an axis.

use std::ops::Range;

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::coord::types::RangedCoordf64;
use unicode_width::UnicodeWidthStr as _;

use crate::numbers::tick;
use crate::plot::Axis;

/// More decades than that have a label at some of them only.
const MOST_DECADES: i32 = 8;

/// An axis of a drawing: its ends, and where its labels stand.
#[derive(Clone)]
pub(crate) struct Ruler {
    ends: [f64; 2],
    is_log: bool,
    labels: Vec<f64>,
    step: f64,
    names: Vec<String>,
}

impl Ruler {
    /// For `axis` with these ends and about this number of labels.
    pub(crate) fn new(axis: &Axis, ends: [f64; 2], labels: usize) -> Self {
        let linear =
            || at_least_three(|labels| RangedCoordf64::from(ends[0]..ends[1]).key_points(labels), labels);
        let labels_at = match axis.names.len() {
            0 if axis.is_log => decades(ends),
            0 if axis.is_whole => linear().into_iter().filter(|v| v.fract() == 0.0).collect(),
            0 => linear(),
            n => (0..n).map(|k| k as f64).collect(),
        };
        let step = labels_at.windows(2).map(|w| w[1] - w[0]).next().unwrap_or(ends[1] - ends[0]);
        Self { ends, is_log: axis.is_log, labels: labels_at, step, names: axis.names.clone() }
    }

    pub(crate) fn widest(&self) -> usize {
        self.labels.iter().map(|v| self.format_ext(v).width()).max().unwrap_or(0)
    }

    /// Where `v` stands, if it has a place on the axis: what is undefined has none, and zero has none among factors.
    pub(crate) fn place(&self, v: f64) -> Option<f64> {
        let has_place = v.is_finite() && (v > 0.0 || !self.is_log);
        Some(self.share(v)).filter(|share| has_place && (0.0..=1.0).contains(share))
    }

    /// The share of the axis, from its lower end, at which `v` stands.
    fn share(&self, v: f64) -> f64 {
        let [low, high] = self.ends;
        if self.is_log {
            // Values that cannot be on the axis are drawn at its end.
            let v = if v > 0.0 { v } else { low };
            libm::log(v / low) / libm::log(high / low)
        } else {
            (v - low) / (high - low)
        }
    }
}

/// About this number of labels, but at least three, so that the scale can be read.
fn at_least_three(of: impl Fn(usize) -> Vec<f64>, labels: usize) -> Vec<f64> {
    let all = (1..=4).map(|times| of(times * labels));
    all.fold(Vec::new(), |found, more| if found.len() < 3 { more } else { found })
}

/// The powers of ten within the ends; where there are few, their doubles and fivefolds, too.
fn decades([low, high]: [f64; 2]) -> Vec<f64> {
    let (first, last) = (libm::floor(libm::log10(low)) as i32, libm::ceil(libm::log10(high)) as i32);
    let every = 1 + (last - first) / MOST_DECADES;
    let at = |factors: &[f64]| -> Vec<f64> {
        let powers = (first..=last).filter(|k| k.rem_euclid(every) == 0).map(power);
        let all = powers.flat_map(|p| factors.iter().map(move |f| f * p));
        all.filter(|v| (low..=high).contains(v)).collect()
    };
    let tens = at(&[1.0]);
    match tens.len() {
        0..3 => match at(&[1.0, 2.0, 5.0]) {
            few if few.len() < 3 => at_least_three(|n| RangedCoordf64::from(low..high).key_points(n), 6),
            enough => enough,
        },
        _ => tens,
    }
}

/// The label of a factor. Beyond a million, and below a hundred-thousandth, as a power of ten, `10^7`.
fn factor(v: f64) -> String {
    let k = libm::floor(libm::log10(v) + 1e-9) as i32;
    if (-5..=6).contains(&k) && v <= 1e6 {
        return tick(v, v * (1.0 + 1e-9));
    }
    match (v / power(k)).round() as i32 {
        1 => format!("10^{k}"),
        n => format!("{n}\u{d7}10^{k}"),
    }
}

/// Exact from 10^-22 to 10^22, so that labels are round.
fn power(k: i32) -> f64 {
    format!("1e{k}").parse().unwrap_or(f64::NAN)
}

impl Ranged for Ruler {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, v: &f64, (from, to): (i32, i32)) -> i32 {
        // Far outside is outside; beyond a million pixels numbers of pixels run over.
        let pixels = (self.share(*v) * f64::from(to - from)).clamp(-1e6, 1e6);
        from + pixels.round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        // Lines are only at the labels.
        if hint.weight().allow_light_points() { Vec::new() } else { self.labels.clone() }
    }

    fn range(&self) -> Range<f64> {
        self.ends[0]..self.ends[1]
    }
}

impl ValueFormatter<f64> for Ruler {
    /// The text of a label: a number or a name.
    fn format_ext(&self, at: &f64) -> String {
        if self.names.is_empty() {
            return if self.is_log { factor(*at) } else { tick(*at, self.step) };
        }
        let name = if *at >= 0.0 { self.names.get(at.round() as usize) } else { None };
        name.cloned().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_factors_are_equal_lengths() {
        let ruler = Ruler::new(&Axis::new("ms").log(), [1.0, 1e4], 6);
        let at = [1.0, 10.0, 100.0, 1e3, 1e4].map(|v| ruler.map(&v, (0, 400)));
        assert_eq!(at, [0, 100, 200, 300, 400]);
        assert_eq!(ruler.map(&20.0, (0, 400)), 130, "log10 of 20 is 1.301");
        assert_eq!(ruler.map(&0.0, (0, 400)), 0, "zero has no place, and stands at the end");
    }

    #[test]
    fn an_axis_has_three_labels_at_least() {
        for ends in [[0.93, 1.004], [0.0, 102.0], [88.0, 102.0], [3.1, 3.9], [70.0, 102.0], [0.0, 0.33]] {
            for wanted in [3, 6, 10] {
                let ruler = Ruler::new(&Axis::new("x"), ends, wanted);
                assert!(ruler.labels.len() >= 3, "{ends:?} {wanted}: {:?}", ruler.labels);
            }
        }
        for ends in [[30.0, 45.0], [1.2, 1.9], [8.0, 12.0], [1.0, 100.0]] {
            let labels = decades(ends);
            assert!(
                labels.len() >= 3 && labels.iter().all(|v| (ends[0]..=ends[1]).contains(v)),
                "{labels:?}"
            );
        }
    }

    #[test]
    fn what_is_undefined_has_no_place() {
        let ruler = Ruler::new(&Axis::new("ms").log(), [1.0, 100.0], 6);
        assert_eq!([f64::NAN, 0.0, -1.0, 0.5, 101.0].map(|v| ruler.place(v)), [None; 5]);
        assert_eq!(ruler.place(1.0), Some(0.0));
        let ruler = Ruler::new(&Axis::new("%"), [0.0, 100.0], 6);
        assert_eq!((ruler.place(f64::NAN), ruler.place(0.0)), (None, Some(0.0)));
    }

    #[test]
    fn labels_are_powers_of_ten_and_where_there_are_few_their_doubles_and_fivefolds() {
        assert_eq!(decades([0.9, 1100.0]), [1.0, 10.0, 100.0, 1e3]);
        assert_eq!(decades([3.0, 60.0]), [5.0, 10.0, 20.0, 50.0]);
        assert_eq!(decades([1e-9, 1e12]).len(), 8, "every third of the powers from -9 to 12");
        let ruler = Ruler::new(&Axis::new("s").log(), [0.001, 10.0], 6);
        let words: Vec<String> = ruler.labels.iter().map(|v| ruler.format_ext(v)).collect();
        assert_eq!(words, ["0.001", "0.01", "0.1", "1", "10"]);
        assert_eq!([1e6, 2e6, 1e10, 1e-6].map(factor), ["1000000", "2\u{d7}10^6", "10^10", "10^-6"]);
        let ruler = Ruler::new(&Axis::new("hops").whole(), [0.5, 2.5], 10);
        let words: Vec<String> = ruler.labels.iter().map(|v| ruler.format_ext(v)).collect();
        assert_eq!(words, ["1", "2"], "there is no half of a hop");
        let ruler = Ruler::new(&Axis::new("nodes"), [8.0, 16.0], 10);
        let words: Vec<String> = ruler.labels.iter().map(|v| ruler.format_ext(v)).collect();
        assert_eq!((words[0].as_str(), words[1].as_str()), ("8", "9"), "no decimals that are all 0");
    }
}
