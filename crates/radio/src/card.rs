//! The network card between the interface queue and the MAC: how many frames it holds, and how long the host takes to move
//! one in or out. Desilva and Das (2000), Table 1, measured both for two WaveLAN-I cards; they are what limits these radios.

use std::collections::VecDeque;

use wayhop_core::{Span, Time};

use crate::config::RadioConfig;
use crate::host::{FrameAt, Host, RadioEvent};
use crate::outgoing::Outgoing;
use crate::radio::Radio;

/// How long a packet takes between host and card.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
struct Transfer {
    base_us: f64,
    us_per_byte: f64,
}

impl Transfer {
    /// For a packet of so many octets.
    fn time(self, octets: usize) -> Span {
        Span::from_nanos((1e3 * (self.base_us + self.us_per_byte * octets as f64)) as u64)
    }
}

/// What a card can do. Every station has the one that the radio's configuration describes, or one of its own
/// ([`Radio::set_card`]).
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct CardConfig {
    buffers: usize,
    send: Transfer,
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
    config: CardConfig,
    /// The packet that the host is moving into it.
    loading: Option<Outgoing>,
    /// Those that wait in it, in order. The one that the MAC is sending is not here.
    waiting: VecDeque<Outgoing>,
    /// When the host will have each received frame that is still in the card, in order.
    received: VecDeque<Time>,
}

impl Card {
    pub(crate) fn new(config: CardConfig) -> Self {
        Self { config, received: VecDeque::with_capacity(config.receive_buffers), ..Self::default() }
    }
    /// Whether it stands between queue and MAC at all.
    pub(crate) fn holds_frames(&self) -> bool {
        self.config.buffers > 0
    }
    /// The packets in it, and on their way into it.
    pub(crate) fn held(&self) -> impl Iterator<Item = &Outgoing> {
        self.loading.iter().chain(&self.waiting)
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

    /// When the host will have a packet of so many octets that arrives now and found room.
    fn take_in(&mut self, now: Time, octets: usize) -> Time {
        let transfer = self.config.receive.time(octets);
        if self.config.receive_buffers == 0 {
            return now + transfer;
        }
        let ready = self.received.back().map_or(now, |&busy| busy.max(now)) + transfer;
        self.received.push_back(ready);
        ready
    }
}

impl Radio {
    /// Gives a station a card of its own. Before the run begins: frames in the old card are lost.
    pub fn set_card(&mut self, station: u32, card: CardConfig) {
        self.macs[station as usize].card = Card::new(card);
    }

    /// Moves the next packet of the interface queue towards the card, if the host is idle and the card has room.
    pub(crate) fn load(&mut self, now: Time, station: u32, host: &mut impl Host) {
        let mac = &self.macs[station as usize];
        let inside = mac.card.waiting.len() + usize::from(mac.current.is_some());
        if mac.stalled || mac.card.loading.is_some() || inside >= mac.card.config.buffers {
            return;
        }
        let Some(out) = host.next(station) else { return };
        let mac = &mut self.macs[station as usize];
        let at = now + mac.card.config.send.time(out.frame.packet.len());
        mac.card.loading = Some(out);
        host.schedule(at, station, RadioEvent::Loaded);
    }

    /// A packet is in the card: the MAC sends it, or it waits for its turn.
    pub(crate) fn loaded(&mut self, now: Time, station: u32, host: &mut impl Host) {
        let mac = &mut self.macs[station as usize];
        mac.card.waiting.extend(mac.card.loading.take());
        if mac.current.is_none() {
            self.send_from_card(now, station, host);
        }
        self.load(now, station, host);
    }

    /// The MAC takes the card's next packet.
    pub(crate) fn send_from_card(&mut self, now: Time, station: u32, host: &mut impl Host) {
        if let Some(out) = self.macs[station as usize].card.waiting.pop_front() {
            self.offer(now, station, out, host);
        }
    }

    /// A data frame that found room in the card is on its way to the host.
    pub(crate) fn take_in(&mut self, f: &FrameAt<'_>, host: &mut impl Host) {
        let octets = f.body.map_or(0, |out| out.frame.packet.len());
        let mac = &mut self.macs[f.station as usize];
        mac.counters.received += 1;
        let ready = mac.card.take_in(f.at, octets);
        host.received(f, ready);
    }
}
