use super::*;
use proptest::prelude::*;

/// Frames of `length, id, body`, a byte each for the first two; identifier 255 answers nothing.
#[derive(Debug)]
struct Short;

impl Framing for Short {
    const IDENTIFIERS: usize = 4;

    fn length(received: &[u8]) -> Result<Option<usize>, Malformed> {
        match received.first() {
            Some(0..2) => Err(Malformed("shorter than its header")),
            length => Ok(length.map(|length| usize::from(*length))),
        }
    }

    fn identifier(frame: &[u8]) -> Result<Option<u32>, Malformed> {
        Ok((frame[1] != 255).then_some(frame[1].into()))
    }
}

type Connection = Multiplexer<Short, &'static str>;

fn ask(connection: &mut Connection, tag: &'static str) -> Result<u32, Full> {
    connection.request(tag, |id, out| out.extend([3, id as u8, b'?']))
}

fn receive(connection: &mut Connection, bytes: &[u8], now_ns: u64) {
    let room = connection.room().expect("frames");
    room[..bytes.len()].copy_from_slice(bytes);
    connection.received(bytes.len(), now_ns);
}

/// Write all that waits, at `now_ns`.
fn write(connection: &mut Connection, now_ns: u64) -> Vec<u8> {
    let bytes = connection.outgoing(|| now_ns).to_vec();
    connection.wrote(bytes.len());
    bytes
}

#[test]
fn requests_leave_together_and_are_answered_in_any_order_with_their_own_clocks() {
    let mut connection = Connection::new(100, 0);
    assert_eq!(ask(&mut connection, "first"), Ok(0));
    assert_eq!(ask(&mut connection, "second"), Ok(1));
    assert_eq!(write(&mut connection, 10), [3, 0, b'?', 3, 1, b'?']);
    receive(&mut connection, &[4, 1, b'b', b'b', 3, 0], 20);
    let answer = connection.next_answer().unwrap().unwrap();
    assert_eq!(
        (answer.tag, answer.sent_ns, answer.received_ns),
        (Some("second"), 10, 20)
    );
    assert_eq!(connection.frame(), [4, 1, b'b', b'b']);
    assert_eq!(connection.next_answer(), Ok(None));
    receive(&mut connection, b"a", 30);
    let answer = connection.next_answer().unwrap().unwrap();
    assert_eq!((answer.tag, answer.received_ns), (Some("first"), 30));
    let expected = Traffic {
        reads: 2,
        bytes_in: 7,
        writes: 1,
        bytes_out: 6,
        requests: 2,
        answers: 2,
    };
    assert_eq!(connection.traffic(), expected);
}

#[test]
fn a_request_is_stamped_by_the_write_that_was_handed_it_and_not_by_one_before() {
    let mut connection = Connection::new(100, 0);
    ask(&mut connection, "first").unwrap();
    assert_eq!(connection.outgoing(|| 10).len(), 3);
    connection.wrote(1);
    ask(&mut connection, "second").unwrap();
    assert_eq!(connection.outgoing(|| 20), [0, b'?', 3, 1, b'?']);
    connection.wrote(5);
    assert!(connection.outgoing(|| panic!("nothing is sent")).is_empty());
    receive(&mut connection, &[2, 0, 2, 1], 30);
    let sent: Vec<_> = std::iter::from_fn(|| connection.next_answer().unwrap())
        .map(|answer| answer.sent_ns)
        .collect();
    assert_eq!(sent, [10, 20]);
}

#[test]
fn an_abandoned_identifier_is_not_used_again_before_its_answer_which_nobody_gets() {
    let mut connection = Connection::new(100, 0);
    let late = ask(&mut connection, "late").unwrap();
    write(&mut connection, 10);
    assert_eq!(connection.abandon(late), 10);
    assert_eq!(ask(&mut connection, "next"), Ok(1));
    receive(&mut connection, &[2, 0, 2, 1], 20);
    let answer = connection.next_answer().unwrap().unwrap();
    assert_eq!(answer.tag, Some("next"));
    assert_eq!(connection.next_answer(), Ok(None));
    assert_eq!(
        (connection.traffic().answers, ask(&mut connection, "again")),
        (2, Ok(1))
    );
    assert_eq!(ask(&mut connection, "more"), Ok(late));
}

#[test]
fn a_request_that_could_not_be_encoded_leaves_neither_bytes_nor_an_identifier_behind() {
    let mut connection = Connection::new(100, 0);
    ask(&mut connection, "sound").unwrap();
    for _ in 0..2 * Short::IDENTIFIERS {
        let broken = connection.request("broken", |id, out| out.extend([9, id as u8]));
        connection.cancel(broken.expect("an identifier"));
    }
    assert_eq!(connection.unanswered(), 1);
    assert_eq!(ask(&mut connection, "next"), Ok(1));
    assert_eq!(write(&mut connection, 10), [3, 0, b'?', 3, 1, b'?']);
    assert_eq!(connection.traffic().requests, 2);
    assert_eq!(connection.close(), ["sound", "next"]);
}

#[test]
fn an_answer_may_come_until_it_has_come_whoever_waits_for_it() {
    let mut connection = Connection::new(100, 0);
    let late = ask(&mut connection, "late").unwrap();
    ask(&mut connection, "next").unwrap();
    write(&mut connection, 10);
    connection.abandon(late);
    assert_eq!(connection.unanswered(), 2);
    receive(&mut connection, &[2, late as u8], 20);
    assert_eq!(connection.next_answer(), Ok(None));
    assert_eq!(connection.unanswered(), 1);
    connection.close();
    assert_eq!(connection.unanswered(), 0);
}

#[test]
fn no_request_is_taken_beyond_the_limit_of_bytes_or_identifiers() {
    let mut connection = Connection::new(6, 0);
    ask(&mut connection, "a").unwrap();
    ask(&mut connection, "b").unwrap();
    assert_eq!(ask(&mut connection, "c"), Err(Full));
    write(&mut connection, 1);
    ask(&mut connection, "c").unwrap();
    ask(&mut connection, "d").unwrap();
    write(&mut connection, 1);
    assert_eq!(ask(&mut connection, "e"), Err(Full), "four identifiers");
}

#[test]
fn what_was_delivered_before_the_end_is_answered_and_only_the_rest_is_lost() {
    let mut connection = Connection::new(100, 0);
    for tag in ["a", "b", "c"] {
        ask(&mut connection, tag).unwrap();
    }
    write(&mut connection, 1);
    receive(&mut connection, &[2, 1, 2], 2);
    assert_eq!(connection.next_answer().unwrap().unwrap().tag, Some("b"));
    assert_eq!(connection.next_answer(), Ok(None));
    assert_eq!(connection.close(), ["a", "c"]);
    assert_eq!(connection.waiting(), 0);
}

#[test]
fn bytes_of_another_protocol_are_refused() {
    let mut connection = Connection::new(100, 0);
    receive(&mut connection, &[1], 1);
    assert!(connection.next_answer().is_err() && connection.room().is_err());
    let mut connection = Connection::new(100, 0);
    receive(&mut connection, &[2, 0], 1);
    assert!(connection.next_answer().is_err(), "nothing was asked");
}

#[test]
fn a_frame_that_answers_nothing_is_handed_out_without_a_tag() {
    let mut connection = Connection::new(100, 0);
    receive(&mut connection, &[3, 255, b'!'], 1);
    assert_eq!(connection.next_answer().unwrap().unwrap().tag, None);
    assert_eq!(connection.frame(), [3, 255, b'!']);
    assert_eq!(connection.next_answer(), Ok(None));
}

/// Frames whose first four bytes say how long they are.
#[derive(Debug)]
struct Long;

impl Framing for Long {
    const IDENTIFIERS: usize = 1;

    fn length(received: &[u8]) -> Result<Option<usize>, Malformed> {
        let length = received.first_chunk::<4>();
        Ok(length.map(|length| u32::from_be_bytes(*length) as usize))
    }

    fn identifier(_: &[u8]) -> Result<Option<u32>, Malformed> {
        Ok(None)
    }
}

#[test]
fn frames_that_are_kept_stay_as_they_were_and_those_behind_them_come_whole() {
    let frame = |length: usize, fill: u8| {
        let mut frame = vec![fill; length];
        frame[..4].copy_from_slice(&(length as u32).to_be_bytes());
        frame
    };
    let frames = [(50, 1), (300_000, 2), (70, 3), (200_000, 4), (90_000, 5)];
    let frames = frames.map(|(length, fill)| frame(length, fill));
    let stream = frames.concat();
    let (mut incoming, mut rest, mut kept) = (Incoming::<Long>::default(), &stream[..], Vec::new());
    while !rest.is_empty() {
        let room = incoming.room().expect("frames");
        let count = room.len().min(rest.len());
        room[..count].copy_from_slice(&rest[..count]);
        incoming.received(count);
        rest = &rest[count..];
        while incoming.next_frame().expect("frames").is_some() {
            kept.push(incoming.take_frame());
        }
    }
    assert!(
        kept.iter()
            .map(|frame| &frame[..])
            .eq(frames.iter().map(|frame| &frame[..]))
    );
}

#[test]
fn what_is_taken_to_be_written_makes_room_for_more() {
    let mut requests = Requests::new(3, 9);
    let ask = |requests: &mut Requests<u8>| requests.request(7, |_, out| out.extend(b"ask"));
    assert_eq!((ask(&mut requests), ask(&mut requests)), (Ok(0), Err(Full)));
    let mut writing = Vec::new();
    assert_eq!(requests.take(&mut writing, || 10), 1);
    assert_eq!((&writing[..], requests.waiting()), (&b"ask"[..], 0));
    assert_eq!(ask(&mut requests), Ok(1));
    assert_eq!(requests.answered(0), Ok(Some((7, 10))));
    assert_eq!(requests.answered(1), Ok(Some((7, 0))), "no write had it");
}

proptest! {
    #[test]
    fn however_bytes_arrive_every_answer_comes_whole(
        bodies in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..200), 1..50),
        cuts in prop::collection::vec(1_usize..300, 1..50),
    ) {
        let mut connection = Connection::new(usize::MAX, 0);
        let stream: Vec<u8> = bodies
            .iter()
            .flat_map(|body| [&[body.len() as u8 + 2, 255][..], body].concat())
            .collect();
        let (mut rest, mut found) = (&stream[..], Vec::new());
        for cut in cuts.iter().cycle() {
            let (piece, later) = rest.split_at((*cut).min(rest.len()));
            receive(&mut connection, piece, 1);
            while connection.next_answer().unwrap().is_some() {
                found.push(connection.frame()[2..].to_vec());
            }
            rest = later;
            if rest.is_empty() {
                break;
            }
        }
        prop_assert_eq!(found, bodies);
    }
}
