//! Pairs of radios, numbered.

/// Links among n radios, each pair once: (0, 1), (0, 2), ... (n-2, n-1).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Links {
    radios: usize,
}

impl Links {
    /// Among this many radios.
    pub fn new(radios: usize) -> Self {
        Self { radios }
    }
    /// How many there are.
    pub fn len(self) -> usize {
        self.radios * self.radios.saturating_sub(1) / 2
    }
    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.radios < 2
    }
    /// The number of the link between two different radios.
    #[inline]
    pub fn of(self, i: usize, j: usize) -> usize {
        let (i, j) = if i < j { (i, j) } else { (j, i) };
        i * (2 * self.radios - i - 1) / 2 + j - i - 1
    }
}

/// All pairs among n radios, in the order of [`Links`].
pub fn pairs(radios: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..radios).flat_map(move |i| (i + 1..radios).map(move |j| (i, j)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_numbered_in_the_order_of_pairs() {
        for n in 0..20 {
            let links = Links::new(n);
            assert_eq!(pairs(n).count(), links.len());
            assert!(pairs(n).enumerate().all(|(l, (i, j))| links.of(i, j) == l && links.of(j, i) == l));
        }
    }
}
