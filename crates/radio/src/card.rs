//! The network card between the interface queue and the MAC: how many frames it holds, and how long the host takes to move
//! one in or out. Desilva and Das (2000), Table 1, measured both for two WaveLAN-I cards; they are what limits these radios.

use std::collections::VecDeque;

use wayhop_core::{Span, Time};

use crate::config::RadioConfig;
use crate::outgoing::Outgoing;
use crate::radio::{FrameAt, Host, Radio, RadioEvent};
use crate::station::Mac;

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
    /// The packet that the host is moving into it, and when it will be there.
    loading: Option<(Outgoing, Time)>,
    /// Those that wait in it, in order. The one that the MAC is sending is not here.
    waiting: VecDeque<Outgoing>,
    /// When the host will have each received frame that is still in the card, in order.
    received: VecDeque<Time>,
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

impl Mac {
    /// Whether a card stands between queue and MAC.
    pub(crate) fn has_frames_in_card(&self) -> bool {
        self.card.as_ref().is_some_and(|c| c.config.buffers > 0)
    }
}

impl Radio {
    /// Gives a station a card of its own. Before the run begins: frames in the old card are lost.
    pub fn set_card(&mut self, station: u32, card: CardConfig) {
        self.macs[station as usize].card = Card::new(card);
    }

    /// Moves the next packet of the interface queue towards the card, if the host is idle and the card has room.
    pub(crate) fn load(&mut self, now: Time, station: u32, host: &mut impl Host) {
        let mac = &mut self.macs[station as usize];
        let Some(card) = &mut mac.card else { return };
        let inside = card.waiting.len() + usize::from(mac.current.is_some());
        if mac.stalled || card.loading.is_some() || inside >= card.config.buffers {
            return;
        }
        let Some(out) = host.next(station) else { return };
        let at = now + card.config.send.time(out.frame.packet.len());
        card.loading = Some((out, at));
        host.schedule(at, station, RadioEvent::Loaded);
    }

    /// A packet is in the card: the MAC sends it, or it waits for its turn.
    pub(crate) fn loaded(&mut self, now: Time, station: u32, host: &mut impl Host) {
        let mac = &mut self.macs[station as usize];
        let Some(card) = &mut mac.card else { return };
        // One that was on its way when the station was switched off is not there any more.
        let Some((out, _)) = card.loading.take_if(|(_, at)| *at == now) else { return };
        card.waiting.push_back(out);
        if mac.current.is_none() {
            self.send_from_card(now, station, host);
        }
        self.load(now, station, host);
    }

    /// The MAC takes the card's next packet.
    pub(crate) fn send_from_card(&mut self, now: Time, station: u32, host: &mut impl Host) {
        let card = &mut self.macs[station as usize].card;
        if let Some(out) = card.as_mut().and_then(|c| c.waiting.pop_front()) {
            self.offer(now, station, out, host);
        }
    }

    /// A data frame that found room in the card is on its way to the host.
    pub(crate) fn take_in(&mut self, f: &FrameAt<'_>, host: &mut impl Host) {
        let octets = f.body.map_or(0, |out| out.frame.packet.len());
        let mac = &mut self.macs[f.station as usize];
        mac.counters.received += 1;
        let ready = mac.card.as_mut().map_or(f.at, |c| c.take_in(f.at, octets));
        host.received(f, ready);
    }
}
