//! The kind of each operation: one uniform draw over the weights.

use super::random::{Source, Stream};
use crate::operation::Kind;
use crate::plan::Mix;

/// Draws are 63 bits, so that a bound can stand above all of them.
const ONE: u64 = 1 << 63;

/// Says the kind of every number.
#[derive(Debug, Clone, Copy)]
pub struct Kinds {
    source: Source,
    order: [Kind; 6],
    /// A draw below `bounds[i]`, but not below the bound before, means `order[i]`.
    bounds: [u64; 6],
    inserts: bool,
    /// The only kind there is: it needs no draw.
    only: Option<Kind>,
}

impl Kinds {
    /// The weights of a checked plan: none negative, one positive.
    pub fn new(seed: u64, mix: &Mix) -> Self {
        let weights = mix.weights();
        let mut asked = weights.iter().filter(|(_, weight)| *weight > 0.0);
        let only = asked.next().filter(|_| asked.next().is_none());
        Self {
            source: Source::new(seed, Stream::Kind),
            order: weights.map(|(kind, _)| kind),
            bounds: bounds(weights.map(|(_, weight)| weight)),
            inserts: mix.insert > 0.0,
            only: only.map(|(kind, _)| *kind),
        }
    }

    /// The kind of operation `number`.
    #[inline]
    pub fn at(&self, number: u64) -> Kind {
        if let Some(only) = self.only {
            return only;
        }
        let x = self.source.draw(number).next_u64() >> 1;
        let below = self.bounds.iter().filter(|&&bound| x >= bound).count();
        self.order[below]
    }

    /// Whether any number is an insert.
    pub const fn has_inserts(&self) -> bool {
        self.inserts
    }

    /// How many numbers of `numbers` are inserts; time grows with the range, about 2 ns for each number.
    pub fn inserts_in(&self, numbers: std::ops::Range<u64>) -> u64 {
        if !self.inserts {
            return 0;
        }
        numbers
            .map(|number| u64::from(self.at(number) == Kind::Insert))
            .sum()
    }
}

/// Running sums of the weights on a scale from 0 to [`ONE`]; exactly `ONE` from the last positive weight on.
fn bounds(weights: [f64; 6]) -> [u64; 6] {
    let total: f64 = weights.iter().sum();
    let last = weights
        .iter()
        .rposition(|&weight| weight > 0.0)
        .unwrap_or(0);
    let mut sum = 0.0;
    let mut bounds = weights.map(|weight| {
        sum += weight;
        ((sum / total * ONE as f64) as u64).min(ONE)
    });
    bounds[last..].fill(ONE);
    bounds
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(mix: Mix) -> [f64; 6] {
        let kinds = Kinds::new(1, &mix);
        let mut seen = [0.0; 6];
        (0..100_000).for_each(|number| seen[kinds.at(number) as usize] += 1.0 / 100_000.0);
        seen
    }

    #[test]
    fn weights_are_normalised() {
        let mix = Mix {
            read: 3.0,
            insert: 1.0,
            read_modify_write: 6.0,
            ..Mix::default()
        };
        let seen = shares(mix);
        for (kind, expected) in [
            (Kind::Read, 0.3),
            (Kind::Insert, 0.1),
            (Kind::ReadModifyWrite, 0.6),
            (Kind::Update, 0.0),
        ] {
            assert!(
                (seen[kind as usize] - expected).abs() < 0.01,
                "{kind:?} {seen:?}"
            );
        }
    }

    #[test]
    fn one_weight_takes_all() {
        for (i, (kind, _)) in Mix::default().weights().into_iter().enumerate() {
            let mut weights = [0.0; 6];
            weights[i] = 0.1;
            let [read, update, insert, scan, delete, read_modify_write] = weights;
            let mix = Mix {
                read,
                update,
                insert,
                scan,
                delete,
                read_modify_write,
            };
            let kinds = Kinds::new(1, &mix);
            assert!((0..1000).all(|number| kinds.at(number) == kind));
        }
    }

    #[test]
    fn inserts_are_counted() {
        let kinds = Kinds::new(
            4,
            &Mix {
                read: 0.9,
                insert: 0.1,
                ..Mix::default()
            },
        );
        let count = (0..1000)
            .filter(|&number| kinds.at(number) == Kind::Insert)
            .count() as u64;
        assert_eq!(kinds.inserts_in(0..1000), count);
        assert!(count > 50);
    }
}
