//! The walk over operation numbers: what each of them is.

use super::Draft;
use super::field::Fields;
use super::key::Keys;
use super::length::Lengths;
use super::mix::Kinds;
use super::random::{Source, Stream};
use super::request::Ranks;
use crate::operation::Kind;
use crate::plan::{PhaseKind, Plan, PlanError};

/// Drafts made at once. Each is a chain of multiplications, every one waiting for the one before; the processor works at
/// those of several drafts side by side.
const AHEAD: usize = 8;

/// Walks the operation numbers of one phase in increasing order.
///
/// An insert's rank counts the inserts before it, those of other engines too; so a cursor looks at the kind of every
/// number it passes, a few nanoseconds each, where the mix has inserts, and at none where it has not.
#[derive(Debug, Clone)]
pub struct Cursor {
    records: u64,
    keys: Keys,
    /// None in the load phase.
    run: Option<Run>,
    ahead: Ahead,
}

impl Cursor {
    /// A cursor at number `first` of a phase. Takes time in proportion to `first` if the mix has inserts.
    ///
    /// # Errors
    /// As [`Workload::check`](crate::plan::Workload::check).
    pub fn new(plan: &Plan, phase: PhaseKind, first: u64) -> Result<Self, PlanError> {
        plan.workload.check()?;
        let records = plan.workload.records;
        let mut run = (phase == PhaseKind::Run).then(|| Run::new(plan));
        if let Some(run) = &mut run {
            run.advance(first);
        }
        Ok(Self {
            records,
            keys: Keys::new(&plan.workload.key),
            run,
            ahead: Ahead::new(u64::from(plan.engine.count)),
        })
    }

    /// The draft of `number`, which must be greater than that of the call before.
    #[inline]
    pub fn at(&mut self, number: u64) -> Draft {
        match &mut self.run {
            None => Draft {
                kind: Kind::Insert,
                rank: number,
                key: self.keys.number(number),
                loaded: true,
                ..Draft::numbered(number)
            },
            // Without inserts a draft depends on its number alone, and may be made before its turn.
            Some(run) if !run.kinds.has_inserts() => {
                let make = |drafts: &mut [Draft]| run.complete(drafts, self.records, self.keys);
                self.ahead.at(number, make)
            }
            Some(run) => {
                run.advance(number);
                let mut draft = Draft::numbered(number);
                let only = std::slice::from_mut(&mut draft);
                run.complete(only, self.records, self.keys);
                draft
            }
        }
    }
}

/// Drafts of this engine's next numbers.
#[derive(Debug, Clone)]
struct Ahead {
    drafts: [Draft; AHEAD],
    /// How many of them have been taken.
    taken: usize,
    /// From one number of this engine to its next.
    stride: u64,
}

impl Ahead {
    fn new(stride: u64) -> Self {
        Self {
            drafts: [Draft::default(); AHEAD],
            taken: AHEAD,
            stride,
        }
    }

    /// The draft of `number`, from those made before or from new ones, which `complete` makes of their numbers.
    #[inline]
    fn at(&mut self, number: u64, complete: impl FnOnce(&mut [Draft])) -> Draft {
        let next = self.drafts.get(self.taken);
        if next.is_none_or(|draft| draft.number != number) {
            self.number_from(number);
            complete(&mut self.drafts);
        }
        self.taken += 1;
        self.drafts[self.taken - 1]
    }

    fn number_from(&mut self, mut number: u64) {
        for draft in &mut self.drafts {
            *draft = Draft::numbered(number);
            number = number.wrapping_add(self.stride);
        }
        self.taken = 0;
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
    /// Fields or scans' lengths are drawn; otherwise every operation is of all fields.
    chooses: bool,
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
            chooses: !(workload.read_all_fields && workload.write_all_fields)
                || workload.mix.scan > 0.0,
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

    /// Complete drafts that have but their numbers, step by step: what a step does for one waits for no other.
    #[inline(never)] // so that what takes one of them is small enough to be part of its caller
    fn complete(&self, drafts: &mut [Draft], records: u64, keys: Keys) {
        for draft in &mut *drafts {
            draft.kind = self.kinds.at(draft.number);
        }
        for draft in &mut *drafts {
            draft.rank = self.rank(draft, records);
        }
        for draft in &mut *drafts {
            draft.rank = self.ranks.place(draft.rank); // a new record stays where it is
        }
        for draft in &mut *drafts {
            draft.key = keys.number(draft.rank);
        }
        if self.chooses {
            for draft in drafts {
                self.choose_fields(draft);
            }
        }
    }

    #[inline]
    fn rank(&self, draft: &Draft, records: u64) -> u64 {
        if draft.kind == Kind::Insert {
            return records + self.before.count;
        }
        let readable = records + self.seen.count;
        let mut draw = self.rank_source.draw(draft.number);
        self.ranks.draw(&mut draw, draft.number, readable)
    }

    #[inline]
    fn choose_fields(&self, draft: &mut Draft) {
        let number = draft.number;
        match draft.kind {
            Kind::Read => draft.fields = self.read_fields.at(number),
            Kind::Scan => {
                draft.fields = self.read_fields.at(number);
                draft.scan_length = self.scan.draw(&mut self.scan_source.draw(number));
            }
            Kind::Update => draft.fields = self.written_fields.at(number),
            Kind::ReadModifyWrite => {
                draft.fields = self.written_fields.at(number);
                draft.read_fields = self.read_fields.at(number);
            }
            Kind::Insert | Kind::Delete | Kind::Flush => {}
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
