//! Which request each identifier stands for: a flat table, and a stack of those that are free.

use crate::Malformed;

#[derive(Debug)]
enum Slot<T> {
    Free,
    Waiting {
        tag: T,
        sent_ns: u64,
    },
    /// Nobody waits any more, but the server may still answer: until then the identifier must not be used again.
    Abandoned,
}

#[derive(Debug)]
pub(crate) struct Identifiers<T> {
    slots: Vec<Slot<T>>,
    free: Vec<u32>,
    most: usize,
}

impl<T> Identifiers<T> {
    pub(crate) const fn new(most: usize) -> Self {
        Self {
            slots: Vec::new(),
            free: Vec::new(),
            most,
        }
    }

    /// An identifier for a request tagged with `tag`; none if all are in use.
    pub(crate) fn take(&mut self, tag: T) -> Option<u32> {
        let slot = Slot::Waiting { tag, sent_ns: 0 };
        if let Some(id) = self.free.pop() {
            self.slots[id as usize] = slot;
            return Some(id);
        }
        if self.slots.len() == self.most {
            return None;
        }
        self.slots.push(slot);
        Some(self.slots.len() as u32 - 1)
    }

    /// Request `id`, which no write was handed, was never made.
    pub(crate) fn cancel(&mut self, id: u32) {
        if let Some(slot @ Slot::Waiting { .. }) = self.slots.get_mut(id as usize) {
            *slot = Slot::Free;
            self.free.push(id);
        }
    }

    /// Identifiers in use: the requests whose answers may still come.
    pub(crate) const fn in_use(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Request `id` is handed to its first write.
    pub(crate) fn sent(&mut self, id: u32, now_ns: u64) {
        if let Some(Slot::Waiting { sent_ns, .. }) = self.slots.get_mut(id as usize) {
            *sent_ns = now_ns;
        }
    }

    /// Give request `id` up; when it was sent.
    pub(crate) fn abandon(&mut self, id: u32) -> u64 {
        match self.slots.get_mut(id as usize) {
            Some(slot @ Slot::Waiting { .. }) => {
                let Slot::Waiting { sent_ns, .. } = std::mem::replace(slot, Slot::Abandoned) else {
                    return 0;
                };
                sent_ns
            }
            _ => 0,
        }
    }

    /// Request `id` is answered: its tag and when it was sent; none if nobody waits for it.
    pub(crate) fn answered(&mut self, id: u32) -> Result<Option<(T, u64)>, Malformed> {
        let unasked = Malformed("it answers a request that was not made");
        let slot = self.slots.get_mut(id as usize).ok_or(unasked)?;
        let answered = match std::mem::replace(slot, Slot::Free) {
            Slot::Free => return Err(unasked),
            Slot::Abandoned => None,
            Slot::Waiting { tag, sent_ns } => Some((tag, sent_ns)),
        };
        self.free.push(id);
        Ok(answered)
    }

    /// The tags of all that are waited for; every identifier is free then.
    pub(crate) fn drain(&mut self) -> Vec<T> {
        self.free.clear();
        let waited = self.slots.drain(..).filter_map(|slot| match slot {
            Slot::Waiting { tag, .. } => Some(tag),
            Slot::Free | Slot::Abandoned => None,
        });
        waited.collect()
    }
}
