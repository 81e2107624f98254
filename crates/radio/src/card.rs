//! The network card between the interface queue and the MAC: how many frames it holds, and how long the host takes to move
//! one in or out. Desilva and Das (2000), Table 1, measured both for two WaveLAN-I cards; they are what limits these radios.

use std::collections::VecDeque;

use wayhop_core::{Span, Time};

use crate::config::RadioConfig;
use crate::queue::Outgoing;
use crate::radio::{Host, Radio, RadioEvent};

/// How long a packet takes between host and card.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct Transfer {
    base_us: f64,
    us_per_byte: f64,
}

impl Transfer {
    /// From host to card.
    pub fn send(c: &RadioConfig) -> Self {
        Self { base_us: c.card_send_us, us_per_byte: c.card_send_us_per_byte }
    }
    /// From card to host.
    pub fn receive(c: &RadioConfig) -> Self {
        Self { base_us: c.card_receive_us, us_per_byte: c.card_receive_us_per_byte }
    }
    /// For a packet of so many octets.
    pub fn time(self, octets: usize) -> Span {
        Span::from_nanos((1e3 * (self.base_us + self.us_per_byte * octets as f64)) as u64)
    }
}

/// One station's card.
#[derive(Debug, Default)]
pub(crate) struct Card {
    /// The packet that the host is moving into it.
    loading: Option<Outgoing>,
    /// Those that wait in it, in order. The one that the MAC is sending is not here.
    waiting: VecDeque<Outgoing>,
}

impl Card {
    /// The packets in it, and on their way into it.
    pub(crate) fn held(&self) -> impl Iterator<Item = &Outgoing> {
        self.loading.iter().chain(&self.waiting)
    }
}

impl Radio {
    /// Moves the next packet of the interface queue towards the card, if the host is idle and the card has room.
    pub(crate) fn load(&mut self, now: Time, station: u32, host: &mut impl Host) {
        let mac = &mut self.macs[station as usize];
        let inside = mac.card.waiting.len() + usize::from(mac.current.is_some());
        if mac.stalled || mac.card.loading.is_some() || inside >= self.config.card_buffers as usize {
            return;
        }
        let Some(out) = mac.queue.pop() else { return };
        host.queued(station, mac.queue.len() as u32);
        let at = now + Transfer::send(&self.config).time(out.packet.len());
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
}
