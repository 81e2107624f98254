//! A route as a cache keeps it: in as much memory as it needs.

use core::hash::{Hash, Hasher};
use std::net::Ipv4Addr;

use super::path::Path;

/// The most nodes of a route that is kept without memory of its own.
const SHORT: usize = 8;

/// A route that is kept. A [`Path`] has room for 32 nodes, and a cache has a hundred routes of mostly less than eight.
#[derive(Clone, Debug)]
pub(super) enum StoredPath {
    Short(ShortPath),
    Long(Box<Path>),
}

#[derive(Clone, Debug)]
pub(super) struct ShortPath {
    len: u8,
    flags: u8,
    nodes: [Ipv4Addr; SHORT],
}

impl StoredPath {
    /// No route.
    pub(super) const EMPTY: Self =
        Self::Short(ShortPath { len: 0, flags: 0, nodes: [Ipv4Addr::UNSPECIFIED; SHORT] });

    pub(super) fn new(path: &Path) -> Self {
        let (all, mut nodes) = (path.nodes(), [Ipv4Addr::UNSPECIFIED; SHORT]);
        let Some(room) = nodes.get_mut(..all.len()) else { return Self::Long(Box::new(*path)) };
        room.copy_from_slice(all);
        Self::Short(ShortPath { len: all.len() as u8, flags: path.flags(), nodes })
    }

    /// The route.
    pub(super) fn path(&self) -> Path {
        match self {
            Self::Short(p) => Path::from_parts(&p.nodes[..usize::from(p.len)], p.flags),
            Self::Long(path) => **path,
        }
    }
    /// Its nodes.
    #[inline]
    pub(super) fn nodes(&self) -> &[Ipv4Addr] {
        match self {
            Self::Short(p) => &p.nodes[..usize::from(p.len)],
            Self::Long(path) => path.nodes(),
        }
    }
    #[inline]
    fn flags(&self) -> u8 {
        match self {
            Self::Short(p) => p.flags,
            Self::Long(path) => path.flags(),
        }
    }
    /// Whether it is this route.
    pub(super) fn is(&self, path: &Path) -> bool {
        self.flags() == path.flags() && self.nodes() == path.nodes()
    }
    pub(super) fn is_empty(&self) -> bool {
        self.nodes().is_empty()
    }
    /// Whether its first hop is External, and its last.
    pub(super) fn external_ends(&self) -> [bool; 2] {
        Path::external_ends(self.flags())
    }
    /// Cuts it to its first `len` nodes.
    pub(super) fn truncate(&mut self, len: usize) {
        let mut path = self.path();
        path.truncate(len);
        *self = Self::new(&path);
    }
}

impl Hash for StoredPath {
    fn hash<H: Hasher>(&self, to: &mut H) {
        (self.flags(), self.nodes()).hash(to);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_stored_route_is_the_route(
            nodes in proptest::collection::vec(1u32..50, 0..32), first: bool, last: bool, cut in 0usize..34,
        ) {
            let mut path = Path::from_nodes(nodes.into_iter().map(Ipv4Addr::from_bits));
            path.set_first_external(first && path.len() > 1);
            path.set_last_external(last && path.len() > 1);
            let mut stored = StoredPath::new(&path);
            prop_assert_eq!(stored.path(), path);
            prop_assert!(stored.is(&path));
            prop_assert_eq!(stored.external_ends(), [path.first_external(), path.last_external()]);
            path.truncate(cut);
            stored.truncate(cut);
            prop_assert_eq!(stored.path(), path);
            prop_assert_eq!((stored.nodes(), stored.is_empty()), (path.nodes(), path.is_empty()));
        }
    }

    #[test]
    fn a_route_of_seven_hops_needs_no_memory_of_its_own() {
        assert_eq!(size_of::<StoredPath>(), 40);
        let eight = Path::from_nodes((0..8).map(Ipv4Addr::from_bits));
        assert!(matches!(StoredPath::new(&eight), StoredPath::Short(_)));
    }
}
