//! Which nodes hear each other.

use wayhop_core::Span;

/// One direction of a link.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Link {
    /// Whether frames arrive at all.
    pub up: bool,
    /// The share of frames that is lost, 0 to 1, drawn for every try.
    pub loss: f64,
    /// From the end of the transmission to the reception.
    pub delay: Span,
    /// Received power that the host reports, in dBm.
    pub signal_dbm: f32,
}

impl Link {
    /// Nothing arrives.
    pub const DOWN: Self = Self { up: false, loss: 0.0, delay: Span::from_micros(1), signal_dbm: -60.0 };
    /// Everything arrives, after 1 us.
    pub const UP: Self = Self { up: true, ..Self::DOWN };

    /// Up, with this share of frames lost.
    pub const fn lossy(loss: f64) -> Self {
        Self { loss, ..Self::UP }
    }
}

/// All directions of all links.
#[derive(Debug)]
pub(crate) struct LinkTable {
    n: usize,
    of: Vec<Link>,
}

impl LinkTable {
    pub(crate) fn new(n: usize) -> Self {
        Self { n, of: vec![Link::DOWN; n * n] }
    }
    pub(crate) fn get(&self, from: usize, to: usize) -> Link {
        self.of[from * self.n + to]
    }
    pub(crate) fn set(&mut self, from: usize, to: usize, link: Link) {
        assert!(from != to, "a link needs two nodes");
        self.of[from * self.n + to] = link;
    }
}
