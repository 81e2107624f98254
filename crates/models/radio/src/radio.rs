//! The stations of a run and the air between them.

use wayhop_core::{Span, Time, TxStatus};

use crate::association::Associations;
use crate::card::CardConfig;
use crate::config::{RadioConfig, Reception};
use crate::host::{EVERYONE, FrameAt, FrameHead, Host, Outgoing, RadioEvent};
use crate::jammer::Jammer;
use crate::macs::Macs;
use crate::medium::{LinkOverride, Medium, Receiver, Stations, Transmission};
use crate::phy::{FrameKind, Phy};
use crate::rate_control::Rates;
use crate::station::{Backoff, Counters, PhyState};

/// The state of fewer stations is in the processor's caches when they receive something.
const MANY_STATIONS: usize = 4_096;

/// The stations of a run and the air between them.
pub struct Radio {
    pub(crate) config: RadioConfig,
    pub(crate) seed: u64,
    pub(crate) phy: Phy,
    pub(crate) times: Times,
    pub(crate) phy_states: Vec<PhyState>,
    pub(crate) macs: Macs,
    pub(crate) medium: Medium,
    pub(crate) overhear: bool,
    pub(crate) capturing: bool,
    pub(crate) jammers: Vec<Jammer>,
    /// `None` for a fixed rate.
    pub(crate) rates: Option<Box<Rates>>,
    /// `None` for an ad hoc network.
    pub(crate) associations: Option<Box<Associations>>,
    /// Whether stations answer for others.
    pub(crate) stand_ins: bool,
    awaits_packet: Option<u32>,
}

/// Intervals worked out once.
#[derive(Clone, Debug)]
pub(crate) struct Times {
    pub(crate) slot_ns: u64,
    pub(crate) sifs: Span,
    pub(crate) difs: Span,
    /// How long a carrier goes unnoticed.
    pub(crate) cca: Span,
    pub(crate) eifs: Span,
    /// Allowance for the way there or back, each (ns-2's `DSSS_MaxPropagationDelay`).
    pub(crate) propagation: Span,
}

impl Radio {
    /// `stations` stations with this radio. `seed` is the run's.
    pub fn new(config: &RadioConfig, stations: usize, seed: u64) -> Self {
        let phy = Phy::new(config);
        let slot = Span::from_micros(u64::from(config.slot_us));
        let sifs = Span::from_micros(u64::from(config.sifs_us));
        // IEEE 802.11 10.3.2.3.5: DIFS = SIFS + 2 slots.
        let difs = sifs + slot * 2;
        let times = Times {
            slot_ns: slot.as_nanos(),
            sifs,
            difs,
            cca: Span::from_micros(u64::from(config.cca_us)),
            eifs: phy.eifs(sifs, difs),
            propagation: Span::from_micros(2),
        };
        Self {
            medium: Medium::new(config, &phy, stations, seed),
            phy_states: (0..stations).map(|_| PhyState::new()).collect(),
            macs: Macs::new(stations, seed, config.cw_min, CardConfig::from(config)),
            times,
            rates: Rates::new(config, &phy, seed),
            phy,
            config: config.clone(),
            seed,
            overhear: false,
            capturing: false,
            jammers: Vec::new(),
            associations: Associations::new(config, stations),
            stand_ins: false,
            awaits_packet: None,
        }
    }

    /// Only these stations have this radio; the others neither send nor hear. Before the run begins.
    pub fn set_members(&mut self, members: Vec<bool>) {
        self.medium.neighbours.members = Some(members);
    }

    /// The medium, and what it changes of the stations.
    pub(crate) fn split(&mut self) -> (&mut Medium, Stations<'_>) {
        let stations = Stations {
            phy_states: &mut self.phy_states,
            macs: &mut self.macs,
            pause: self.times.pause(),
            eifs: self.times.eifs,
            eifs_replaces_difs: self.config.eifs_replaces_difs,
        };
        (&mut self.medium, stations)
    }

    /// Overrides a link one way, or (`None`) leaves it to the model again. Losses are drawn by (seed, sender, receiver,
    /// frame).
    pub fn set_link(&mut self, from: u32, to: u32, state: Option<LinkOverride>) {
        self.medium.set_link(self.seed, from, to, state);
    }
    /// The overridden links, as (sender, receiver, state).
    pub fn links(&self) -> impl Iterator<Item = (u32, u32, LinkOverride)> {
        self.medium.overrides.iter().flat_map(|o| o.iter())
    }
    /// Stations are not where [`crate::Motions`] said: queries all positions again.
    pub fn forget_places(&mut self) {
        self.medium.forget_places();
    }

    /// The configuration.
    pub fn config(&self) -> &RadioConfig {
        &self.config
    }
    /// Rates and airtimes.
    pub fn phy(&self) -> &Phy {
        &self.phy
    }
    /// Whether [`Host::stands_in`] is asked.
    pub fn set_stand_ins(&mut self, on: bool) {
        self.stand_ins = on;
    }
    /// Whether a station takes a frame for its own.
    #[inline]
    pub(crate) fn is_for(&self, at: Time, station: u32, head: &FrameHead, host: &mut impl Host) -> bool {
        head.to == station || self.stand_ins && head.to != EVERYONE && host.stands_in(at, station, head)
    }
    /// Whether [`Host::overheard`] is called.
    pub fn set_overhear(&mut self, on: bool) {
        self.overhear = on;
    }
    /// Whether [`Host::captured`] is called.
    pub fn set_capturing(&mut self, on: bool) {
        self.capturing = on;
    }
    /// A station's counters.
    pub fn counters(&self, station: u32) -> &Counters {
        &self.macs[station as usize].counters
    }
    /// The packets in a station's card, and the one being sent.
    pub fn held(&self, station: u32) -> impl Iterator<Item = &Outgoing> {
        let mac = &self.macs[station as usize];
        mac.card.iter().flat_map(|c| c.held()).chain(&mac.current)
    }

    /// Stops or starts a station's driver: while it is stopped, packets stay in the interface queue. The frame that is
    /// being sent is not affected.
    pub fn set_stalled(&mut self, now: Time, station: u32, stalled: bool, host: &mut impl Host) {
        let mac = &mut self.macs[station as usize];
        mac.stalled = stalled;
        if mac.has_frames_in_card() {
            self.load(now, station, host);
        } else if !stalled && mac.current.is_none() && self.awaits_packet.is_none() {
            self.awaits_packet = Some(station);
            self.fetch(now, host);
        }
    }

    /// A station takes no next packet.
    pub(crate) fn forget_wish(&mut self, station: u32) {
        self.awaits_packet.take_if(|s| *s == station);
    }

    /// A packet entered a station's interface queue: it is sent at once if the station is free.
    pub fn wake(&mut self, now: Time, station: u32, host: &mut impl Host) {
        let mac = &self.macs[station as usize];
        if mac.has_frames_in_card() {
            return self.load(now, station, host);
        }
        let is_free = mac.current.is_none() && !mac.stalled && self.awaits_packet != Some(station);
        if is_free && let Some(out) = self.next_admitted(now, station, host) {
            self.offer(now, station, out, host);
        }
    }

    /// The next packet of a station's interface queue that the network takes; the others before it fail at once.
    pub(crate) fn next_admitted(&self, now: Time, station: u32, host: &mut impl Host) -> Option<Outgoing> {
        loop {
            let out = host.next(station)?;
            if self.may_send(now, station, out.to) {
                return Some(out);
            }
            let status = if out.to == EVERYONE { TxStatus::Unknown } else { TxStatus::NoAck { tries: 0 } };
            host.finished(now, station, out, status);
        }
    }

    /// After [`Radio::handle`]: lets a station whose packet is done with begin the next one. The host calls it when it
    /// has acted on [`Host::finished`], so that a routing protocol can take packets for a broken link out of the queue
    /// first.
    pub fn fetch(&mut self, now: Time, host: &mut impl Host) {
        let Some(station) = self.awaits_packet.take() else { return };
        if self.macs[station as usize].has_frames_in_card() {
            self.send_from_card(now, station, host);
            return self.load(now, station, host);
        }
        if !self.macs[station as usize].stalled
            && let Some(out) = self.next_admitted(now, station, host)
        {
            self.offer(now, station, out, host);
        }
    }

    /// What was scheduled is due.
    pub fn handle(&mut self, now: Time, station: u32, event: RadioEvent, host: &mut impl Host) {
        let i = station as usize;
        match event {
            RadioEvent::End(slot) => {
                self.end(now, slot, host);
                // A frame that expects no answer is over with its last bit.
                self.check_timeout(now, station, host);
            }
            RadioEvent::Backoff => self.backoff_event(now, station, host),
            RadioEvent::Defer => {
                if self.macs[i].defer_until == now {
                    self.macs[i].defer_until = Time::NEVER;
                    self.defer_over(now, station, host);
                }
            }
            RadioEvent::Idle => self.resume_if_idle(now, station, host),
            RadioEvent::Timeout => self.check_timeout(now, station, host),
            RadioEvent::Loaded => self.loaded(now, station, host),
            RadioEvent::Jam => self.jam(now, station, host),
            RadioEvent::Beacon => self.beacon_event(now, station, host),
            RadioEvent::Battery => {}
        }
    }

    fn check_timeout(&mut self, now: Time, station: u32, host: &mut impl Host) {
        let mac = &mut self.macs[station as usize];
        if mac.timeout_at == now {
            mac.timeout_at = Time::NEVER;
            self.timed_out(now, station, host);
        }
    }

    /// Ends a packet and remembers that its station wants another.
    pub(crate) fn finish(&mut self, now: Time, station: u32, status: TxStatus, host: &mut impl Host) {
        let mac = &mut self.macs[station as usize];
        let out = mac.current.take().expect("a packet is being sent");
        mac.tries = 0;
        mac.data_sent = false;
        debug_assert!(self.awaits_packet.is_none());
        self.awaits_packet = Some(station);
        host.finished(now, station, out, status);
    }

    /// All that is heard of `transmission` has been heard.
    fn end(&mut self, now: Time, slot: u32, host: &mut impl Host) {
        let transmission = self.medium.take(slot);
        // Lent to the receivers while they look at it; none of them is its sender.
        let body = if transmission.head.kind.is_data() {
            self.macs[transmission.head.from as usize].current.take()
        } else {
            None
        };
        if self.phy_states.len() >= MANY_STATIONS {
            self.look_ahead(&transmission.receivers);
        }
        let outgoing = body.as_ref();
        for r in &transmission.receivers {
            let at = now + Span::from_nanos(u64::from(r.delay_ns));
            if self.phy_states[r.station as usize].locked == slot {
                self.heard(at, r.station, slot, &transmission, outgoing, host);
            }
            // Most have nothing to send: they are not called for it.
            if self.phy_states[r.station as usize].backoff == Backoff::Paused {
                self.resume_if_idle(at, r.station, host);
            }
        }
        if self.medium.watch.is_some() {
            self.tell_fates(now, slot, &transmission, body.as_ref(), host);
        }
        if body.is_some() {
            self.macs[transmission.head.from as usize].current = body;
        }
        self.medium.give_back(slot, transmission);
    }

    /// Has the memory of all receivers of a frame fetched at once, instead of one after the other.
    fn look_ahead(&self, receivers: &[Receiver]) {
        std::hint::black_box(receivers.iter().fold(false, |all, r| all ^ self.touch(r.station)));
    }

    /// Reads the state of a station, so that it is in the processor's caches. The answer has no meaning.
    #[inline]
    #[must_use]
    pub fn touch(&self, station: u32) -> bool {
        let i = station as usize;
        let mac = &self.macs[i];
        self.phy_states[i].collided ^ mac.card.is_some() ^ (mac.counters.received == 0)
    }

    /// The end of the frame that a station was trying to receive.
    fn heard(
        &mut self,
        at: Time,
        station: u32,
        slot: u32,
        transmission: &Transmission,
        body: Option<&Outgoing>,
        host: &mut impl Host,
    ) {
        let i = station as usize;
        let phy_state = &mut self.phy_states[i];
        phy_state.locked = crate::station::NONE;
        let head = &transmission.head;
        let (watts, is_collided) = (phy_state.watts, phy_state.collided);
        if phy_state.on_air_until > at {
            // Its own transmitter drowned the frame: it never knew of it.
            return;
        }
        let lost = head.kind == FrameKind::Noise
            || is_collided
            || phy_state.errored
            || (self.config.reception == Reception::Sinr
                && !self.medium.survives(station, slot, transmission, watts, &self.phy));
        if lost {
            if self.medium.watch.is_some() {
                self.note_lost(station, slot, transmission, watts);
            }
            if is_collided {
                self.macs[i].counters.collisions += 1;
            }
            self.split().1.wait_eifs(at, station);
            return;
        }
        if self.config.eifs_replaces_difs {
            self.macs[i].eifs_until = Time::ZERO;
        }
        if !self.is_for(at, station, head, host) {
            let phy_state = &mut self.phy_states[i];
            phy_state.nav = phy_state.nav.max(at + Span::from_micros(u64::from(head.duration_us)));
        }
        let frame = FrameAt { at, station, head: *head, body, watts };
        if self.capturing {
            host.captured(&frame);
        }
        let fate = self.accept(&frame, host);
        if self.medium.watch.is_some() {
            self.settle(station, slot, fate);
        }
    }
}
