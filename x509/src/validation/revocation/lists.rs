//! The lists of a policy, found by the names and distribution points of the certificates that they are about.

use alloc::collections::BTreeMap;
use core::cmp::Reverse;
use std::collections::HashMap;

use pki_types::UnixTime;

use super::evidence::{Series, Standing};
use crate::certificate::{
    CanonicalName, Certificate, CertificateRevocationList, Coverage, PointName, Points, Role,
    Scope, UnusableList,
};

#[derive(Debug, Default)]
pub(super) struct Lists {
    /// Those of the latest thisUpdate first.
    lists: Vec<List>,
    by_issuer: HashMap<CanonicalName, Index>,
}

/// A list that can be used.
#[derive(Debug)]
pub(super) struct List {
    pub(super) list: CertificateRevocationList,
    pub(super) next_update: UnixTime,
    scope: Scope,
}

/// The places of an issuer's lists.
#[derive(Debug, Default)]
struct Index {
    without_points: Vec<usize>,
    by_point: HashMap<PointName, Vec<usize>>,
}

impl Index {
    fn add(&mut self, place: usize, points: Option<&[PointName]>) {
        match points {
            None => self.without_points.push(place),
            Some(points) => {
                for point in points {
                    self.by_point.entry(point.clone()).or_default().push(place);
                }
            }
        }
    }

    /// The places of the lists that may be about a certificate with these distribution points, in order, and how much
    /// they say about it. A certificate without such points is on no list that has them (RFC 5280 section 6.3.3).
    fn find(&self, points: &Points) -> BTreeMap<usize, Coverage> {
        let mut found = BTreeMap::new();
        let mut add = |places: &[usize], coverage| {
            for place in places {
                let known = found.entry(*place).or_insert(coverage);
                if coverage == Coverage::Full {
                    *known = coverage;
                }
            }
        };
        add(&self.without_points, Coverage::Full);
        match points {
            Points::Named(points) => {
                for (point, coverage) in points {
                    add(
                        self.by_point.get(point).map_or(&[], Vec::as_slice),
                        *coverage,
                    );
                }
            }
            Points::Unreadable => {
                for places in self.by_point.values() {
                    add(places, Coverage::RevocationsOnly);
                }
            }
        }
        found
    }
}

impl Lists {
    /// # Errors
    ///
    /// A list that can't be used, and why.
    pub(super) fn new(
        mut lists: Vec<CertificateRevocationList>,
    ) -> Result<Self, Box<(CertificateRevocationList, UnusableList)>> {
        lists.sort_by_key(|list| Reverse(list.this_update()));
        let mut by_issuer: HashMap<CanonicalName, Index> = HashMap::new();
        let mut usable = Vec::with_capacity(lists.len());
        for (place, list) in lists.into_iter().enumerate() {
            let (scope, next_update) = match list.to_use() {
                Ok(usable) => usable,
                Err(error) => return Err(Box::new((list, error))),
            };
            let index = by_issuer.entry(CanonicalName::of(list.issuer()));
            index.or_default().add(place, scope.points.as_deref());
            usable.push(List {
                list,
                next_update,
                scope,
            });
        }
        Ok(Self {
            lists: usable,
            by_issuer,
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lists.is_empty()
    }

    /// The lists with the name of a certificate's issuer, and with one of the certificate's distribution points if
    /// they have any; each with its place. Other keys may have signed them. Of those that say no more than which
    /// certificates are revoked, the ones with the certificate on them.
    pub(super) fn named_by(&self, certificate: &Certificate) -> Vec<(usize, &List)> {
        let issuer = CanonicalName::of(certificate.issuer());
        let Some(index) = self.by_issuer.get(&issuer) else {
            return Vec::new();
        };
        let places = index.find(&Points::of(certificate)).into_iter();
        places
            .filter_map(|(place, coverage)| Some((place, self.lists.get(place)?, coverage)))
            .filter(|(_, list, coverage)| {
                *coverage == Coverage::Full || list.list.entry_for(certificate).is_some()
            })
            .map(|(place, list, _)| (place, list))
            .collect()
    }
}

impl List {
    /// How the list stands to a certificate in this role and to the time. Whether it is for another key is
    /// found out later, because it takes long.
    pub(super) fn standing(&self, role: Role, time: UnixTime) -> Standing {
        let is_about_others = match role {
            Role::EndEntity => self.scope.only_cas,
            Role::Ca => self.scope.only_end_entities,
        };
        if is_about_others {
            return Standing::ForAnotherScope;
        }
        if time < self.list.this_update() {
            return Standing::NotYetValid;
        }
        match time < self.next_update {
            true => Standing::Current,
            false => Standing::Expired,
        }
    }

    /// Whether the list itself says that it is by another key than the issuer's. This is a hint: two certificates
    /// of one key may have different identifiers for it.
    pub(super) fn names_another_key(&self, issuer: &Certificate) -> bool {
        match (self.list.authority_key_id(), issuer.subject_key_id()) {
            (Some(named), Some(id)) => named != id,
            _ => false,
        }
    }

    pub(super) fn series(&self, issuer: &Certificate) -> Series<'_> {
        Series {
            scope: &self.scope,
            number: self.list.number(),
            names_another_key: self.names_another_key(issuer),
        }
    }
}
