//! RTS, CTS, DATA, ACK: sending them and answering them.

use wayhop_core::{Span, Time, TxStatus};

use crate::fate::Fate;
use crate::host::{EVERYONE, FrameAt, FrameHead, Host, Outgoing, RadioEvent};
use crate::medium::Transmission;
use crate::phy::{FrameKind, in_100kbps, in_mbps};
use crate::radio::Radio;
use crate::station::{Backoff, Response, Sending};

impl FrameKind {
    /// Whether it carries a packet.
    pub fn is_data(self) -> bool {
        matches!(self, Self::Data | Self::Broadcast)
    }
}

/// A span as a Duration field has it: whole microseconds, rounded (ns-2) and bounded by 15 bits.
fn duration_us(s: Span) -> u16 {
    ((s.as_nanos() + 500) / 1000).min(32_767) as u16
}

impl Radio {
    pub(crate) fn is_acknowledged(&self, out: &Outgoing) -> bool {
        self.config.acknowledge && out.to != EVERYONE
    }

    /// How its data frame is sent.
    fn data_kind(out: &Outgoing) -> FrameKind {
        if out.to == EVERYONE { FrameKind::Broadcast } else { FrameKind::Data }
    }

    /// Whether its frame, with header, is long enough for the RTS threshold.
    pub(crate) fn is_long(&self, out: &Outgoing) -> bool {
        self.phy.frame_bytes(Self::data_kind(out), out.frame.packet.len()) >= self.config.rts_threshold_bytes
    }

    pub(crate) fn wants_rts(&self, out: &Outgoing) -> bool {
        self.is_acknowledged(out) && self.is_long(out)
    }

    /// The medium is ours: sends the RTS, or the data.
    pub(crate) fn send_current(&mut self, now: Time, station: u32, host: &mut impl Host) {
        let i = station as usize;
        if self.macs[i].current.is_none() {
            return;
        }
        if !self.phy_states[i].is_idle(now, self.times.cca) {
            // Somebody was quicker. A lost turn of data begins with an RTS again.
            let rts = self.macs[i].current.as_ref().is_some_and(|c| self.wants_rts(c));
            self.macs[i].rts_wanted = rts;
            if self.config.cca_us == 0 {
                // As in ns-2; the standard knows no window but that of the last failure.
                self.widen(station);
            }
            self.start_backoff(now, station, host);
        } else if self.macs[i].rts_wanted {
            self.send_rts(now, station, host);
        } else {
            self.send_data(now, station, host);
        }
    }

    fn send_rts(&mut self, now: Time, station: u32, host: &mut impl Host) {
        let data_rate = self.data_rate_mbps(station, FrameKind::Data);
        let control_rate = self.phy.control_rate_mbps(data_rate);
        let (answer, rts) = (self.phy.answer_airtime(control_rate), self.rts_airtime(control_rate));
        let mac = &mut self.macs[station as usize];
        let out = mac.current.as_ref().expect("an RTS is for a packet");
        let octets = self.phy.frame_bytes(FrameKind::Data, out.frame.packet.len());
        let data = self.phy.airtime_at(octets, data_rate);
        let t = &self.times;
        let duration_us = duration_us(t.sifs * 3 + answer + data + answer);
        let (sequence, retry) = (mac.sequence, mac.tries > 0);
        let head = FrameHead::new(FrameKind::Rts, station, out.to, control_rate);
        let head = FrameHead { duration_us, sequence, retry, ..head };
        mac.tries = mac.tries.saturating_add(1);
        mac.counters.rts += 1;
        mac.counters.retries += u32::from(head.retry);
        let wait = rts + t.sifs + answer + t.propagation * 2;
        self.set_sending(now, station, Sending::Rts, host);
        self.transmit(now, head, 0, wait, host);
    }

    fn send_data(&mut self, now: Time, station: u32, host: &mut impl Host) {
        let mac = &self.macs[station as usize];
        let out = mac.current.as_ref().expect("checked by the caller");
        let (kind, to, len) = (Self::data_kind(out), out.to, out.frame.packet.len());
        let acknowledged = self.is_acknowledged(out);
        let after_rts = acknowledged && self.is_long(out);
        let rate = self.data_rate_mbps(station, kind);
        let airtime = self.phy.airtime_at(self.phy.frame_bytes(kind, len), rate);
        let (duration, wait) = if acknowledged {
            let (t, ack) = (&self.times, self.phy.answer_airtime(self.phy.control_rate_mbps(rate)));
            (t.sifs + ack, airtime + t.sifs + ack + t.propagation * 2)
        } else {
            (Span::ZERO, airtime)
        };
        let mac = &mut self.macs[station as usize];
        let retry = std::mem::replace(&mut mac.data_sent, true);
        // With RTS, `tries` counts those.
        if !after_rts {
            mac.tries = mac.tries.saturating_add(1);
        }
        let (duration_us, sequence) = (duration_us(duration), mac.sequence);
        let head = FrameHead::new(kind, station, to, rate);
        let head = FrameHead { duration_us, sequence, retry, ..head };
        if kind == FrameKind::Data {
            mac.counters.data += 1;
        } else {
            mac.counters.broadcast += 1;
        }
        mac.counters.retries += u32::from(head.retry);
        self.set_sending(now, station, Sending::Data, host);
        self.transmit(now, head, len, wait, host);
    }

    /// A SIFS is over: sends the answer, or the data that a CTS allowed.
    pub(crate) fn defer_over(&mut self, now: Time, station: u32, host: &mut impl Host) {
        self.catch_up(now, station, host);
        let i = station as usize;
        let Some(answer) = self.macs[i].answer else {
            self.send_current(now, station, host);
            return;
        };
        let airtime = self.phy.answer_airtime(in_mbps(answer.rate_100kbps));
        let t = &self.times;
        let (kind, sending, wait) = if answer.ack {
            // 10.3.2.11: without regard to the medium.
            (FrameKind::Ack, Sending::Ack, airtime)
        } else {
            if !self.phy_states[i].is_idle(now, self.times.cca) {
                self.macs[i].answer = None;
                self.note_withheld(station, answer.to);
                self.tell_withheld(now, host);
                return;
            }
            // Until the data could have come: the CTS's duration without the ACK and its SIFS.
            let duration = Span::from_micros(u64::from(answer.duration_us));
            (FrameKind::Cts, Sending::Cts, airtime + duration + t.propagation * 2 - t.sifs - airtime)
        };
        let mac = &mut self.macs[i];
        let Response { to, duration_us, rate_100kbps, .. } = answer;
        let head =
            FrameHead { kind, from: station, to, duration_us, sequence: 0, retry: false, rate_100kbps };
        if answer.ack {
            mac.counters.ack += 1;
        } else {
            mac.counters.cts += 1;
        }
        self.set_sending(now, station, sending, host);
        self.transmit(now, head, 0, wait, host);
    }

    /// Puts a frame on the air. `wait` later, unless an answer comes, the exchange is over.
    pub(crate) fn transmit(
        &mut self,
        now: Time,
        head: FrameHead,
        len: usize,
        wait: Span,
        host: &mut impl Host,
    ) {
        let i = head.from as usize;
        let (bytes, rate_mbps) = (self.phy.frame_bytes(head.kind, len), in_mbps(head.rate_100kbps));
        let airtime = self.phy.airtime_at(bytes, rate_mbps);
        let about = self.about(&head, host);
        if let Some(about) = &about {
            self.note_drowned(head.from, about.id);
        }
        let listens = self.capturing || self.stand_ins;
        let phy_state = &mut self.phy_states[i];
        // Whatever it was receiving is drowned by its own transmitter.
        phy_state.errored = true;
        phy_state.on_air_until = now + airtime;
        let mac = &mut self.macs[i];
        mac.frames += 1;
        let is_read_by_all = head.to == EVERYONE || listens || self.overhear && head.kind.is_data();
        let t =
            Transmission { is_read_by_all, ..Transmission::new(head, mac.frames, bytes, rate_mbps, about) };
        mac.timeout_at = now + wait;
        let body = mac.current.as_ref().filter(|_| head.kind.is_data());
        let frame = FrameAt { at: now, station: head.from, head, body, watts: 0.0 };
        if body.is_some() {
            host.sending(&frame);
        }
        if self.capturing {
            host.captured(&frame);
        }
        let (medium, mut stations) = self.split();
        let slot = medium.start(now, airtime, t, &mut stations, host);
        self.queue_checks(host);
        if !self.jammers.is_empty() {
            self.provoke_jammers(now, host);
        }
        host.schedule(now + airtime, head.from, RadioEvent::End(slot));
        if wait > airtime {
            host.schedule(now + wait, head.from, RadioEvent::Timeout);
        }
    }

    /// A frame was received well. Tells what the MAC makes of it.
    pub(crate) fn accept(&mut self, f: &FrameAt<'_>, host: &mut impl Host) -> Fate {
        let mine = self.is_for(f.at, f.station, &f.head, host);
        if self.associations.is_some()
            && let Some(refused) = self.is_stranger(f)
        {
            return refused;
        }
        if f.head.kind.is_data() && (mine || f.head.to == EVERYONE) {
            let mac = &mut self.macs[f.station as usize];
            if mac.card.as_mut().is_some_and(|c| !c.has_room(f.at)) {
                mac.counters.card_drops += 1;
                return Fate::CardFull;
            }
        }
        match f.head.kind {
            FrameKind::Rts if mine => self.accept_rts(f, host),
            FrameKind::Cts if mine => self.accept_cts(f, host),
            FrameKind::Ack if mine => self.accept_ack(f, host),
            FrameKind::Data if mine => return self.accept_data(f, host),
            FrameKind::Broadcast => self.take_in(f, host),
            FrameKind::Beacon => self.accept_beacon(f),
            FrameKind::Data if self.overhear => host.overheard(f),
            _ => {}
        }
        Fate::Received
    }

    fn accept_rts(&mut self, f: &FrameAt<'_>, host: &mut impl Host) {
        let i = f.station as usize;
        if self.phy_states[i].sending != Sending::Nothing || self.macs[i].answer.is_some() {
            self.note_withheld(f.station, f.head.from);
            return;
        }
        // The CTS goes at the RTS' rate, which is a basic one.
        let cts = self.phy.answer_airtime(in_mbps(f.head.rate_100kbps));
        let left = Span::from_micros(u64::from(f.head.duration_us)) - self.times.sifs - cts;
        let (to, rate_100kbps) = (f.head.from, f.head.rate_100kbps);
        self.macs[i].answer = Some(Response { ack: false, to, duration_us: duration_us(left), rate_100kbps });
        self.go_on(f.at, f.station, host);
    }

    fn accept_cts(&mut self, f: &FrameAt<'_>, host: &mut impl Host) {
        let i = f.station as usize;
        if self.phy_states[i].sending != Sending::Rts {
            return;
        }
        let mac = &mut self.macs[i];
        mac.rts_wanted = false;
        mac.timeout_at = Time::NEVER;
        // 10.3.4.4: the short retry count is reset, the contention window is not.
        mac.short_retries = 0;
        self.go_on(f.at, f.station, host);
    }

    fn accept_ack(&mut self, f: &FrameAt<'_>, host: &mut impl Host) {
        let i = f.station as usize;
        if self.phy_states[i].sending != Sending::Data {
            return;
        }
        let Some(out) = &self.macs[i].current else { return };
        let long = self.is_long(out);
        if self.rates.is_some() {
            self.report_rate(f.station, true);
        }
        let mac = &mut self.macs[i];
        mac.timeout_at = Time::NEVER;
        if long {
            mac.long_retries = 0;
        } else {
            mac.short_retries = 0;
        }
        self.narrow(f.station);
        self.start_backoff(f.at, f.station, host);
        self.finish(f.at, f.station, TxStatus::Acked, host);
        self.go_on(f.at, f.station, host);
    }

    fn accept_data(&mut self, f: &FrameAt<'_>, host: &mut impl Host) -> Fate {
        let i = f.station as usize;
        let out = f.body.expect("a data frame has a body");
        if self.config.acknowledge {
            if self.is_long(out) {
                if self.phy_states[i].sending != Sending::Cts {
                    // Data that we did not clear: no ACK would fit the others' NAV.
                    return Fate::Refused;
                }
                self.macs[i].timeout_at = Time::NEVER;
            } else if self.macs[i].answer.is_some() {
                return Fate::Refused;
            }
            let rate = self.phy.control_rate_mbps(in_mbps(f.head.rate_100kbps));
            let (to, rate_100kbps) = (f.head.from, in_100kbps(rate));
            self.macs[i].answer = Some(Response { ack: true, to, duration_us: 0, rate_100kbps });
            if self.macs[i].timeout_at == Time::NEVER {
                self.go_on(f.at, f.station, host);
            }
            let last = self.macs[i].last_sequence.insert(f.head.from, f.head.sequence);
            if last == Some(f.head.sequence) {
                self.macs[i].counters.duplicates += 1;
                return Fate::Duplicate;
            }
        }
        self.take_in(f, host);
        Fate::Received
    }

    /// One step of an exchange is done: prepares the next (ns-2's `tx_resume`).
    pub(crate) fn go_on(&mut self, now: Time, station: u32, host: &mut impl Host) {
        let i = station as usize;
        if self.macs[i].answer.is_some() {
            self.defer(now, station, host);
        } else if (self.macs[i].current.is_some() || self.macs[i].beacon_due)
            && self.phy_states[i].backoff == Backoff::Off
        {
            let cleared =
                !self.macs[i].rts_wanted && self.macs[i].current.as_ref().is_some_and(|c| self.wants_rts(c));
            if cleared {
                self.defer(now, station, host);
            } else {
                self.start_backoff(now, station, host);
            }
        }
        self.set_sending(now, station, Sending::Nothing, host);
    }

    fn defer(&mut self, now: Time, station: u32, host: &mut impl Host) {
        let at = now + self.times.sifs;
        self.macs[station as usize].defer_until = at;
        host.schedule(at, station, RadioEvent::Defer);
    }

    pub(crate) fn set_sending(&mut self, now: Time, station: u32, sending: Sending, host: &mut impl Host) {
        let phy_state = &mut self.phy_states[station as usize];
        phy_state.sending = sending;
        if sending == Sending::Nothing {
            self.resume_if_idle(now, station, host);
        } else {
            self.times.pause().apply(phy_state, now);
        }
    }
}
