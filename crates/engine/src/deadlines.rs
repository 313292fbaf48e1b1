//! When each client must be looked at again: an attempt's end, or a pause's. An attempt that is answered in time costs nothing
//! here: a client's entry is left where it is, and looked at anew when it comes up.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Nothing is waited for.
pub const NEVER: u64 = u64::MAX;

/// One time for each client.
#[derive(Debug, Default)]
pub struct Deadlines {
    /// What each client waits for, and its earliest entry in the heap, ns.
    clients: Vec<(u64, u64)>,
    heap: BinaryHeap<Reverse<(u64, u32)>>,
}

impl Deadlines {
    /// There is one more client.
    pub fn add(&mut self) {
        self.clients.push((NEVER, NEVER));
    }

    /// `client` waits until `at_ns`, and for nothing else.
    #[inline]
    pub fn set(&mut self, client: u32, at_ns: u64) {
        let (wanted, entry) = &mut self.clients[client as usize];
        *wanted = at_ns;
        if at_ns < *entry {
            *entry = at_ns;
            self.heap.push(Reverse((at_ns, client)));
        }
    }

    /// `client` waits for nothing.
    #[inline]
    pub fn clear(&mut self, client: u32) {
        self.clients[client as usize].0 = NEVER;
    }

    /// Nobody must be looked at before this time, ns.
    #[inline]
    pub fn next(&self) -> u64 {
        self.heap.peek().map_or(NEVER, |Reverse((at, _))| *at)
    }

    /// A client whose time has come at `now_ns`; it waits for nothing then.
    pub fn due(&mut self, now_ns: u64) -> Option<u32> {
        while let Some(Reverse((at, client))) = self.heap.peek().copied() {
            if at > now_ns {
                return None;
            }
            self.heap.pop();
            let (wanted, entry) = &mut self.clients[client as usize];
            if *entry != at {
                continue; // an earlier one has taken its place
            }
            *entry = NEVER;
            let waits_until = *wanted;
            if waits_until <= now_ns {
                *wanted = NEVER;
                return Some(client);
            }
            if waits_until < NEVER {
                self.set(client, waits_until);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn clients_come_up_in_the_order_of_their_times() {
        let mut deadlines = Deadlines::default();
        (0..3).for_each(|_| deadlines.add());
        for (client, at) in [(0, 30), (1, 10), (2, 20)] {
            deadlines.set(client, at);
        }
        assert_eq!((deadlines.next(), deadlines.due(9)), (10, None));
        assert_eq!(
            (deadlines.due(25), deadlines.due(25), deadlines.due(25)),
            (Some(1), Some(2), None)
        );
        assert_eq!(deadlines.next(), 30);
    }

    #[test]
    fn a_client_served_in_time_has_one_entry_however_often() {
        let mut deadlines = Deadlines::default();
        deadlines.add();
        for at in 100..10_000 {
            deadlines.set(0, at);
            deadlines.clear(0);
        }
        deadlines.set(0, 20_000);
        assert_eq!(deadlines.heap.len(), 1);
        assert_eq!(deadlines.due(19_999), None);
        assert_eq!((deadlines.next(), deadlines.due(20_000)), (20_000, Some(0)));
        assert_eq!(deadlines.next(), NEVER);
    }

    proptest! {
        #[test]
        fn whatever_is_set_comes_up_at_its_last_time_and_never_else(
            steps in prop::collection::vec((0_u32..5, prop::option::of(1_u64..100), 0_u64..10), 1..200),
        ) {
            let mut deadlines = Deadlines::default();
            (0..5).for_each(|_| deadlines.add());
            let (mut model, mut now) = ([NEVER; 5], 0);
            for (client, wait, passes) in steps {
                let at = wait.map_or(NEVER, |wait| now + wait);
                if wait.is_some() {
                    deadlines.set(client, at);
                } else {
                    deadlines.clear(client);
                }
                model[client as usize] = at;
                now += passes;
                prop_assert!(deadlines.next() <= *model.iter().min().expect("five"));
                while let Some(due) = deadlines.due(now) {
                    prop_assert!(model[due as usize] <= now);
                    model[due as usize] = NEVER;
                }
                prop_assert!(model.iter().all(|at| *at > now));
            }
        }
    }
}
