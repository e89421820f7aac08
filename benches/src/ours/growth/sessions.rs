//! Sessions that a server keeps for its clients.

use core::hint::black_box;

use rustls::server::ProducesTickets;
use rustls_pq::{TicketOptions, Tickets};

use crate::timing::Passes;

const SESSIONS: usize = 100;

/// One byte more than what goes into a ticket.
const SESSION: [u8; Tickets::MAX_STATELESS_LEN + 1] = [7; Tickets::MAX_STATELESS_LEN + 1];

pub(super) fn keeping(size: usize) -> Passes<'static> {
    let options = TicketOptions::default().with_stored_bytes((size + SESSIONS) * 2 * SESSION.len());
    let tickets = Tickets::with_options(options).expect("tickets");
    for _ in 0..size {
        tickets.encrypt(&SESSION).expect("a ticket");
    }
    Passes::new(SESSIONS, move || {
        for _ in 0..SESSIONS {
            let ticket = tickets.encrypt(black_box(&SESSION)).expect("a ticket");
            let session = tickets.decrypt(&ticket).expect("the session");
            assert_eq!(session.len(), SESSION.len());
        }
    })
}
