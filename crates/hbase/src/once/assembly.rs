//! Whole rows out of the parts in which servers send long ones.

use crate::cell::Row;

/// The beginning of a row whose end has not come yet.
#[derive(Debug, Default)]
pub(super) struct Assembly {
    parts: Vec<Row>,
}

impl Assembly {
    /// A result came: a whole row, or a part of one after which more may follow (`partial`). Complete rows go to `rows`.
    pub(super) fn push(&mut self, result: Row, partial: bool, rows: &mut Vec<Row>) {
        if result.is_empty() {
            return; // the server had no more of the row than it sent before
        }
        if self
            .parts
            .first()
            .is_some_and(|begun| begun.key() != result.key())
        {
            self.finish(rows);
        }
        self.parts.push(result);
        if !partial {
            self.finish(rows);
        }
    }

    /// Nothing more comes of the row begun, if any.
    pub(super) fn finish(&mut self, rows: &mut Vec<Row>) {
        if !self.parts.is_empty() {
            rows.push(Row::join(&self.parts));
            self.parts.clear();
        }
    }

    /// The row begun will be read again from its beginning.
    pub(super) fn forget(&mut self) {
        self.parts.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::{Cell, CellKind};
    use proptest::collection::vec;
    use proptest::prelude::*;

    /// `cells` cells of row `key`, beginning with column `first`.
    fn part(key: u8, first: usize, cells: usize) -> Row {
        let mut block = Vec::new();
        for column in first..first + cells {
            Cell {
                row: &[key],
                family: b"f",
                qualifier: &column.to_be_bytes(),
                timestamp: 1,
                kind: CellKind::Put,
                value: b"v",
            }
            .write(&mut block);
        }
        Row::take(&mut block.into(), cells).unwrap()
    }

    proptest! {
        /// Rows cut anywhere come out whole and in order. Servers may mark a row's last part as partial too, when they cannot
        /// know that it is the last: the next row, or the end of the region, ends it then.
        #[test]
        fn parts_become_rows(rows in vec((vec(1_usize..4, 1..5), any::<bool>()), 0..10)) {
            let (mut assembly, mut out) = (Assembly::default(), Vec::new());
            for (key, (parts, unsure)) in rows.iter().enumerate() {
                let mut first = 0;
                for (i, cells) in parts.iter().enumerate() {
                    let last = i + 1 == parts.len();
                    assembly.push(part(key as u8, first, *cells), !last || *unsure, &mut out);
                    first += cells;
                }
            }
            assembly.finish(&mut out);
            let expected: Vec<_> = rows.iter().enumerate().map(|(key, (parts, _))| part(key as u8, 0, parts.iter().sum())).collect();
            prop_assert_eq!(out, expected);
        }
    }

    #[test]
    fn an_empty_result_is_no_row() {
        let (mut assembly, mut out) = (Assembly::default(), Vec::new());
        assembly.push(part(1, 0, 2), true, &mut out);
        assembly.push(Row::default(), false, &mut out);
        assembly.finish(&mut out);
        assert_eq!(out, [part(1, 0, 2)]);
    }

    #[test]
    fn a_forgotten_row_leaves_nothing() {
        let (mut assembly, mut out) = (Assembly::default(), Vec::new());
        assembly.push(part(1, 0, 2), true, &mut out);
        assembly.forget();
        assembly.push(part(1, 0, 3), false, &mut out);
        assert_eq!(out, [part(1, 0, 3)]);
    }
}
