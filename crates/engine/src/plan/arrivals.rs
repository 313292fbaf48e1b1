//! When operations are due: in a closed loop, or by a rate that may change with time.

use super::PlanError;
use serde::{Deserialize, Serialize};

/// When operations are due.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Arrivals {
    /// As soon as a client is free: due = started.
    #[default]
    Closed,
    /// Evenly spaced.
    Constant {
        /// Operations per second over all engines.
        rate: Rate,
    },
    /// Exponential gaps.
    Poisson {
        /// Mean operations per second over all engines.
        rate: Rate,
    },
}

/// Operations per second over all engines.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Rate {
    /// The same all the time.
    Steady(f64),
    /// Points (seconds since the phase's start, rate) with straight lines between them; two points of one time are a step,
    /// after the last one the rate stays.
    Curve(Vec<(f64, f64)>),
}

impl From<f64> for Rate {
    fn from(rate: f64) -> Self {
        Self::Steady(rate)
    }
}

impl Rate {
    /// Its points; at least one, the first at 0 s, of a rate that was checked.
    pub fn points(&self) -> Vec<(f64, f64)> {
        match self {
            Self::Steady(rate) => vec![(0.0, *rate)],
            Self::Curve(points) => points.clone(),
        }
    }

    /// The highest rate.
    pub fn highest(&self) -> f64 {
        self.points()
            .iter()
            .map(|point| point.1)
            .fold(0.0, f64::max)
    }

    /// Whether nothing is due any more after its last point.
    pub fn ends_at_zero(&self) -> bool {
        self.points().last().is_none_or(|point| point.1 <= 0.0)
    }

    fn check(&self) -> Result<(), PlanError> {
        let refuse = |text: &str| Err(PlanError(format!("arrivals.rate {text}")));
        let points = self.points();
        let sound = |number: f64| number.is_finite() && number >= 0.0;
        if !points.iter().all(|(at, rate)| sound(*at) && sound(*rate)) {
            return refuse("must hold finite numbers, none below 0");
        }
        if points.first().is_none_or(|first| first.0 > 0.0) {
            return refuse("must begin at 0 s");
        }
        if !points.is_sorted_by(|a, b| a.0 <= b.0) {
            return refuse("must go forward in time");
        }
        if points.windows(3).any(|three| three[0].0 >= three[2].0) {
            return refuse("may have two points of one time, a step, not three");
        }
        if self.highest() <= 0.0 {
            return refuse("must be above 0 somewhere");
        }
        Ok(())
    }
}

impl Arrivals {
    /// The rate; None in a closed loop.
    pub const fn rate(&self) -> Option<&Rate> {
        match self {
            Self::Closed => None,
            Self::Constant { rate } | Self::Poisson { rate } => Some(rate),
        }
    }

    /// The same at another, steady rate.
    ///
    /// # Errors
    /// A closed loop has no rate; one below 0 or of 0 makes no sense.
    pub fn at_rate(&self, rate: f64) -> Result<Self, PlanError> {
        let rate = Rate::from(rate);
        let changed = match self {
            Self::Closed => return Err(PlanError("a closed loop has no rate".to_owned())),
            Self::Constant { .. } => Self::Constant { rate },
            Self::Poisson { .. } => Self::Poisson { rate },
        };
        changed.check().map(|()| changed)
    }

    /// Refuse a rate that makes no sense.
    pub(super) fn check(&self) -> Result<(), PlanError> {
        self.rate().map_or(Ok(()), Rate::check)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn told(rate: serde_json::Value) -> Result<(), String> {
        let arrivals: Arrivals = serde_json::from_value(json!({"kind": "poisson", "rate": rate}))
            .map_err(|e| e.to_string())?;
        arrivals.check().map_err(|e| e.0)
    }

    #[test]
    fn a_rate_is_a_number_or_the_points_of_a_curve() {
        for sound in [
            json!(5),
            json!([[0, 0], [10, 100], [10, 50]]),
            json!([[0, 3]]),
        ] {
            assert_eq!(told(sound.clone()), Ok(()), "{sound}");
        }
        for (wrong, word) in [
            (json!(0), "above 0"),
            (json!(-1), "below 0"),
            (json!([]), "begin at 0"),
            (json!([[1, 5]]), "begin at 0"),
            (json!([[0, 5], [9, 5], [8, 5]]), "forward"),
            (json!([[0, 5], [9, 5], [9, 6], [9, 7]]), "not three"),
        ] {
            assert!(told(wrong.clone()).unwrap_err().contains(word), "{wrong}");
        }
        assert!(told(json!("fast")).is_err());
    }
}
