//! A scan whose calls are tried again.

use super::Client;
use crate::attempts::{Answer, Attempts, Failed, timed_out};
use crate::call::Scan;
use crate::cell::Row;
use crate::once::{Batch, Scanner};
use crate::shared::Table;
use std::collections::VecDeque;

/// Reads a range of rows. Every batch is an operation of its own, with its own deadline.
#[derive(Debug)]
pub struct ScanOperation {
    client: Client,
    scanner: Scanner,
    /// Of [`Self::next_row`].
    rows: VecDeque<Row>,
}

impl ScanOperation {
    pub(crate) fn new(client: Client, table: &Table, scan: Scan) -> Self {
        let scanner = client.once().scan(table, scan);
        Self {
            client,
            scanner,
            rows: VecDeque::new(),
        }
    }

    /// The next rows, at least one; None after the last.
    pub async fn next_batch(&mut self) -> Result<Option<Answer<Vec<Row>>>, Failed> {
        let mut attempts = Attempts::begin(&self.client.core.config);
        loop {
            let patience = attempts.patience();
            self.scanner.set_within(patience);
            let call = tokio::time::timeout(patience, self.scanner.next_batch());
            match call.await.unwrap_or_else(|_| Err(timed_out(patience))) {
                Ok(None) => return Ok(None),
                Ok(Some(Batch { rows, .. })) if rows.is_empty() => {}
                Ok(Some(Batch { rows, stamps })) => {
                    return Ok(Some(Answer {
                        value: rows,
                        stamps,
                        failed: attempts.into_failed(),
                    }));
                }
                Err(error) => attempts.failed(error).await?,
            }
        }
    }

    /// The next row; None after the last.
    pub async fn next_row(&mut self) -> Result<Option<Row>, Failed> {
        while self.rows.is_empty() {
            match self.next_batch().await? {
                Some(answer) => self.rows.extend(answer.value),
                None => return Ok(None),
            }
        }
        Ok(self.rows.pop_front())
    }

    /// See [`Scanner::renew`]. One attempt: if it fails, the next batch opens a new scanner.
    pub async fn renew(&mut self) {
        let _a_new_one_is_opened = self.scanner.renew().await;
    }
}
