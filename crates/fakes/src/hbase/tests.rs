//! Scanners as a region server keeps them.

use super::*;

fn server() -> Hbase {
    let shape = Shape {
        fields: 1,
        length: 8,
    };
    Hbase::new(shape, 1, true)
}

/// What the server makes of a Scan, and what it answers at once.
fn scan(server: &mut Hbase, param: &Message) -> (Step, Vec<u8>) {
    let header = Message::default().number(1, 7).bytes(3, "Scan");
    let body = Message::default()
        .length_delimited(&header.0)
        .length_delimited(&param.0);
    let (mut frame, mut out) = ((body.0.len() as u32).to_be_bytes().to_vec(), Vec::new());
    frame.extend(&body.0);
    match server.take(&frame, &mut true, &mut out) {
        Taken::Whole(_, step) => (step, out),
        other => panic!("a whole call: {other:?}"),
    }
}

/// A call to scanner `id` for so many rows of many.
fn of(id: u64, rows: u64) -> Message {
    Message::default()
        .number(3, id)
        .number(4, rows)
        .number(11, 9)
}

/// A scanner that has given out `row`, of which there is more.
fn open(server: &mut Hbase, row: &[u8]) -> u64 {
    let begins = Message::default()
        .inner(2, &Message::default())
        .number(4, 1)
        .number(11, 10);
    let (Step::Asked(operation), _) = scan(server, &begins) else {
        panic!("it asks for rows");
    };
    let Ticket::Hbase(ticket) = operation.ticket else {
        panic!("it is HBase's");
    };
    let Call::Scan { id, .. } = ticket.call else {
        panic!("it is a Scan");
    };
    let request = operation.request.expect("what is written is kept");
    let rows = vec![(row, vec![Some(&b"value"[..])])];
    server.answer(
        &ticket,
        Fate::Answered,
        Some((&request, rows)),
        &mut Vec::new(),
    );
    id
}

/// Where a further call to scanner `id` goes on; none if it is not open.
fn goes_on(server: &mut Hbase, id: u64) -> Option<Vec<u8>> {
    match scan(server, &of(id, 1)) {
        (Step::Asked(operation), _) => match *operation.request.expect("a request") {
            Request::Scan { from, .. } => Some(from),
            other => panic!("a scan: {other:?}"),
        },
        (Step::Answered, out) => {
            let class = NO_SCANNER.0.as_bytes();
            assert!(out.windows(class.len()).any(|part| part == class));
            None
        }
    }
}

#[test]
fn a_scanner_that_is_not_open_is_unknown() {
    let mut server = server();
    assert_eq!(goes_on(&mut server, 5), None);
    let id = open(&mut server, b"user1");
    assert_eq!(goes_on(&mut server, id + 1), None);
    let (step, _) = scan(&mut server, &of(id, 0).number(5, 1));
    assert!(matches!(step, Step::Answered), "it is closed");
    assert_eq!(goes_on(&mut server, id), None);
}

#[test]
fn a_scanner_that_is_renewed_goes_on_where_it_was() {
    let mut server = server();
    let id = open(&mut server, b"user1");
    let (step, answer) = scan(&mut server, &of(id, 0).number(10, 1));
    assert!(matches!(step, Step::Answered) && !answer.is_empty());
    assert_eq!(goes_on(&mut server, id).as_deref(), Some(&b"user1"[..]));
}
