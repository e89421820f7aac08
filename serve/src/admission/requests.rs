//! The places for requests: with HTTP/2, a connection may have many at a time.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::places::Source;

/// How many requests run, and for whom.
#[derive(Debug)]
pub(crate) struct RequestPlaces {
    most: usize,
    most_per_source: usize,
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    running: usize,
    /// Only sources with requests that run.
    of: HashMap<Source, usize>,
}

impl RequestPlaces {
    pub(crate) fn new(most: usize, most_per_source: usize) -> Self {
        Self {
            most: most.max(1),
            most_per_source: most_per_source.max(1),
            table: Mutex::default(),
        }
    }

    /// A place for a request, if there is one. Clients of Unix sockets have no address, and no share.
    pub(crate) fn take(self: &Arc<Self>, client: Option<IpAddr>) -> Option<RequestPlace> {
        let source = client.map_or(Source::UNIX, Source::of);
        let mut table = self.table();
        if table.running >= self.most {
            return None;
        }
        let of_source = table.of.entry(source).or_default();
        // An entry of zero was not there before, and there is a place for it.
        if source != Source::UNIX && *of_source >= self.most_per_source {
            return None;
        }
        *of_source += 1;
        table.running += 1;
        drop(table);
        Some(RequestPlace {
            places: self.clone(),
            source,
        })
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        // Nothing panics between two changes that belong together.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The place of a request. Dropping it gives it back.
#[derive(Debug)]
pub(crate) struct RequestPlace {
    places: Arc<RequestPlaces>,
    source: Source,
}

impl Drop for RequestPlace {
    fn drop(&mut self) {
        let mut table = self.places.table();
        table.running -= 1;
        if let Some(of_source) = table.of.get_mut(&self.source) {
            *of_source -= 1;
            if *of_source == 0 {
                table.of.remove(&self.source);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_its_share_and_all_have_theirs() {
        let places = Arc::new(RequestPlaces::new(4, 2));
        let address = |text: &str| Some(text.parse().unwrap());
        let one = address("192.0.2.1");
        let first = places.take(one).unwrap();
        let _second = places.take(one).unwrap();
        assert!(places.take(one).is_none());
        // The same subscriber.
        let _third = places.take(address("2001:db8::1")).unwrap();
        let fourth = places.take(address("2001:db8::2")).unwrap();
        drop(first);
        assert!(places.take(address("2001:db8::3")).is_none());
        let again = places.take(one).unwrap();
        assert!(places.take(address("192.0.2.2")).is_none());
        drop((fourth, again));
        // Without an address, all that are left.
        let _unix = [places.take(None).unwrap(), places.take(None).unwrap()];
        assert!(places.take(None).is_none());
        assert_eq!(places.table().of.len(), 3);
    }
}
