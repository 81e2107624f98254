//! Packets between the interface queue, the card and the MAC.

use wayhop_core::Time;

use crate::card::{Card, CardConfig};
use crate::host::{FrameAt, Host, RadioEvent};
use crate::radio::Radio;

impl Radio {
    /// Gives a station a card of its own. Before the run begins: frames in the old card are lost.
    pub fn set_card(&mut self, station: u32, card: CardConfig) {
        self.macs[station as usize].card = Card::new(card);
    }

    /// Moves the next packet of the interface queue towards the card, if the host is idle and the card has room.
    pub(crate) fn load(&mut self, now: Time, station: u32, host: &mut impl Host) {
        let mac = &self.macs[station as usize];
        let Some(card) = &mac.card else { return };
        let inside = card.waiting.len() + usize::from(mac.current.is_some());
        if mac.stalled || card.loading.is_some() || inside >= card.config.buffers {
            return;
        }
        let Some(out) = self.next_admitted(now, station, host) else { return };
        let Some(card) = &mut self.macs[station as usize].card else { return };
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
