//! Every acknowledged write is read back: what is lost, what is stale, and of which records, by the first of them.

use crate::counts::Verdicts;
use crate::generate::values::LOADED;
use crate::ledger::Ledger;
use crate::operation::Outcome;
use crate::reply::Reply;
use crate::summary::{Example, Findings};
use crate::ticket::Ticket;

/// What an audit has found so far.
#[derive(Debug, Clone)]
pub struct Audit {
    most: usize,
    found: Vec<Fault>,
    counts: Findings,
}

/// One fault, by rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Fault {
    rank: u64,
    what: What,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    /// The whole record.
    Lost,
    /// A field of a record that is there.
    FieldLost(u16),
    /// A field that holds what was written before the last acknowledged write.
    Stale {
        field: u16,
        found: u64,
        acknowledged: u64,
    },
}

impl Audit {
    /// An audit that keeps the first `most` faults.
    pub fn new(most: usize) -> Self {
        Self {
            most,
            found: Vec::new(),
            counts: Findings::default(),
        }
    }

    /// Judge what a record's read brought; a record that is not there is a failure of kind `not_found`.
    pub fn judge(
        &mut self,
        ledger: &Ledger,
        ticket: &Ticket,
        outcome: Outcome,
        reply: &Reply,
        verdicts: &mut Verdicts,
    ) -> Outcome {
        let rank = ticket.draft.rank;
        match outcome {
            Outcome::NotFound => {
                self.counts.records += 1;
                self.counts.lost += 1;
                verdicts.lost += 1;
                self.keep(rank, What::Lost);
            }
            Outcome::Ok => {
                self.counts.records += 1;
                self.fields(ledger, ticket, reply, verdicts);
            }
            _ => {} // what was not read is what is left of those to be read
        }
        outcome
    }

    fn fields(&mut self, ledger: &Ledger, ticket: &Ticket, reply: &Reply, verdicts: &mut Verdicts) {
        let rank = ticket.draft.rank;
        let whole = ledger.whole(rank);
        // A value that could not be read for what it is was counted as corrupt or foreign already.
        let unread = reply.corrupt + reply.foreign;
        let mut lost = 0;
        for field in 0..ledger.fields() {
            let floor = ticket.floors.get(usize::from(field)).copied().unwrap_or(0);
            let held = reply.versions.iter().find(|(of, _)| *of == field);
            match held {
                Some((_, number)) if ledger.older(&ticket.floors, field, *number) => {
                    self.counts.stale += 1;
                    verdicts.stale += 1;
                    let found = number & !LOADED;
                    let acknowledged = floor - 1;
                    self.keep(
                        rank,
                        What::Stale {
                            field,
                            found,
                            acknowledged,
                        },
                    );
                }
                None if whole || floor > 0 => {
                    lost += 1;
                    if lost > unread {
                        self.counts.fields_lost += 1;
                        verdicts.lost += 1;
                        self.keep(rank, What::FieldLost(field));
                    }
                }
                _ => {}
            }
        }
    }

    fn keep(&mut self, rank: u64, what: What) {
        if self.found.len() < self.most {
            self.found.push(Fault { rank, what });
        }
    }

    /// The counts, and the faults by their keys. Of `asked` records those without an answer could not be read, also those
    /// that an audit which was stopped did not come to.
    pub fn findings(self, asked: u64, key: impl Fn(u64) -> String) -> Findings {
        let examples = self.found.iter().map(|fault| example(fault, &key));
        Findings {
            examples: examples.collect(),
            unread: asked.saturating_sub(self.counts.records),
            ..self.counts
        }
    }
}

fn example(fault: &Fault, key: &impl Fn(u64) -> String) -> Example {
    let key = key(fault.rank);
    match fault.what {
        What::Lost => Example {
            key,
            fault: "lost".into(),
            ..Example::default()
        },
        What::FieldLost(field) => Example {
            key,
            fault: "field_lost".into(),
            field: Some(field),
            ..Example::default()
        },
        What::Stale {
            field,
            found,
            acknowledged,
        } => Example {
            key,
            fault: "stale".into(),
            field: Some(field),
            found: Some(found),
            acknowledged: Some(acknowledged),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Draft;
    use crate::plan::EngineShare;
    use serde_json::json;

    /// What an audit says of record 3, which was loaded, and whose field 1 was written by operation 7.
    fn audited(outcome: Outcome, versions: &[(u16, u64)]) -> (Findings, Verdicts) {
        let workload = json!({"records": 10, "mix": {"read": 1}, "request": {"kind": "uniform"}, "verify": "full",
                              "fields": {"count": 3}});
        let workload = serde_json::from_value(workload).expect("a workload");
        let mut ledger = Ledger::new(&workload, EngineShare::default());
        ledger.loaded(3);
        ledger.written(3, 7, std::iter::once(1));
        let mut ticket = Ticket {
            draft: Draft {
                rank: 3,
                ..Draft::default()
            },
            ..Ticket::default()
        };
        ticket.known = ledger.known(3, &mut ticket.floors);
        let reply = Reply {
            versions: versions.into(),
            ..Reply::default()
        };
        let (mut audit, mut verdicts) = (Audit::new(2), Verdicts::default());
        audit.judge(&ledger, &ticket, outcome, &reply, &mut verdicts);
        (audit.findings(1, |rank| format!("user{rank}")), verdicts)
    }

    #[test]
    fn a_record_with_all_its_newest_fields_is_sound() {
        let loaded = LOADED | 3;
        for newest in [7, 9] {
            let (found, _) = audited(Outcome::Ok, &[(0, loaded), (1, newest), (2, loaded)]);
            assert_eq!(
                (found.records, found.lost, found.fields_lost, found.stale),
                (1, 0, 0, 0)
            );
            assert!(found.examples.is_empty());
        }
    }

    #[test]
    fn a_record_that_is_gone_is_lost() {
        let (found, verdicts) = audited(Outcome::NotFound, &[]);
        assert_eq!((found.lost, verdicts.lost), (1, 1));
        assert_eq!(
            (
                found.examples[0].key.as_str(),
                found.examples[0].fault.as_str()
            ),
            ("user3", "lost")
        );
    }

    #[test]
    fn a_replica_that_kept_one_updated_field_and_lost_the_others_is_found() {
        let (found, verdicts) = audited(Outcome::Ok, &[(1, 7)]);
        assert_eq!((found.fields_lost, found.stale, verdicts.lost), (2, 0, 2));
        let fields: Vec<_> = found.examples.iter().map(|e| e.field).collect();
        assert_eq!(fields, [Some(0), Some(2)]);
    }

    #[test]
    fn a_field_older_than_its_last_acknowledged_write_is_stale() {
        let loaded = LOADED | 3;
        let (found, verdicts) = audited(Outcome::Ok, &[(0, loaded), (1, loaded), (2, loaded)]);
        assert_eq!((found.stale, found.fields_lost, verdicts.stale), (1, 0, 1));
        let stale = &found.examples[0];
        assert_eq!(
            (stale.field, stale.found, stale.acknowledged),
            (Some(1), Some(3), Some(7))
        );
    }

    #[test]
    fn a_record_that_could_not_be_read_is_not_judged() {
        let (found, _) = audited(Outcome::Timeout, &[]);
        assert_eq!((found.records, found.unread, found.lost), (0, 1, 0));
    }

    #[test]
    fn what_a_stopped_audit_did_not_come_to_is_unread() {
        let found = Audit::new(2).findings(90, |rank| format!("user{rank}"));
        assert_eq!((found.records, found.unread, found.lost), (0, 90, 0));
    }
}
