//! Lists of items of a fixed length, borrowed from a packet or from a caller's slice.

use core::fmt;
use core::ops::Range;

/// What a list consists of.
pub trait ListItem: Copy + Eq + fmt::Debug + 'static {
    /// Its octets in a packet: an array.
    type Octets: Copy;
    /// Reads one.
    fn read(octets: &Self::Octets) -> Self;
}

/// Items of a packet or of a slice, without copying them.
#[derive(Copy, Clone)]
pub struct List<'a, T: ListItem>(Inner<'a, T>);

#[derive(Copy, Clone)]
enum Inner<'a, T: ListItem> {
    Wire(&'a [T::Octets]),
    Slice(&'a [T]),
}

impl<'a, T: ListItem> List<'a, T> {
    /// No items.
    pub const EMPTY: List<'static, T> = List(Inner::Slice(&[]));

    pub(crate) const fn from_wire(items: &'a [T::Octets]) -> Self {
        Self(Inner::Wire(items))
    }
    /// How many there are.
    #[inline]
    pub const fn len(&self) -> usize {
        match self.0 {
            Inner::Wire(w) => w.len(),
            Inner::Slice(s) => s.len(),
        }
    }
    /// Whether there are none.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The item at index `i`, counted from 0. (RFC 4728 counts from 1: its first address is `at(0)`.)
    #[inline]
    pub fn at(&self, i: usize) -> Option<T> {
        match self.0 {
            Inner::Wire(w) => w.get(i).map(T::read),
            Inner::Slice(s) => s.get(i).copied(),
        }
    }
    /// The first item.
    #[inline]
    pub fn first(&self) -> Option<T> {
        self.at(0)
    }
    /// The last item.
    #[inline]
    pub fn last(&self) -> Option<T> {
        self.at(self.len().wrapping_sub(1))
    }
    /// The items in order, from either end.
    #[inline]
    pub const fn iter(&self) -> ListIter<'a, T> {
        ListIter { list: *self, range: 0..self.len() }
    }
}

impl<'a, T: ListItem> From<&'a [T]> for List<'a, T> {
    fn from(s: &'a [T]) -> Self {
        Self(Inner::Slice(s))
    }
}
impl<'a, T: ListItem> From<&'a Vec<T>> for List<'a, T> {
    fn from(s: &'a Vec<T>) -> Self {
        Self(Inner::Slice(s))
    }
}
impl<T: ListItem> PartialEq for List<'_, T> {
    fn eq(&self, o: &Self) -> bool {
        self.iter().eq(o.iter())
    }
}
impl<T: ListItem> Eq for List<'_, T> {}
impl<T: ListItem> fmt::Debug for List<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
impl<'a, T: ListItem> IntoIterator for List<'a, T> {
    type Item = T;
    type IntoIter = ListIter<'a, T>;
    #[inline]
    fn into_iter(self) -> ListIter<'a, T> {
        self.iter()
    }
}
impl<'a, T: ListItem> IntoIterator for &List<'a, T> {
    type Item = T;
    type IntoIter = ListIter<'a, T>;
    #[inline]
    fn into_iter(self) -> ListIter<'a, T> {
        self.iter()
    }
}

/// Iterates over a [`List`], from either end.
#[derive(Clone, Debug)]
pub struct ListIter<'a, T: ListItem> {
    list: List<'a, T>,
    range: Range<usize>,
}

impl<T: ListItem> Iterator for ListIter<'_, T> {
    type Item = T;
    #[inline]
    fn next(&mut self) -> Option<T> {
        self.range.next().and_then(|i| self.list.at(i))
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.range.size_hint()
    }
}
impl<T: ListItem> DoubleEndedIterator for ListIter<'_, T> {
    #[inline]
    fn next_back(&mut self) -> Option<T> {
        self.range.next_back().and_then(|i| self.list.at(i))
    }
}
impl<T: ListItem> ExactSizeIterator for ListIter<'_, T> {}
