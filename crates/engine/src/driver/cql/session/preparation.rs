//! A node that does not know a statement (it joined, or restarted) is taught it once, however many operations wait for that.

use super::super::outcome::Failure;
use super::super::wire::frame::{self, ServerError, opcode};
use super::{CqlSession, Purpose, fail};
use crate::driver::connections::Open;
use crate::driver::session::{Exchange, Turn};
use steelyard_multiplexer::Full;

/// A statement that a node did not know, while it learns it.
pub struct Preparation {
    number: u32,
    text: String,
    /// Who executes it then.
    pub clients: Vec<u32>,
}

impl CqlSession {
    /// Let `client` wait until the node knows the statement `text`.
    #[cold]
    pub(super) fn prepare(
        &mut self,
        open: &mut Open<Self>,
        client: u32,
        text: String,
    ) -> Result<(), Failure> {
        self.state.flights[client as usize].at = Some((open.token(), None));
        let mut under_way = open.kept.preparing.iter_mut();
        if let Some(known) = under_way.find(|known| known.text == text) {
            known.clients.push(client);
            return Ok(());
        }
        self.state.numbered = self.state.numbered.wrapping_add(1);
        let number = self.state.numbered;
        let sent = open.request(Purpose::Preparation(number), |id, out| {
            frame::append(out, id as u16, opcode::PREPARE, |out| {
                frame::bytes(out, text.as_bytes());
            });
        });
        sent.map_err(|Full| Failure::client("the connection takes no request"))?;
        open.kept.preparing.push(Preparation {
            number,
            text,
            clients: vec![client],
        });
        Ok(())
    }

    /// A node has learnt a statement, or refuses it.
    #[cold]
    pub(super) fn prepared(&mut self, open: &mut Open<Self>, number: u32, turn: &mut Turn<'_>) {
        let mut under_way = open.kept.preparing.iter();
        let Some(at) = under_way.position(|known| known.number == number) else {
            return;
        };
        let preparation = open.kept.preparing.swap_remove(at);
        let refused = match frame::take_apart(open.connection.requests.frame()) {
            Ok((header, message)) if header.opcode == opcode::ERROR => {
                ServerError::read(message).ok()
            }
            _ => None,
        };
        for client in preparation.clients {
            if !self.waits_at(client, open.token()) {
                continue; // it was given up meanwhile
            }
            let again = if let Some(error) = &refused {
                Err(Failure::from(error.clone()))
            } else {
                let Exchange { op, .. } = &turn.exchanges[client as usize];
                self.again(open, client, op)
            };
            if let Err(failure) = again {
                fail(client, failure, turn);
            }
        }
    }
}
