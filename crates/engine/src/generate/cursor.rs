//! The walk over operation numbers: what each of them is.

use super::Draft;
use super::field::Fields;
use super::key::Keys;
use super::length::Lengths;
use super::mix::Kinds;
use super::random::{Source, Stream};
use super::request::Ranks;
use crate::operation::Kind;
use crate::plan::{EngineShare, PhaseKind, Plan, PlanError};
use std::collections::VecDeque;

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
    /// Of an audit, the records to read.
    audited: Option<Vec<u64>>,
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
            audited: None,
            ahead: Ahead::new(u64::from(plan.engine.count)),
        })
    }

    /// A cursor over the records that an audit reads back: number i reads all of `ranks[i]`.
    pub fn audit(plan: &Plan, ranks: Vec<u64>) -> Self {
        Self {
            records: plan.workload.records,
            keys: Keys::new(&plan.workload.key),
            run: None,
            audited: Some(ranks),
            ahead: Ahead::new(1),
        }
    }

    /// How many records an audit is to read; 0 of any other phase.
    pub fn audited(&self) -> u64 {
        self.audited.as_ref().map_or(0, |ranks| ranks.len() as u64)
    }

    /// Ask for no record that another engine inserts in this phase: in a closed loop engines are not in step, and what a
    /// slower one is to insert would count as there.
    #[must_use]
    pub fn out_of_step(mut self, share: EngineShare) -> Self {
        if let Some(run) = self.run.as_mut().filter(|_| share.count > 1) {
            run.own = Some(OwnInserts::new(share, run.before.count));
        }
        self
    }

    /// The draft of `number`, which must be greater than that of the call before.
    #[inline]
    pub fn at(&mut self, number: u64) -> Draft {
        if let Some(ranks) = &self.audited {
            let rank = ranks[number as usize];
            return Draft {
                rank,
                key: self.keys.number(rank),
                ..Draft::numbered(number)
            };
        }
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
                if let Some(own) = &mut run.own {
                    own.note(&draft);
                }
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

/// The inserts of one engine of several that are not in step. Its reads stand for those of all: each of its records is asked for
/// as often as `engines` of them would be, so that all engines together ask as one does.
#[derive(Debug, Clone)]
struct OwnInserts {
    engines: u64,
    /// Inserts of all engines in earlier phases: they are all there.
    earlier: u64,
    /// Ranks of those old enough to be readable, in order.
    readable: Vec<u64>,
    /// (number, rank) of the others.
    recent: VecDeque<(u64, u64)>,
}

impl OwnInserts {
    fn new(share: EngineShare, earlier: u64) -> Self {
        Self {
            engines: u64::from(share.count),
            earlier,
            readable: Vec::new(),
            recent: VecDeque::new(),
        }
    }

    fn note(&mut self, draft: &Draft) {
        if draft.kind == Kind::Insert {
            self.recent.push_back((draft.number, draft.rank));
        }
    }

    fn advance(&mut self, before: u64) {
        let old = self.recent.partition_point(|(number, _)| *number < before);
        let ranks = self.recent.drain(..old).map(|(_, rank)| rank);
        self.readable.extend(ranks);
    }

    /// How many records a law is to draw from.
    fn readable(&self, records: u64) -> u64 {
        records + self.earlier + self.readable.len() as u64 * self.engines
    }

    /// The record that a draw of them means.
    fn rank(&self, records: u64, drawn: u64) -> u64 {
        match drawn.checked_sub(records + self.earlier) {
            Some(new) => self.readable[(new / self.engines) as usize],
            None => drawn,
        }
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
    /// Of engines that are not in step: this engine's inserts of the phase.
    own: Option<OwnInserts>,
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
            own: None,
        }
    }

    /// Count the inserts before `number`, and those numbered at most `number` - lag.
    #[inline]
    fn advance(&mut self, number: u64) {
        if self.kinds.has_inserts() {
            self.before.advance(&self.kinds, number);
            let readable_before = number.saturating_add(1).saturating_sub(self.lag);
            self.seen.advance(&self.kinds, readable_before);
            if let Some(own) = &mut self.own {
                own.advance(readable_before);
            }
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
        let mut draw = self.rank_source.draw(draft.number);
        if let Some(own) = &self.own {
            let drawn = self
                .ranks
                .draw(&mut draw, draft.number, own.readable(records));
            return own.rank(records, drawn);
        }
        let readable = records + self.seen.count;
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
            _ => {}
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
