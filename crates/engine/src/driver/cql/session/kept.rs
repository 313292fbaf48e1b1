//! What is kept with a connection to a node.

use super::super::keeper::Place;
use super::super::patience::{PROBE_AFTER, PROBE_LIMIT};
use super::super::wire::frame::{self, opcode};
use super::{CqlSession, Purpose, preparation::Preparation};
use crate::driver::connections::Open;
use crate::net;
use std::collections::VecDeque;
use std::time::Duration;

/// What waits for a connection, and where it leads.
pub struct Kept {
    pub place: Place,
    /// Its node's index among coordinators.
    pub coordinator: u16,
    /// Clients whose requests found no room.
    pub waiting: VecDeque<u32>,
    pub preparing: Vec<Preparation>,
    /// When it was asked for a sign of life, ns; 0 if it is not.
    probed_ns: u64,
}

impl Kept {
    pub(super) const fn new(place: Place, coordinator: u16) -> Self {
        Self {
            place,
            coordinator,
            waiting: VecDeque::new(),
            preparing: Vec::new(),
            probed_ns: 0,
        }
    }
}

/// Ask for a sign of life when nothing has been received for a while.
pub(super) fn probe(open: &mut Open<CqlSession>, now_ns: u64) -> Result<(), net::Ended> {
    let received = open.connection.requests.received_ns();
    if received > open.kept.probed_ns {
        open.kept.probed_ns = 0;
    }
    let since = |then: u64| Duration::from_nanos(now_ns.saturating_sub(then));
    if open.kept.probed_ns == 0 {
        if since(received) >= PROBE_AFTER {
            let options = |id: u32, out: &mut Vec<u8>| {
                frame::append(out, id as u16, opcode::OPTIONS, |_| ());
            };
            // One that takes no request has others to be answered.
            let _ = open.request(Purpose::Probe, options);
            open.kept.probed_ns = now_ns;
        }
    } else if since(open.kept.probed_ns) >= PROBE_LIMIT {
        return Err(net::Ended("the connection gave no sign of life"));
    }
    Ok(())
}
