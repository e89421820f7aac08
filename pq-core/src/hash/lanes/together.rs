//! Several clients as one.

use super::{Absorbed, Client, Demand, Midway, Start, serve};
use crate::arch::Backend;

/// Computes all sponges of all `clients`, side by side.
///
/// What the clients are is public: how many there are and which places have none, as well as
/// whatever shows in the time that [`serve`] takes for one of them.
pub(crate) fn serve_together<B: Backend, C: Client>(b: B, clients: &mut [Option<C>]) {
    serve(b, &mut Together { clients, turn: 0 });
}

/// The client that [`serve_together`] serves.
struct Together<'a, C> {
    clients: &'a mut [Option<C>],
    /// Who is asked first.
    ///
    /// Clients take turns, so that the long chains, which they begin with, all begin early and
    /// the short sponges are left for the end, when there are no more chains to fill the lanes.
    turn: usize,
}

/// In all lanes: what one client leaves free, another fills. Everything begun is done, since no
/// client that is served together has sponges that nobody wants in the end.
impl<C: Client> Client for Together<'_, C> {
    /// Whose it is, and the sponge.
    type Sponge = (usize, C::Sponge);

    #[inline(always)]
    fn next(&mut self, midway: &mut Option<Midway>) -> Option<Start<Self::Sponge>> {
        for _ in 0..self.clients.len() {
            let whose = self.turn;
            self.turn = if whose + 1 < self.clients.len() {
                whose + 1
            } else {
                0
            };
            if let Some(client) = &mut self.clients[whose]
                && let Some(start) = client.next(midway)
            {
                return Some(start.map(|sponge| (whose, sponge)));
            }
        }
        None
    }

    #[inline(always)]
    fn absorb(&mut self, (whose, sponge): &mut Self::Sponge, block: &mut [u8]) -> Absorbed {
        match &mut self.clients[*whose] {
            Some(client) => client.absorb(sponge, block),
            None => Absorbed::Nothing,
        }
    }

    #[inline(always)]
    fn pause(&mut self, (whose, sponge): Self::Sponge, midway: Midway) {
        if let Some(client) = &mut self.clients[whose] {
            client.pause(sponge, midway);
        }
    }

    #[inline(always)]
    fn take(&mut self, (whose, sponge): &mut Self::Sponge, block: &[u8]) -> Demand {
        match &mut self.clients[*whose] {
            Some(client) => client.take(sponge, block),
            None => Demand::Done,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::serve_together;
    use crate::arch::{Backend, on_each_backend};
    use crate::hash::lanes::gradual::Gradual;

    /// Several clients side by side, each with a message of its own, and places without one.
    #[test]
    fn clients_together_match_clients_alone() {
        fn check<B: Backend>(b: B, present: &[bool]) {
            let mut clients: [Option<Gradual>; 9] = core::array::from_fn(|n| {
                let client = || Gradual::new(core::array::from_fn(|i| (i * 7 + n) as u8));
                present.get(n)?.then(client)
            });
            serve_together(b, &mut clients[..present.len()]);
            assert!(clients.iter().flatten().all(|client| client.is_right(b)));
        }

        for present in [
            &[][..],
            &[false],
            &[true],
            &[true; 2],
            &[false, true, true, false, false, true],
            &[true; 9],
        ] {
            on_each_backend!(b => check(b, present));
        }
    }
}
