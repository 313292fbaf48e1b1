use super::*;
use proptest::collection::vec;
use proptest::prelude::*;
use prost::Message;

/// Row, family, qualifier, timestamp, type code, value.
type Parts = (Vec<u8>, Vec<u8>, Vec<u8>, i64, u8, Vec<u8>);

fn parts() -> impl Strategy<Value = Parts> {
    let bytes = |max| vec(any::<u8>(), 0..max);
    (
        bytes(40),
        bytes(20),
        bytes(40),
        any::<i64>(),
        any::<u8>(),
        bytes(300),
    )
}

fn cell(parts: &Parts) -> Cell<'_> {
    Cell {
        row: &parts.0,
        family: &parts.1,
        qualifier: &parts.2,
        timestamp: parts.3,
        kind: CellKind::of_code(parts.4),
        value: &parts.5,
    }
}

fn block(cells: &[Parts]) -> Bytes {
    let mut out = Vec::new();
    for parts in cells {
        cell(parts).write(&mut out);
    }
    out.into()
}

#[test]
fn is_written_as_the_codec_does() {
    let mut out = Vec::new();
    Cell {
        row: b"r1",
        family: b"f",
        qualifier: b"q",
        timestamp: 0x0102_0304_0506_0708,
        kind: CellKind::Put,
        value: b"val",
    }
    .write(&mut out);
    let golden =
        b"\0\0\0\x1b\0\0\0\x10\0\0\0\x03\0\x02r1\x01fq\x01\x02\x03\x04\x05\x06\x07\x08\x04val";
    assert_eq!(out, golden);
}

#[test]
fn tags_behind_the_value_are_skipped() {
    let whole = block(&[(
        b"r".to_vec(),
        b"f".to_vec(),
        b"q".to_vec(),
        1,
        4,
        b"v".to_vec(),
    )]);
    let mut tagged = ((whole.len() - 4 + 3) as u32).to_be_bytes().to_vec();
    tagged.extend(&whole[4..]);
    tagged.extend(b"\0\x01t");
    let mut tagged = Bytes::from(tagged);
    let row = Row::take(&mut tagged, 1).unwrap();
    assert_eq!(row.value(b"f", b"q"), Some(&b"v"[..]));
    assert!(tagged.is_empty());
}

/// A GetResponse whose result has one cell inside.
fn inline_response() -> pb::GetResponse {
    let inline = pb::Cell {
        row: Some(Bytes::from_static(b"r")),
        family: Some(Bytes::from_static(b"f")),
        qualifier: Some(Bytes::from_static(b"q")),
        timestamp: Some(7),
        kind: Some(4),
        value: Some(Bytes::from_static(b"v")),
    };
    let result = pb::Result {
        cell: vec![inline],
        ..pb::Result::default()
    };
    pb::GetResponse {
        result: Some(result),
    }
}

#[test]
fn inline_cells_become_a_row() {
    let result = inline_response().result.unwrap();
    let row = Row::of_result(&result, &mut Bytes::new()).unwrap();
    assert_eq!((row.key(), row.len(), row.exists()), (&b"r"[..], 1, true));
    assert_eq!(row.value(b"f", b"q"), Some(&b"v"[..]));
    assert_eq!(row.value(b"f", b"other"), None);
}

#[test]
fn inline_cells_are_received_too() {
    let response = inline_response();
    let row = Row::of_result(response.result.as_ref().unwrap(), &mut Bytes::new()).unwrap();
    let response = response.encode_to_vec();
    let received = Received::of_response(&response, &[]).unwrap();
    assert!(received.cells().eq(row.cells()) && !received.is_empty());
}

#[test]
fn a_response_without_a_result_has_no_cells() {
    let processed = pb::MutateResponse {
        result: None,
        processed: Some(true),
    };
    let response = processed.encode_to_vec();
    assert!(Received::of_response(&response, &[]).is_some_and(|row| row.is_empty()));
    assert!(Received::of_response(&[], &[]).is_some_and(|row| row.is_empty()));
}

proptest! {
    /// Read where they lie, answers say what they say when they are decoded, and what is behind the row's cells is left alone.
    #[test]
    fn cells_are_received_as_a_row_is_taken(
        cells in vec(parts(), 0..5),
        behind in vec(any::<u8>(), 0..9),
        exists: Option<bool>,
        partial: Option<bool>,
        wrong in 0..2,
    ) {
        let mut bytes = block(&cells).to_vec();
        bytes.extend(behind);
        let result = pb::Result {
            associated_cell_count: Some(cells.len() as i32 + wrong),
            exists,
            partial,
            ..pb::Result::default()
        };
        let row = Row::of_result(&result, &mut Bytes::from(bytes.clone()));
        let response = pb::GetResponse { result: Some(result) }.encode_to_vec();
        let received = Received::of_response(&response, &bytes);
        prop_assert_eq!(row.is_some(), received.is_some());
        if let (Some(row), Some(received)) = (row, received) {
            prop_assert_eq!(row.is_empty(), received.is_empty());
            prop_assert!(received.cells().eq(row.cells()));
        }
    }

    #[test]
    fn no_bytes_make_receiving_panic(response: Vec<u8>, block: Vec<u8>) {
        let _none_or_some = Received::of_response(&response, &block);
    }

    #[test]
    fn blocks_are_read_back(cells in vec(parts(), 0..20)) {
        let mut bytes = block(&cells);
        let row = Row::take(&mut bytes, cells.len()).unwrap();
        prop_assert!(bytes.is_empty());
        prop_assert_eq!(row.len(), cells.len());
        let expected: Vec<_> = cells.iter().map(cell).collect();
        prop_assert_eq!(row.cells().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn rows_share_a_block(sizes in vec(0_usize..5, 0..6), one in parts()) {
        let all: usize = sizes.iter().sum();
        let mut bytes = block(&vec![one; all]);
        let rows: Vec<_> = sizes.iter().map(|n| Row::take(&mut bytes, *n).unwrap()).collect();
        prop_assert!(bytes.is_empty());
        prop_assert_eq!(Row::join(&rows).len(), all);
        prop_assert_eq!(Row::join(&rows).cells().count(), all);
        prop_assert!(Row::take(&mut bytes, 1).is_none());
    }

    #[test]
    fn a_cut_block_is_refused(cells in vec(parts(), 1..4), cut in any::<prop::sample::Index>()) {
        let whole = block(&cells);
        let mut bytes = whole.slice(..cut.index(whole.len()));
        prop_assert!(Row::take(&mut bytes, cells.len()).is_none());
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in vec(any::<u8>(), 0..200), cells in 0_usize..5) {
        drop(Row::take(&mut bytes.into(), cells));
    }
}
