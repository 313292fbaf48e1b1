use super::*;
use crate::generate::Draft;
use crate::operation::{FieldSet, Operation};
use crate::reply::{Batch, Stamps};
use serde_json::json;

const MS: u64 = 1_000_000;
/// When every operation here is taken up.
const NOW: u64 = 1000 * MS;

fn tools(retry: &str) -> Tools {
    let plan: Plan = serde_json::from_value(json!({
        "plan_format": crate::plan::PLAN_FORMAT, "seed": 1, "out": "/nowhere", "driver": {"kind": "null"}, "phases": [],
        "workload": {"records": 10, "mix": {"read": 1}, "request": {"kind": "uniform"}},
        "timeout_ms": 200, "attempt_timeout_ms": 150, "retry": retry,
    }))
    .expect("a plan");
    Tools {
        generator: Arc::new(Generator::new(&plan).expect("a sound plan")),
        policy: Policy::new(&plan),
    }
}

/// One client, and what it has been told to do next.
struct Client {
    tools: Tools,
    ticket: Ticket,
    exchange: Exchange,
    progress: Progress,
}

impl Client {
    /// It has taken up an operation of `kind`.
    fn at(kind: Kind, retry: &str) -> Self {
        let draft = Draft {
            kind,
            number: 1,
            rank: 1,
            key: 1,
            fields: FieldSet::All,
            read_fields: FieldSet::All,
            scan_length: 0,
            loaded: false,
        };
        let ticket = Ticket {
            draft,
            judge: true,
            ..Ticket::default()
        };
        let mut client = Self {
            tools: tools(retry),
            ticket,
            exchange: Exchange::default(),
            progress: Progress::default(),
        };
        let Self {
            tools,
            ticket,
            exchange,
            progress,
        } = &mut client;
        progress.begin(tools, ticket, exchange, NOW);
        client
    }

    /// Its attempt was at the socket from `sent` to `received`, ms after [`NOW`], and has ended.
    fn ends(&mut self, outcome: Outcome, sent: u64, received: u64) -> Next {
        self.exchange.reply.stamps = Stamps {
            sent_ns: Some(NOW + sent * MS),
            received_ns: Some(NOW + received * MS),
        };
        self.tell(outcome, received)
    }

    /// Its attempt has ended at `now`, ms after [`NOW`].
    fn tell(&mut self, outcome: Outcome, now: u64) -> Next {
        self.exchange.reply.coordinator = Some(0);
        if outcome != Outcome::Ok {
            self.exchange.reply.error = Some("as the test says".into());
        }
        let Self {
            tools,
            ticket,
            exchange,
            progress,
        } = self;
        progress.ended(&tools.policy, ticket, exchange, outcome, NOW + now * MS)
    }

    /// It pauses after a failure at `now`, ms after [`NOW`], and then tries again.
    fn tries_again(&mut self, outcome: Outcome, sent: u64, received: u64) {
        let Next::Pause(until) = self.ends(outcome, sent, received) else {
            panic!("there is time for another attempt");
        };
        assert!(until > NOW + received * MS);
        self.progress.again(until);
    }
}

fn done(next: Next) -> Performed {
    match next {
        Next::Done(did) => did,
        other => panic!("{other:?}"),
    }
}

#[test]
fn clocks_at_the_socket_are_taken_where_the_driver_knows_them() {
    let did = done(Client::at(Kind::Read, "none").ends(Outcome::Ok, 3, 7));
    assert_eq!((did.started, did.done), (NOW + 3 * MS, NOW + 7 * MS));
}

#[test]
fn without_them_the_clocks_are_those_of_the_call() {
    let did = done(Client::at(Kind::Read, "none").tell(Outcome::Ok, 5));
    assert_eq!((did.started, did.done), (NOW, NOW + 5 * MS));
}

#[test]
fn an_operation_starts_with_its_first_attempt_and_is_done_with_its_last() {
    let mut client = Client::at(Kind::Read, "until-deadline");
    client.tries_again(Outcome::Unavailable, 1, 2);
    assert_eq!(client.progress.attempt(&client.tools.policy).number, 2);
    let did = done(client.ends(Outcome::Ok, 8, 9));
    assert_eq!(did.attempts, 2);
    assert_eq!((did.started, did.done), (NOW + MS, NOW + 9 * MS));
    assert!(
        client.exchange.reply.failure.is_some(),
        "the failure is told"
    );
}

#[test]
fn the_deadline_counts_from_the_taking_and_not_from_the_sending() {
    let mut client = Client::at(Kind::Read, "until-deadline");
    assert_eq!(
        client.progress.gives_up_at(&client.tools.policy),
        NOW + 150 * MS
    );
    client.tries_again(Outcome::Unavailable, 140, 150);
    // 49 ms are left when the first pause of 1 ms is over.
    assert_eq!(
        client.progress.attempt(&client.tools.policy).timeout_ns,
        49 * MS
    );
    assert_eq!(
        client.progress.gives_up_at(&client.tools.policy),
        NOW + 200 * MS
    );
    let did = done(client.tell(Outcome::Timeout, 200));
    assert_eq!((did.outcome, did.attempts), (Outcome::Timeout, 2));
}

#[test]
fn pauses_double_and_failures_that_will_not_pass_are_not_retried() {
    let mut client = Client::at(Kind::Read, "until-deadline");
    for (failed, pause) in [(1, 1), (10, 2), (20, 4)] {
        match client.ends(Outcome::Overloaded, failed, failed) {
            Next::Pause(until) => assert_eq!(until, NOW + (failed + pause) * MS),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(
        done(client.ends(Outcome::Client, 30, 30)).outcome,
        Outcome::Client
    );
    let once = done(Client::at(Kind::Read, "none").ends(Outcome::Overloaded, 1, 2));
    assert_eq!((once.outcome, once.attempts), (Outcome::Overloaded, 1));
}

#[test]
fn a_read_modify_write_turns_where_its_read_was_done() {
    let mut client = Client::at(Kind::ReadModifyWrite, "until-deadline");
    assert_eq!(client.exchange.op.kind, Kind::Read);
    assert!(matches!(client.ends(Outcome::Ok, 1, 2), Next::Attempt));
    assert_eq!(client.exchange.op.kind, Kind::Update);
    assert_eq!(
        client.progress.gives_up_at(&client.tools.policy),
        NOW + 152 * MS
    );
    let did = done(client.ends(Outcome::Ok, 3, 4));
    let turn = did.turn.expect("the read was done");
    assert_eq!(
        (turn.read_done, turn.update_started),
        (NOW + 2 * MS, NOW + 3 * MS)
    );
    assert_eq!((did.started, did.done), (NOW + MS, NOW + 4 * MS));
}

#[test]
fn an_update_that_is_tried_again_keeps_what_its_read_brought() {
    let mut client = Client::at(Kind::ReadModifyWrite, "until-deadline");
    let reply = &mut client.exchange.reply;
    (reply.rows, reply.bytes, reply.checked, reply.corrupt) = (1, 1000, 10, 1);
    reply.versions.push((0, 7));
    assert!(matches!(client.ends(Outcome::Ok, 1, 2), Next::Attempt));
    client.tries_again(Outcome::Timeout, 3, 4);
    let did = done(client.ends(Outcome::Ok, 10, 11));
    let reply = &client.exchange.reply;
    let earlier: Vec<_> = reply
        .earlier
        .iter()
        .map(|one| (one.outcome, one.service_ns))
        .collect();
    assert_eq!(
        earlier,
        [(Outcome::Ok, MS), (Outcome::Timeout, MS)],
        "both of one coordinator"
    );
    assert_eq!(
        (reply.rows, reply.bytes, reply.checked, reply.corrupt),
        (1, 1000, 10, 1)
    );
    assert_eq!((reply.versions.len(), did.attempts), (1, 2));
    let mut read = Client::at(Kind::Read, "until-deadline");
    read.exchange.reply.rows = 1;
    read.tries_again(Outcome::Timeout, 3, 4);
    assert_eq!(read.exchange.reply.rows, 0, "a read begins anew");
}

#[test]
fn a_flush_goes_on_with_what_its_last_attempt_left() {
    let mut client = Client::at(Kind::Insert, "until-deadline");
    client.exchange.reply.batch = Some(Box::new(Batch {
        pending: vec![Operation::default(); 3],
        ..Batch::default()
    }));
    let Client {
        tools,
        exchange,
        progress,
        ..
    } = &mut client;
    progress.begin_flush(&tools.policy, exchange, NOW);
    client.tries_again(Outcome::Unavailable, 1, 2);
    let did = done(client.ends(Outcome::Ok, 5, 6));
    assert_eq!((did.outcome, did.attempts), (Outcome::Ok, 2));
    let batch = client.exchange.reply.batch.expect("it stays for the phase");
    assert_eq!(batch.pending.len(), 3);
}
