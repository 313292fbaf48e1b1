//! Operations: attempts until one succeeds, is useless, or the time is over.

use super::Client;
use crate::attempts::{Answer, Attempts, Failed, timed_out};
use crate::call::Item;
use crate::cell::Row;
use crate::error::{Action, Error};
use crate::once::Once;
use crate::shared::Table;
use crate::stamps::Stamps;

impl Client {
    /// Attempts until one succeeds.
    pub(super) async fn persist<'a, T, F>(
        &'a self,
        attempt: impl Fn(Once<'a>) -> F,
    ) -> Result<Answer<T>, Failed>
    where
        F: Future<Output = Result<Answer<T>, Error>>,
    {
        let mut attempts = Attempts::begin(&self.core.config);
        loop {
            let patience = attempts.patience();
            let call = attempt(self.once().within(patience));
            let error = match tokio::time::timeout(patience, call).await {
                Ok(Ok(answer)) => {
                    return Ok(Answer {
                        failed: attempts.into_failed(),
                        ..answer
                    });
                }
                Ok(Err(error)) => error,
                Err(_) => timed_out(patience),
            };
            attempts.failed(error).await?;
        }
    }

    /// As [`Self::persist`], but only the items that failed are tried again.
    pub(super) async fn persist_multi(
        &self,
        table: &Table,
        items: &[Item<'_>],
    ) -> Result<Answer<Vec<Result<Row, Error>>>, Failed> {
        let mut attempts = Attempts::begin(&self.core.config);
        let mut done: Vec<Option<Result<Row, Error>>> = vec![None; items.len()];
        loop {
            let open: Vec<usize> = (0..items.len())
                .filter(|i| is_open(done[*i].as_ref()))
                .collect();
            let again: Vec<Item<'_>> = open.iter().map(|i| items[*i].clone()).collect();
            let patience = attempts.patience();
            let once = self.once().within(patience);
            let outcome = tokio::time::timeout(patience, once.multi(table, &again)).await;
            let (error, stamps) = match outcome.unwrap_or_else(|_| Err(timed_out(patience))) {
                Ok(answer) => {
                    for (i, result) in open.into_iter().zip(answer.value) {
                        done[i] = Some(result);
                    }
                    (first_open(&done), answer.stamps)
                }
                Err(error) => (Some(error), Stamps::default()),
            };
            let over = match error {
                None => true,
                Some(error) => match attempts.failed(error).await {
                    Ok(()) => false,
                    Err(failed) if done.iter().any(Option::is_none) => return Err(failed),
                    Err(failed) => {
                        attempts.take_back(failed);
                        true
                    }
                },
            };
            if over {
                return Ok(Answer {
                    value: done.into_iter().flatten().collect(),
                    stamps,
                    failed: attempts.into_failed(),
                });
            }
        }
    }
}

/// Not tried yet, or failed with an error that may pass.
fn is_open(done: Option<&Result<Row, Error>>) -> bool {
    match done {
        None => true,
        Some(Ok(_)) => false,
        Some(Err(error)) => error.action() != Action::GiveUp,
    }
}

fn first_open(done: &[Option<Result<Row, Error>>]) -> Option<Error> {
    let mut errors = done.iter().filter_map(|one| one.as_ref()?.as_ref().err());
    errors
        .find(|error| error.action() != Action::GiveUp)
        .cloned()
}
