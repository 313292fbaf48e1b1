//! One attempt at many items: who serves which, and what became of each.

use super::{Once, garbled};
use crate::attempts::Answer;
use crate::call::{Item, RegionShare, ServerShare};
use crate::cell::Row;
use crate::error::{Error, Exception};
use crate::locate::{Doubt, Wanted};
use crate::pb;
use crate::region::Location;
use crate::rpc::{Reply, Service};
use crate::shared::Table;
use crate::stamps::Stamps;
use std::sync::Arc;

type Outcome = Result<Row, Error>;

/// One attempt at all `items`.
pub(super) async fn multi(
    once: &Once<'_>,
    table: &Table,
    items: &[Item<'_>],
) -> Result<Answer<Vec<Outcome>>, Error> {
    let mut outcomes: Vec<Option<Outcome>> = vec![None; items.len()];
    let shares = divide(once, table, items, &mut outcomes).await;
    let calls = shares.iter().map(|share| async move {
        let request = share.request(items, once.core.nonce_group);
        let doubt = Doubt::new(|| {
            for region in &share.regions {
                table.0.cache().forget(&region.location);
            }
        });
        let outcome = share
            .server
            .call(Service::Client, &request, once.timeout)
            .await;
        doubt.settled();
        outcome
    });
    let replies = futures::future::join_all(calls).await;
    let mut stamps: Option<Stamps> = None;
    for (share, reply) in shares.iter().zip(replies) {
        match reply {
            Ok(reply) => {
                stamps = Some(widen(stamps, reply.stamps));
                distribute(once, table, share, &reply, &mut outcomes);
            }
            Err(error) => {
                for region in &share.regions {
                    fail(once, table, region, &error, &mut outcomes);
                }
            }
        }
    }
    let value = outcomes
        .into_iter()
        .map(|one| one.unwrap_or_else(|| Err(forgotten())))
        .collect();
    Ok(Answer::first(value, stamps.unwrap_or_default()))
}

/// Who serves what. Items that cannot be sent have their outcome already.
async fn divide(
    once: &Once<'_>,
    table: &Table,
    items: &[Item<'_>],
    outcomes: &mut [Option<Outcome>],
) -> Vec<ServerShare> {
    let mut shares: Vec<ServerShare> = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let located = match item.check() {
            Ok(()) => once.locate(table, Wanted::Of(item.row())).await,
            Err(error) => Err(error),
        };
        match located {
            Ok((location, mark)) => give(&mut shares, location, mark, index),
            Err(error) => outcomes[index] = Some(Err(error)),
        }
    }
    shares
}

fn give(shares: &mut Vec<ServerShare>, location: Arc<Location>, mark: u64, index: usize) {
    let found = shares
        .iter()
        .position(|share| Arc::ptr_eq(&share.server, &location.server));
    let at = found.unwrap_or_else(|| {
        shares.push(ServerShare {
            server: location.server.clone(),
            regions: Vec::new(),
        });
        shares.len() - 1
    });
    let regions = &mut shares[at].regions;
    match regions
        .iter_mut()
        .find(|region| Arc::ptr_eq(&region.location, &location))
    {
        Some(region) => region.items.push(index),
        None => regions.push(RegionShare {
            location,
            mark,
            items: vec![index],
        }),
    }
}

/// Give each item its part of a server's answer: regions are in the order asked, items within one in any order.
fn distribute(
    once: &Once<'_>,
    table: &Table,
    share: &ServerShare,
    reply: &Reply,
    outcomes: &mut [Option<Outcome>],
) {
    let response: pb::MultiResponse = match reply.decode(&share.server.address) {
        Ok(response) => response,
        Err(error) => {
            return share
                .regions
                .iter()
                .for_each(|region| fail(once, table, region, &error, outcomes));
        }
    };
    let mut block = reply.cells.clone();
    for (region, result) in share.regions.iter().zip(response.region_action_result) {
        if let Some(pair) = result.exception {
            let exception = Exception::of_pair(pair, &share.server.address, reply.stamps);
            fail(
                once,
                table,
                region,
                &Error::Server(Box::new(exception)),
                outcomes,
            );
            continue;
        }
        for one in result.result_or_exception {
            let Some(outcome) = outcomes.get_mut(one.index.unwrap_or(0) as usize) else {
                continue;
            };
            *outcome = Some(match one.exception {
                Some(pair) => {
                    let exception = Exception::of_pair(pair, &share.server.address, reply.stamps);
                    let error = Error::Server(Box::new(exception));
                    table
                        .0
                        .learn_from(&error, &region.location, region.mark, &once.core.pool);
                    Err(error)
                }
                None => Row::of_result(&one.result.unwrap_or_default(), &mut block)
                    .ok_or_else(|| garbled(&region.location)),
            });
        }
    }
}

/// All items of a region failed alike.
fn fail(
    once: &Once<'_>,
    table: &Table,
    region: &RegionShare,
    error: &Error,
    outcomes: &mut [Option<Outcome>],
) {
    table
        .0
        .learn_from(error, &region.location, region.mark, &once.core.pool);
    for index in &region.items {
        outcomes[*index] = Some(Err(error.clone()));
    }
}

fn forgotten() -> Error {
    Error::Unassigned("of an item that the server's answer left out".to_owned())
}

/// From the first write to the last read.
fn widen(so_far: Option<Stamps>, next: Stamps) -> Stamps {
    so_far.map_or(next, |so_far| Stamps {
        sent_ns: so_far.sent_ns.min(next.sent_ns),
        received_ns: so_far.received_ns.max(next.received_ns),
    })
}
