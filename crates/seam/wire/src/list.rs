//! Lists of items of fixed length, borrowed from a packet or from a caller's slice, without copying them.

use core::fmt;
use core::ops::Range;

/// An item of a [`List`].
pub trait Item: Copy + PartialEq + fmt::Debug + 'static {
    /// An array of its octets.
    type Octets: Copy + 'static;
    /// The item in these octets.
    fn read(octets: &Self::Octets) -> Self;
}

/// Items in order.
#[derive(Copy, Clone)]
pub struct List<'a, T: Item>(Inner<'a, T>);

#[derive(Copy, Clone)]
enum Inner<'a, T: Item> {
    Wire(&'a [T::Octets]),
    Slice(&'a [T]),
}

impl<'a, T: Item> List<'a, T> {
    /// No items.
    pub const EMPTY: Self = Self(Inner::Slice(&[]));

    /// The items in these octets.
    pub(crate) const fn from_wire(octets: &'a [T::Octets]) -> Self {
        Self(Inner::Wire(octets))
    }
    /// Their number.
    pub const fn len(&self) -> usize {
        match self.0 {
            Inner::Wire(w) => w.len(),
            Inner::Slice(s) => s.len(),
        }
    }
    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The item at index `i`, counted from 0.
    pub fn at(&self, i: usize) -> Option<T> {
        match self.0 {
            Inner::Wire(w) => w.get(i).map(T::read),
            Inner::Slice(s) => s.get(i).copied(),
        }
    }
    /// The first item.
    pub fn first(&self) -> Option<T> {
        self.at(0)
    }
    /// The last item.
    pub fn last(&self) -> Option<T> {
        self.at(self.len().wrapping_sub(1))
    }
    /// The items in order, from either end.
    pub const fn iter(&self) -> ListIter<'a, T> {
        ListIter { list: *self, range: 0..self.len() }
    }
    /// The index of the first occurrence of an item.
    pub fn position(&self, item: T) -> Option<usize> {
        self.iter().position(|i| i == item)
    }
    /// Whether an item is among them.
    pub fn contains(&self, item: T) -> bool {
        self.position(item).is_some()
    }
    /// Whether an item occurs twice. Takes quadratic time; lists have at most some hundred items.
    pub fn has_duplicates(&self) -> bool {
        (1..self.len()).any(|i| self.at(i).is_some_and(|item| self.position(item) != Some(i)))
    }
}

impl<'a, T: Item> From<&'a [T]> for List<'a, T> {
    fn from(s: &'a [T]) -> Self {
        Self(Inner::Slice(s))
    }
}
impl<'a, T: Item> From<&'a Vec<T>> for List<'a, T> {
    fn from(s: &'a Vec<T>) -> Self {
        Self(Inner::Slice(s))
    }
}
impl<T: Item> PartialEq for List<'_, T> {
    fn eq(&self, o: &Self) -> bool {
        self.iter().eq(o.iter())
    }
}
impl<T: Item + Eq> Eq for List<'_, T> {}
impl<T: Item> fmt::Debug for List<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
impl<'a, T: Item> IntoIterator for List<'a, T> {
    type Item = T;
    type IntoIter = ListIter<'a, T>;
    fn into_iter(self) -> ListIter<'a, T> {
        self.iter()
    }
}
impl<'a, T: Item> IntoIterator for &List<'a, T> {
    type Item = T;
    type IntoIter = ListIter<'a, T>;
    fn into_iter(self) -> ListIter<'a, T> {
        self.iter()
    }
}

/// Iterates over a [`List`], from either end.
#[derive(Clone, Debug)]
pub struct ListIter<'a, T: Item> {
    list: List<'a, T>,
    range: Range<usize>,
}

impl<T: Item> Iterator for ListIter<'_, T> {
    type Item = T;
    fn next(&mut self) -> Option<T> {
        self.range.next().and_then(|i| self.list.at(i))
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.range.size_hint()
    }
}
impl<T: Item> DoubleEndedIterator for ListIter<'_, T> {
    fn next_back(&mut self) -> Option<T> {
        self.range.next_back().and_then(|i| self.list.at(i))
    }
}
impl<T: Item> ExactSizeIterator for ListIter<'_, T> {}
