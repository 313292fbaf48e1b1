//! From an operation that was performed to verdicts and samples.

use super::PhaseState;
use crate::operation::{Kind, Outcome};
use crate::recorder::{Class, Sample};
use crate::reply::Reply;
use crate::ticket::{Performed, Ticket};

impl PhaseState {
    /// The outcome after judging what came back: an absence that had to be expected is a success.
    #[inline]
    pub(super) fn judge(
        &mut self,
        ticket: &Ticket,
        did: &Performed,
        reply: &Reply,
    ) -> (Outcome, Class) {
        self.verdicts.checked += reply.checked;
        self.verdicts.corrupt += reply.corrupt;
        self.verdicts.foreign += reply.foreign;
        let deleted = self.ledger.deleted(ticket.draft.rank);
        if let Some(audit) = self.audit.as_mut() {
            let outcome = audit.judge(&self.ledger, ticket, did.outcome, reply, &mut self.verdicts);
            return (outcome, Class::of(outcome));
        }
        if !deleted && self.ledger.stale(&ticket.floors, &reply.versions) {
            self.verdicts.stale += 1;
        }
        let lost = !deleted && self.lost(ticket, did, reply);
        if did.outcome != Outcome::NotFound {
            self.verdicts.lost += u64::from(lost);
            return (did.outcome, Class::of(did.outcome));
        }
        let counts = &mut self.kinds[ticket.draft.kind as usize];
        if ticket.known.unacknowledged {
            self.verdicts.not_yet += 1;
            counts.not_yet += 1;
            return (Outcome::Ok, Class::NotYet);
        }
        self.verdicts.lost += u64::from(lost);
        if self.deletes {
            counts.absent += 1;
            return (Outcome::Ok, Class::Success);
        }
        (Outcome::NotFound, Class::Failure)
    }

    /// Whether a read, or that of a read-modify-write, lacks what was acknowledged. An answer of no rows that is no absence is
    /// from a driver that has no data.
    fn lost(&self, ticket: &Ticket, did: &Performed, reply: &Reply) -> bool {
        let absent = did.outcome == Outcome::NotFound;
        let (read, asked) = match ticket.draft.kind {
            Kind::Read => (did.outcome == Outcome::Ok, ticket.draft.fields),
            Kind::ReadModifyWrite => (did.turn.is_some(), ticket.draft.read_fields),
            _ => return false,
        };
        let judged = absent || (read && reply.rows > 0);
        judged && self.ledger.lost(ticket.known, &ticket.floors, asked, reply)
    }

    /// Samples of an operation, and of its parts if it is a read-modify-write.
    #[inline]
    pub(super) fn record(
        &mut self,
        ticket: &Ticket,
        did: &Performed,
        outcome: Outcome,
        class: Class,
    ) {
        let due = ticket.due.unwrap_or(did.started);
        let whole = Sample {
            kind: ticket.draft.kind,
            outcome,
            class,
            part: false,
            due,
            started: did.started,
            done: did.done,
        };
        self.recorder.record(&whole);
        if ticket.draft.kind != Kind::ReadModifyWrite {
            return;
        }
        let Some(turn) = did.turn else {
            self.part(
                Kind::Read,
                &Sample {
                    kind: Kind::Read,
                    part: true,
                    ..whole
                },
            );
            return;
        };
        let read = Sample {
            kind: Kind::Read,
            outcome: Outcome::Ok,
            class: Class::Success,
            part: true,
            done: turn.read_done,
            ..whole
        };
        self.part(Kind::Read, &read);
        self.part(
            Kind::Update,
            &Sample {
                kind: Kind::Update,
                part: true,
                // In a closed loop due = started, of the parts too.
                due: ticket.due.map_or(turn.update_started, |_| turn.read_done),
                started: turn.update_started,
                ..whole
            },
        );
    }

    /// A sample that is no part of the total.
    pub(super) fn part(&mut self, kind: Kind, sample: &Sample) {
        let counts = &mut self.kinds[kind as usize];
        counts.count += 1;
        counts.within += u64::from(sample.done <= self.window_end);
        counts.outcomes[sample.outcome as usize] += 1;
        self.recorder.record(sample);
    }
}
