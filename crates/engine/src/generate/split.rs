//! Where to split the key space so that each part holds as many of a workload's keys as any other.
//!
//! A key is a prefix and a decimal number without a fixed width, and tables are in the order of its text: the numbers are
//! equally likely, their first digits are not. YCSB's hashes end at 2^63, 92233..., so that a 9 begins a third as many keys as
//! a 1 does. Here the keys whose text begins with given digits are counted exactly, and the quantiles found digit by digit.

use crate::operation::DIGITS_MAX;
use crate::plan::{KeyOrder, KeyPlan};
use std::ops::Range;

/// A split is exact enough when what may lie on the wrong side of it is this share of a part.
const TOLERANCE: u128 = 1000;

/// The first keys of all parts but the first, ascending: `parts` - 1 of them, `parts` at most the number of keys.
///
/// Hashed keys are spread over all hashes there can be, so that the parts stay even whatever is inserted; ordered ones over
/// the ranks below `records`, and what is inserted later goes into the last part.
pub fn splits(plan: &KeyPlan, records: u64, parts: u32) -> Vec<Vec<u8>> {
    let numbers = Numbers {
        end: match plan.order {
            KeyOrder::Hashed => 1 << 63,
            KeyOrder::Ordered => u128::from(records),
        },
        width: plan.zero_padding.clamp(1, DIGITS_MAX as u32),
    };
    let parts = u128::from(parts);
    let tolerance = numbers.end / (parts * TOLERANCE);
    (1..parts)
        .map(|part| {
            let mut key = plan.prefix.as_bytes().to_vec();
            numbers.quantile(numbers.end * part / parts, tolerance, &mut key);
            key
        })
        .collect()
}

/// The numbers below `end`, written with at least `width` digits.
struct Numbers {
    end: u128,
    width: u32,
}

/// Digits and their value: what a number's text begins with.
#[derive(Clone, Copy)]
struct Start {
    digits: u32,
    value: u128,
}

impl Start {
    const fn then(self, digit: u128) -> Self {
        Self {
            digits: self.digits + 1,
            value: self.value * 10 + digit,
        }
    }
}

impl Numbers {
    /// Append the text before which `before` of the numbers lie, or up to `tolerance` fewer.
    fn quantile(&self, mut before: u128, tolerance: u128, text: &mut Vec<u8>) {
        let mut start = Start {
            digits: 0,
            value: 0,
        };
        while before > 0 {
            if self.written_with(start, start.digits) > 0 {
                before -= 1; // the start itself is a number, and lies before all that go on
            }
            for digit in 0..10 {
                let next = start.then(digit);
                let count = self.beginning_with(next);
                if before < count {
                    text.push(b'0' + digit as u8);
                    if count <= tolerance {
                        return;
                    }
                    start = next;
                    break;
                }
                before -= count;
            }
        }
    }

    /// How many numbers' texts begin with `start`.
    fn beginning_with(&self, start: Start) -> u128 {
        (start.digits..=DIGITS_MAX as u32)
            .map(|digits| self.written_with(start, digits))
            .sum()
    }

    /// How many numbers written with `digits` digits begin with `start`.
    fn written_with(&self, start: Start, digits: u32) -> u128 {
        if digits < self.width {
            return 0;
        }
        let least = if digits == self.width {
            0
        } else {
            10_u128.pow(digits - 1)
        };
        let scale = 10_u128.pow(digits - start.digits);
        let written = least..10_u128.pow(digits).min(self.end);
        let begun = start.value * scale..(start.value + 1) * scale;
        overlap(&written, &begun)
    }
}

fn overlap(a: &Range<u128>, b: &Range<u128>) -> u128 {
    a.end.min(b.end).saturating_sub(a.start.max(b.start))
}

#[cfg(test)]
mod tests;
