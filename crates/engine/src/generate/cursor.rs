//! The walk over operation numbers: what each of them is.

use super::field::Fields;
use super::length::Lengths;
use super::mix::Kinds;
use super::random::{Source, Stream};
use super::request::Ranks;
use super::{Draft, check};
use crate::operation::{FieldSet, Kind};
use crate::plan::{PhaseKind, Plan, PlanError};

/// Walks the operation numbers of one phase in increasing order.
///
/// An insert's rank counts the inserts before it, those of other engines too; so a cursor looks at the kind of every
/// number it passes, a few nanoseconds each, where the mix has inserts, and at none where it has not.
#[derive(Debug, Clone)]
pub struct Cursor {
    records: u64,
    /// None in the load phase.
    run: Option<Run>,
}

impl Cursor {
    /// A cursor at number `first` of a phase. Takes time in proportion to `first` if the mix has inserts.
    ///
    /// # Errors
    /// As [`check`].
    pub fn new(plan: &Plan, phase: PhaseKind, first: u64) -> Result<Self, PlanError> {
        check(&plan.workload)?;
        let records = plan.workload.records;
        let mut run = (phase == PhaseKind::Run).then(|| Run::new(plan));
        if let Some(run) = &mut run {
            run.advance(first);
        }
        Ok(Self { records, run })
    }

    /// The draft of `number`, which must be greater than that of the call before.
    #[inline]
    pub fn at(&mut self, number: u64) -> Draft {
        match &mut self.run {
            None => Draft::load(number),
            Some(run) => {
                run.advance(number);
                run.draft(number, self.records)
            }
        }
    }
}

/// How many of the numbers below `next` are inserts.
#[derive(Debug, Clone, Copy, Default)]
struct Inserts {
    next: u64,
    count: u64,
}

impl Inserts {
    #[inline]
    fn advance(&mut self, kinds: &Kinds, next: u64) {
        debug_assert!(
            next >= self.next,
            "numbers must increase: {next} after {}",
            self.next
        );
        self.count += kinds.inserts_in(self.next..next);
        self.next = next;
    }
}

/// The walk of the run phase.
#[derive(Debug, Clone)]
struct Run {
    kinds: Kinds,
    ranks: Ranks,
    rank_source: Source,
    scan: Lengths,
    scan_source: Source,
    read_fields: Fields,
    written_fields: Fields,
    /// All inserts before the number.
    before: Inserts,
    /// Those old enough to be readable.
    seen: Inserts,
    lag: u64,
}

impl Run {
    fn new(plan: &Plan) -> Self {
        let (seed, workload) = (plan.seed, &plan.workload);
        let count = workload.fields.count;
        Self {
            kinds: Kinds::new(seed, &workload.mix),
            ranks: Ranks::new(
                seed,
                workload.records,
                &workload.request,
                expected_new_keys(plan),
            ),
            rank_source: Source::new(seed, Stream::Rank),
            scan: Lengths::new(&workload.scan_length),
            scan_source: Source::new(seed, Stream::ScanLength),
            read_fields: Fields::new(seed, Stream::ReadField, workload.read_all_fields, count),
            written_fields: Fields::new(
                seed,
                Stream::WrittenField,
                workload.write_all_fields,
                count,
            ),
            before: Inserts::default(),
            seen: Inserts::default(),
            lag: workload.insert_lag,
        }
    }

    /// Count the inserts before `number`, and those numbered at most `number` - lag.
    #[inline]
    fn advance(&mut self, number: u64) {
        if self.kinds.has_inserts() {
            self.before.advance(&self.kinds, number);
            let readable_before = number.saturating_add(1).saturating_sub(self.lag);
            self.seen.advance(&self.kinds, readable_before);
        }
    }

    #[inline]
    fn draft(&self, number: u64, records: u64) -> Draft {
        let kind = self.kinds.at(number);
        if kind == Kind::Insert {
            return Draft::insert(number, records + self.before.count, false);
        }
        let readable = records + self.seen.count;
        let rank = self
            .ranks
            .rank(&mut self.rank_source.draw(number), number, readable);
        let read_fields = self.read_fields.at(number);
        let fields = match kind {
            Kind::Read | Kind::Scan => read_fields,
            Kind::Update | Kind::ReadModifyWrite => self.written_fields.at(number),
            Kind::Insert | Kind::Delete | Kind::Flush => FieldSet::All,
        };
        let scan_length = if kind == Kind::Scan {
            self.scan.draw(&mut self.scan_source.draw(number))
        } else {
            0
        };
        Draft {
            kind,
            number,
            rank,
            fields,
            read_fields,
            scan_length,
            loaded: false,
        }
    }
}

/// The new records YCSB makes room for: twice operations x insert proportion, the proportion as given. 0 if no run phase
/// is limited in operations.
fn expected_new_keys(plan: &Plan) -> u64 {
    let runs = plan
        .phases
        .iter()
        .filter(|phase| phase.kind == PhaseKind::Run);
    let operations: u64 = runs
        .filter_map(|phase| phase.limit.operations)
        .fold(0, u64::saturating_add);
    (operations as f64 * plan.workload.mix.insert * 2.0) as u64
}

#[cfg(test)]
mod tests;
