//! The network card between the interface queue and the MAC: how many frames it holds, and how long
//! the host takes to move one in or out. Desilva and Das (2000), Table 1, measured both for two
//! WaveLAN-I cards, whose limits they are.

use std::collections::VecDeque;

use wayhop_core::{Span, Time};

use crate::config::RadioConfig;
use crate::host::Outgoing;

/// How long a packet takes between host and card.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub(crate) struct Transfer {
    base_us: f64,
    us_per_byte: f64,
}

impl Transfer {
    /// For a packet of this number of bytes.
    pub(crate) fn time(self, octets: usize) -> Span {
        Span::from_nanos((1e3 * (self.base_us + self.us_per_byte * octets as f64)) as u64)
    }
}

/// What a card can do. Every station has the card of the radio's configuration, or its own
/// ([`crate::Radio::set_card`]).
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct CardConfig {
    pub(crate) buffers: usize,
    pub(crate) send: Transfer,
    receive_buffers: usize,
    receive: Transfer,
}

impl From<&RadioConfig> for CardConfig {
    fn from(c: &RadioConfig) -> Self {
        Self {
            buffers: c.card_buffers as usize,
            send: Transfer { base_us: c.card_send_us, us_per_byte: c.card_send_us_per_byte },
            receive_buffers: c.card_receive_buffers as usize,
            receive: Transfer { base_us: c.card_receive_us, us_per_byte: c.card_receive_us_per_byte },
        }
    }
}

/// One station's card.
#[derive(Debug, Default)]
pub(crate) struct Card {
    pub(crate) config: CardConfig,
    /// The packet that the host is moving into it, and when it will be there.
    pub(crate) loading: Option<(Outgoing, Time)>,
    /// Those that wait in it, in order. The one that the MAC is sending is not here.
    pub(crate) waiting: VecDeque<Outgoing>,
    /// When the host will have each received frame that is still in the card, in order.
    pub(crate) received: VecDeque<Time>,
}

impl Card {
    /// `None` for one that holds nothing and takes no time: most stations have no other, and pay nothing for it.
    pub(crate) fn new(config: CardConfig) -> Option<Box<Self>> {
        let received = VecDeque::with_capacity(config.receive_buffers);
        (config != CardConfig::default()).then(|| Box::new(Self { config, received, ..Self::default() }))
    }
    /// The packets in it, and on their way into it.
    pub(crate) fn held(&self) -> impl Iterator<Item = &Outgoing> {
        self.loading.iter().map(|(out, _)| out).chain(&self.waiting)
    }
    /// Takes out everything.
    pub(crate) fn empty(&mut self) -> Vec<Outgoing> {
        self.received.clear();
        self.waiting.drain(..).chain(self.loading.take().map(|(out, _)| out)).collect()
    }

    /// Whether a frame that arrives now finds a free buffer.
    pub(crate) fn has_room(&mut self, now: Time) -> bool {
        if self.config.receive_buffers == 0 {
            return true;
        }
        while self.received.front().is_some_and(|&taken| taken <= now) {
            self.received.pop_front();
        }
        self.received.len() < self.config.receive_buffers
    }

    /// When the host will have a packet of this number of bytes that arrives now and found room.
    pub(crate) fn take_in(&mut self, now: Time, octets: usize) -> Time {
        let transfer = self.config.receive.time(octets);
        if self.config.receive_buffers == 0 {
            return now + transfer;
        }
        let ready = self.received.back().map_or(now, |&busy| busy.max(now)) + transfer;
        self.received.push_back(ready);
        ready
    }
}
