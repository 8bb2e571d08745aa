//! The values of a setting that are looked at: `switch.buffer=1MB..12MB:100KB`, or a list.

use weir_core::{Bytes, Rate, Time, Unit};

/// A setting and its values, in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// The key of the scenario.
    pub path: String,
    values: Values,
}

#[derive(Clone, Debug, PartialEq)]
enum Values {
    /// `low`, `low + step`, ..., `high`.
    Steps { low: f64, high: f64, step: f64, kind: Notation },
    /// As written.
    List(Vec<String>),
}

/// What the numbers of a range are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Notation {
    In(Unit),
    Percent,
    Whole,
    Real,
}

impl Notation {
    /// The kind and the number of one end.
    fn read(text: &str) -> Result<(Self, f64), String> {
        if let Some(number) = text.strip_suffix('%') {
            let number = number.trim().parse::<f64>().ok().filter(|x| x.is_finite());
            return number.map(|x| (Self::Percent, x)).ok_or_else(|| wrong(text));
        }
        if let Ok(number) = text.parse::<f64>() {
            if !number.is_finite() {
                return Err(wrong(text));
            }
            let whole = number == libm::trunc(number);
            return Ok((if whole { Self::Whole } else { Self::Real }, number));
        }
        let units = [Unit::Bytes, Unit::Time, Unit::Rate];
        let found = units.into_iter().find_map(|u| u.read(text).ok().map(|x| (Self::In(u), x)));
        found.ok_or_else(|| wrong(text))
    }
}

fn wrong(text: &str) -> String {
    format!("`{text}` is no end of a range: write a number, or one with a unit such as 200KB, 5us")
}

/// How many steps a range is divided into unless said otherwise, at most.
const STEPS: f64 = 200.0;
/// The most values of an axis.
const MOST: f64 = 1e9;

impl Axis {
    /// Reads `PATH=LOW..HIGH`, `PATH=LOW..HIGH:STEP` or `PATH=A,B,C`.
    pub fn read(text: &str) -> Result<Self, String> {
        let Some((path, values)) = text.split_once('=') else {
            return Err(format!(
                "`{text}` is not a range: write PATH=LOW..HIGH, such as switch.buffer=1MB..12MB"
            ));
        };
        let path = path.trim().to_owned();
        if path.is_empty() {
            return Err(format!("`{text}` names no setting: write PATH=LOW..HIGH"));
        }
        let Some((low, rest)) = values.split_once("..") else {
            let list: Vec<String> = values.split(',').map(|v| v.trim().to_owned()).collect();
            if list.len() < 2 || list.iter().any(String::is_empty) {
                return Err(format!("`{values}` is one value: write LOW..HIGH, or A,B,C"));
            }
            return Ok(Self { path, values: Values::List(list) });
        };
        let (high, step) = match rest.split_once(':') {
            Some((high, step)) => (high.trim(), Some(step.trim())),
            None => (rest.trim(), None),
        };
        let values = steps(low.trim(), high, step).map_err(|why| format!("`{text}`: {why}"))?;
        Ok(Self { path, values })
    }

    /// How many values.
    pub fn len(&self) -> usize {
        match &self.values {
            Values::List(list) => list.len(),
            Values::Steps { low, high, step, .. } => {
                libm::ceil((high - low) / step - 1e-9) as usize + 1
            }
        }
    }

    /// Always false: an axis has at least two values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The step between values, for people; nothing for a list.
    pub fn step(&self) -> Option<String> {
        match &self.values {
            Values::List(_) => None,
            Values::Steps { step, kind, .. } => Some(show(*kind, *step)),
        }
    }

    fn number(&self, i: usize) -> Option<(Notation, f64)> {
        match &self.values {
            Values::List(_) => None,
            Values::Steps { low, high, step, kind } => {
                Some((*kind, (low + step * i as f64).min(*high)))
            }
        }
    }

    /// The value at a place, as people read it.
    pub fn show(&self, i: usize) -> String {
        match (&self.values, self.number(i)) {
            (_, Some((kind, x))) => show(kind, x),
            (Values::List(list), None) => list[i].clone(),
            (Values::Steps { .. }, None) => String::new(),
        }
    }

    /// `PATH=VALUE`, exactly, as `--set` takes it.
    pub fn set(&self, i: usize) -> String {
        let value = match (&self.values, self.number(i)) {
            (Values::List(list), _) => list[i].clone(),
            (_, Some((kind, x))) => exact(kind, x),
            (Values::Steps { .. }, None) => String::new(),
        };
        format!("{}={value}", self.path)
    }

    /// The same setting with at most so many values, evenly spaced from end to end.
    #[must_use]
    pub fn coarse(&self, most: usize) -> Self {
        let values = match &self.values {
            Values::Steps { low, high, step, kind } if self.len() > most => {
                let wide = (high - low) / (most.max(2) - 1) as f64;
                // whole numbers of steps, so that every value is one of the fine axis
                let step = step * libm::ceil(wide / step);
                Values::Steps { low: *low, high: *high, step, kind: *kind }
            }
            other => other.clone(),
        };
        Self { path: self.path.clone(), values }
    }
}

fn steps(low: &str, high: &str, step: Option<&str>) -> Result<Values, String> {
    let ((low_kind, low_x), (high_kind, high_x)) = (Notation::read(low)?, Notation::read(high)?);
    let plain = |k: Notation| matches!(k, Notation::Whole | Notation::Real);
    let kind = match (low_kind, high_kind) {
        (a, b) if a == b => a,
        (a, b) if plain(a) && plain(b) => Notation::Real,
        // zero needs no unit
        (a, b) if plain(a) && low_x == 0.0 => b,
        _ => return Err(format!("{low} and {high} have different units")),
    };
    if low_x >= high_x {
        return Err(format!("{low} is not below {high}"));
    }
    let step = match step.map(Notation::read).transpose()? {
        Some((of, x)) if of == kind || plain(of) && plain(kind) => x,
        Some(_) => return Err("the step has another unit than the range".into()),
        None => natural_step(high_x - low_x, kind),
    };
    if step.is_nan() || step <= 0.0 || (high_x - low_x) / step > MOST {
        return Err("the step is too small for this range".into());
    }
    Ok(Values::Steps { low: low_x, high: high_x, step, kind })
}

/// 1, 2 or 5 times a power of ten: at most [`STEPS`] of them.
fn natural_step(range: f64, kind: Notation) -> f64 {
    let least = range / STEPS;
    let power = libm::pow(10.0, libm::floor(libm::log10(least)));
    let step =
        [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * power).find(|s| *s >= least * 0.999_999);
    let step = step.unwrap_or(10.0 * power);
    match kind {
        Notation::Whole | Notation::In(_) => libm::round(step).max(1.0),
        Notation::Percent | Notation::Real => step,
    }
}

fn show(kind: Notation, x: f64) -> String {
    let whole = libm::round(x) as u64;
    match kind {
        Notation::In(Unit::Bytes) => Bytes::new(whole).to_string(),
        Notation::In(Unit::Time) => Time::from_ps(whole).to_string(),
        Notation::In(_) => Rate::from_bps(whole).to_string(),
        other => exact(other, x),
    }
}

/// A number that reads as itself.
fn exact(kind: Notation, x: f64) -> String {
    let rounded = |x: f64| {
        // what sums of steps add in the last places
        let x = libm::round(x * 1e9) / 1e9;
        x.to_string()
    };
    match kind {
        Notation::In(Unit::Bytes) => format!("{}B", libm::round(x) as u64),
        Notation::In(Unit::Time) => format!("{}ps", libm::round(x) as u64),
        Notation::In(_) => format!("{}bps", libm::round(x) as u64),
        Notation::Percent => format!("{}%", rounded(x)),
        Notation::Whole | Notation::Real => rounded(x),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(text: &str) -> Axis {
        Axis::read(text).expect(text)
    }

    #[test]
    fn a_range_has_round_steps() {
        let a = axis("switch.thresholds.headroom=0..200KB");
        assert_eq!((a.len(), a.step().as_deref()), (201, Some("1 KB")));
        assert_eq!(a.set(25), "switch.thresholds.headroom=25000B");
        assert_eq!(a.set(200), "switch.thresholds.headroom=200000B");
        assert_eq!(axis("x=1..9").len(), 9);
        assert_eq!(axis("x=0.1..0.5:0.1").set(2), "x=0.3");
        assert_eq!(axis("traffic.0.load=20%..60%:10%").set(4), "traffic.0.load=60%");
        // the last step is shorter
        let short = axis("x=0..10:4");
        assert_eq!(
            (0..short.len()).map(|i| short.show(i)).collect::<Vec<_>>(),
            ["0", "4", "8", "10"]
        );
        assert_eq!(axis("topology.delay=1us..2us:500ns").set(1), "topology.delay=1500000ps");
        assert_eq!(axis("a=1/8,1/4,1/2").set(1), "a=1/4");
    }

    #[test]
    fn a_coarse_axis_uses_values_of_the_fine_one() {
        let fine = axis("x=0..200KB");
        let coarse = fine.coarse(9);
        assert_eq!(coarse.len(), 9);
        let values: Vec<String> = (0..fine.len()).map(|i| fine.set(i)).collect();
        assert!((0..9).all(|i| values.contains(&coarse.set(i))));
    }

    #[test]
    fn what_is_no_range_is_refused() {
        for (text, says) in [
            ("switch.buffer", "PATH=LOW..HIGH"),
            ("=1..2", "names no setting"),
            ("x=5", "one value"),
            ("x=5..4", "5 is not below 4"),
            ("x=1KB..2us", "different units"),
            ("x=1..b", "`b` is no end of a range"),
            ("x=0..10:0", "too small"),
            ("x=0..10KB:1us", "another unit"),
            ("x=NaN..1", "`NaN` is no end of a range"),
            ("x=0%..inf%", "no end of a range"),
        ] {
            let error = Axis::read(text).expect_err(text);
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
