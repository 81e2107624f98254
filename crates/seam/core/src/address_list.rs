//! A list of rows, each about one IPv4 address, that finds them by it.

use core::hash::{Hash, Hasher};
use core::net::Ipv4Addr;

/// A row about an address.
pub trait Addressed {
    /// The address. It does not change while the row is in a list.
    fn address(&self) -> Ipv4Addr;
}

impl<V> Addressed for (Ipv4Addr, V) {
    fn address(&self) -> Ipv4Addr {
        self.0
    }
}

/// Rows in the order in which they came, one per address.
///
/// A node of a large network has several tables with a row for each of some twenty neighbours, and there may be a million
/// nodes. So this takes little more than its rows: they lie without gaps, in memory that grows by a quarter, and the index
/// over them takes one or two bytes per row, more above 192 rows. Up to eight rows are searched without one.
#[derive(Clone, Debug)]
pub struct AddressList<T> {
    rows: Vec<T>,
    index: Index,
}

/// The least number of rows by which the memory grows: as a large network begins, growing takes a good part of its time.
const FEWEST: usize = 4;
/// So few rows are compared one after the other.
const LINEAR: usize = 8;
/// The most rows of an index of bytes: three quarters of 256 places.
const MOST_NARROW: usize = 192;

/// Open addressing with linear probing: each place has the number of a row, or none. The number of places is a power of
/// two, and a quarter of them or more are empty.
#[derive(Clone, Debug)]
enum Index {
    None,
    Narrow(Box<[u8]>),
    Wide(Box<[u32]>),
}

/// The number of a row, as an index holds it.
trait RowNumber: Copy + Eq {
    /// An empty place.
    const EMPTY: Self;
    fn of(row: usize) -> Self;
    fn row(self) -> usize;
}

impl RowNumber for u8 {
    const EMPTY: Self = Self::MAX;
    fn of(row: usize) -> Self {
        row as Self
    }
    fn row(self) -> usize {
        usize::from(self)
    }
}

impl RowNumber for u32 {
    const EMPTY: Self = Self::MAX;
    fn of(row: usize) -> Self {
        row as Self
    }
    fn row(self) -> usize {
        self as usize
    }
}

/// Where the search for an address begins among `places`.
#[inline]
fn home(address: Ipv4Addr, places: usize) -> usize {
    // Fibonacci hashing: the upper bits of the product depend on all bits of the address.
    let product = address.to_bits().wrapping_mul(0x9e37_79b9);
    (product >> 7) as usize & (places - 1)
}

/// The place that holds the row of an address.
#[inline]
fn place<T: Addressed, N: RowNumber>(places: &[N], rows: &[T], address: Ipv4Addr) -> Option<usize> {
    let mut at = home(address, places.len());
    while places[at] != N::EMPTY {
        if rows[places[at].row()].address() == address {
            return Some(at);
        }
        at = (at + 1) & (places.len() - 1);
    }
    None
}

/// Enters a row whose address is not there yet.
fn enter<N: RowNumber>(places: &mut [N], address: Ipv4Addr, row: usize) {
    let mut at = home(address, places.len());
    while places[at] != N::EMPTY {
        at = (at + 1) & (places.len() - 1);
    }
    places[at] = N::of(row);
}

/// Takes out the row at a place. The last row is about to get its number.
fn take_out<T: Addressed, N: RowNumber>(places: &mut [N], rows: &[T], mut hole: usize) {
    let (mask, gone, last) = (places.len() - 1, places[hole], rows.len() - 1);
    // Rows behind the hole move into it unless that would put them before the place where their search begins.
    let mut at = (hole + 1) & mask;
    while places[at] != N::EMPTY {
        let begin = home(rows[places[at].row()].address(), places.len());
        if at.wrapping_sub(begin) & mask >= at.wrapping_sub(hole) & mask {
            places[hole] = places[at];
            hole = at;
        }
        at = (at + 1) & mask;
    }
    places[hole] = N::EMPTY;
    if gone.row() != last
        && let Some(moved) = place(places, rows, rows[last].address())
    {
        places[moved] = gone;
    }
}

/// An index of this many places over rows.
fn index_of<T: Addressed, N: RowNumber>(rows: &[T], places: usize) -> Box<[N]> {
    let mut all = vec![N::EMPTY; places].into_boxed_slice();
    rows.iter().enumerate().for_each(|(i, row)| enter(&mut all, row.address(), i));
    all
}

impl Index {
    /// How many rows it may hold.
    fn room(&self) -> usize {
        match self {
            Self::None => LINEAR,
            // 192 rows have 512 places, and bytes no numbers for as many rows.
            Self::Narrow(places) => (places.len() / 4 * 3).min(MOST_NARROW),
            Self::Wide(places) => places.len() / 4 * 3,
        }
    }
}

impl<T> Default for AddressList<T> {
    fn default() -> Self {
        Self { rows: Vec::new(), index: Index::None }
    }
}

impl<T: Hash> Hash for AddressList<T> {
    fn hash<H: Hasher>(&self, to: &mut H) {
        self.rows.hash(to);
    }
}

impl<T> AddressList<T> {
    /// How many rows there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.rows.len()
    }
    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
    /// Rows that fit before the list takes more memory.
    pub fn capacity(&self) -> usize {
        self.rows.capacity()
    }
    /// The rows.
    #[inline]
    pub fn rows(&self) -> &[T] {
        &self.rows
    }
    /// The row of this number, to change it.
    #[inline]
    pub fn row_mut(&mut self, number: usize) -> &mut T {
        &mut self.rows[number]
    }
    /// Removes all rows.
    pub fn clear(&mut self) {
        *self = Self::default();
    }
}

impl<T: Addressed> AddressList<T> {
    /// The number of an address's row.
    #[inline]
    pub fn find(&self, address: Ipv4Addr) -> Option<usize> {
        match &self.index {
            Index::None => self.rows.iter().position(|row| row.address() == address),
            Index::Narrow(places) => place(places, &self.rows, address).map(|at| places[at].row()),
            Index::Wide(places) => place(places, &self.rows, address).map(|at| places[at].row()),
        }
    }
    /// The row of an address.
    #[inline]
    pub fn get(&self, address: Ipv4Addr) -> Option<&T> {
        self.find(address).map(|i| &self.rows[i])
    }
    /// Reads memory that a search for an address most likely needs, so that it is in the processor's caches by then. No branch
    /// waits for what is read: reads of many lists, one after the other, wait for their memory together. The answer has no
    /// meaning.
    #[inline]
    #[must_use]
    pub fn look_ahead(&self, address: Ipv4Addr) -> u8 {
        let number = match &self.index {
            Index::None => 0,
            Index::Narrow(places) => places[home(address, places.len())].row(),
            Index::Wide(places) => places[home(address, places.len())].row(),
        };
        // An empty place has the number of no row.
        let row = self.rows.get(number.min(self.rows.len().saturating_sub(1)));
        row.map_or(0, |row| row.address().octets()[3])
    }
    /// The row of an address, to change it.
    #[inline]
    pub fn get_mut(&mut self, address: Ipv4Addr) -> Option<&mut T> {
        self.find(address).map(|i| &mut self.rows[i])
    }

    /// Adds a row as the last. There must be none of its address.
    pub fn push(&mut self, row: T) {
        debug_assert!(self.find(row.address()).is_none(), "one row per address");
        let number = self.rows.len();
        if number == self.rows.capacity() {
            self.rows.reserve_exact((number / 4).max(FEWEST));
        }
        let is_full = number >= self.index.room();
        match &mut self.index {
            Index::Narrow(places) if !is_full => enter(places, row.address(), number),
            Index::Wide(places) if !is_full => enter(places, row.address(), number),
            _ => {}
        }
        self.rows.push(row);
        if is_full {
            self.make_index();
        }
    }

    /// Removes the row of this number; the last one gets it.
    pub fn swap_remove(&mut self, number: usize) -> T {
        let address = self.rows[number].address();
        match &mut self.index {
            Index::None => {}
            Index::Narrow(places) => {
                if let Some(at) = place(places, &self.rows, address) {
                    take_out(places, &self.rows, at);
                }
            }
            Index::Wide(places) => {
                if let Some(at) = place(places, &self.rows, address) {
                    take_out(places, &self.rows, at);
                }
            }
        }
        self.rows.swap_remove(number)
    }

    /// Keeps the rows for which `keeps` holds. It may change them, but not their addresses.
    pub fn retain(&mut self, keeps: impl FnMut(&mut T) -> bool) {
        let before = self.rows.len();
        self.rows.retain_mut(keeps);
        if self.rows.len() < before {
            self.make_index();
        }
    }

    /// An index with room for a third more rows than there are.
    #[cold]
    fn make_index(&mut self) {
        let rows = self.rows.len();
        let places = (rows * 4 / 3 + 1).next_power_of_two();
        self.index = match rows {
            0..=LINEAR => Index::None,
            _ if rows <= MOST_NARROW => Index::Narrow(index_of(&self.rows, places)),
            _ => Index::Wide(index_of(&self.rows, places)),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn addr(n: u32) -> Ipv4Addr {
        Ipv4Addr::from_bits(0x0a00_0000 + n)
    }

    #[test]
    fn twenty_two_neighbours_take_little_more_than_their_rows() {
        let mut list = AddressList::default();
        (0..22).for_each(|n| list.push((addr(n), 0_u32)));
        assert!(list.capacity() <= 25, "{}", list.capacity());
        assert!(matches!(&list.index, Index::Narrow(places) if places.len() == 32));
        assert_eq!(size_of::<AddressList<(Ipv4Addr, u32)>>(), 48);
    }

    #[test]
    fn rows_that_remain_and_fill_an_index_of_bytes_leave_it_when_more_come() {
        let mut list = AddressList::default();
        (0..200).for_each(|n| list.push((addr(n), n)));
        list.retain(|row| row.1 >= 8);
        assert_eq!(list.len(), MOST_NARROW);
        (200..400).for_each(|n| list.push((addr(n), n)));
        assert!((8..400).all(|n| list.get(addr(n)) == Some(&(addr(n), n))));
    }

    proptest! {
        /// It does what a vector does that is searched from its beginning, whatever the addresses: few that come again and
        /// again, and more than an index of bytes can hold.
        #[test]
        fn it_does_what_a_searched_vector_does(
            span in prop_oneof![Just(12u32), Just(60), Just(2_000)],
            ops in proptest::collection::vec((0u8..8, any::<u32>()), 0..1_500),
        ) {
            let (mut list, mut oracle) = (AddressList::default(), Vec::<(Ipv4Addr, u32)>::new());
            for (i, (op, n)) in (0..).zip(ops) {
                // Neighbours of one subnet, and addresses that share only their lower bits.
                let a = Ipv4Addr::from_bits(addr(n % span).to_bits().rotate_left(if n & 1 << 31 == 0 { 0 } else { 20 }));
                let at = oracle.iter().position(|row| row.0 == a);
                prop_assert_eq!(list.find(a), at);
                // Whatever is in the list, looking ahead ends well.
                let _ = list.look_ahead(a);
                match (op, at) {
                    (0..=4, None) => {
                        list.push((a, i));
                        oracle.push((a, i));
                    }
                    (0..=3, Some(at)) => {
                        list.get_mut(a).expect("it is there").1 = i;
                        oracle[at].1 = i;
                    }
                    (4..=6, Some(at)) => prop_assert_eq!(list.swap_remove(at), oracle.swap_remove(at)),
                    (7, _) if n % 16 == 0 => {
                        list.retain(|row| row.1 % 3 > 0);
                        oracle.retain(|row| row.1 % 3 > 0);
                    }
                    _ => {}
                }
                prop_assert_eq!(list.rows(), &oracle[..]);
            }
            for n in 0..span {
                let expected = oracle.iter().find(|row| row.0 == addr(n));
                prop_assert_eq!(list.get(addr(n)), expected);
            }
        }
    }
}
