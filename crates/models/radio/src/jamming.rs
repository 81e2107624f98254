//! Jamming: when a station of a jammer's plan sends its bursts.

use wayhop_core::{Purpose, Span, Time, stream};

use crate::host::{EVERYONE, FrameHead, Host, RadioEvent};
use crate::jammer::{Jammer, Jamming, JammingMode};
use crate::medium::Transmission;
use crate::phy::FrameKind;
use crate::radio::Radio;

impl Radio {
    /// Makes a station a jammer. Before the run begins.
    pub fn set_jammer(&mut self, station: u32, plan: Jamming, host: &mut impl Host) {
        let rng = stream(self.seed, Purpose::Attacks, u64::from(station) | 1 << 32);
        let jammer = Jammer { station, plan, rng, on_air_until: Time::ZERO, bursts: 0 };
        self.jammers.push(jammer);
        // Noise need not be as strong as frames, and reactive jammers sense what they cannot decode.
        self.medium.tell_all();
        if !matches!(plan.mode, JammingMode::Reactive(_)) {
            host.schedule(plan.from, station, RadioEvent::Jam);
        }
    }

    pub(crate) fn jam(&mut self, now: Time, station: u32, host: &mut impl Host) {
        let is_off = self.medium.is_off(station);
        let Some(j) = self.jammers.iter_mut().find(|j| j.station == station) else { return };
        if now >= j.plan.until {
            return;
        }
        let next = match j.plan.mode {
            JammingMode::Constant => Some(now + j.plan.burst),
            JammingMode::Random(pause) => {
                let pause = Span::from_secs_f64(j.rng.exponential(pause.as_secs_f64()));
                Some(now + j.plan.burst + pause)
            }
            JammingMode::Reactive(_) => None,
        };
        if let Some(next) = next {
            host.schedule(next, station, RadioEvent::Jam);
        }
        if is_off || j.on_air_until > now {
            return;
        }
        let airtime = j.plan.burst;
        j.on_air_until = now + airtime;
        j.bursts += 1;
        let (number, gain) = (1 << 63 | j.bursts, j.plan.gain);
        let head = FrameHead::new(FrameKind::Noise, station, EVERYONE, 0.0);
        let about = self.about(&head, host);
        let t = Transmission::new(head, number, 0, 1.0, about);
        self.medium.gain = gain;
        let (medium, mut stations) = self.split();
        let slot = medium.start(now, airtime, t, &mut stations, host);
        self.medium.gain = 1.0;
        self.queue_checks(host);
        host.schedule(now + airtime, station, RadioEvent::End(slot));
    }

    /// A frame is on the air: those reactive jammers that sense it will answer.
    #[cold]
    pub(crate) fn provoke_jammers(&self, now: Time, host: &mut impl Host) {
        for j in &self.jammers {
            if let JammingMode::Reactive(reaction) = j.plan.mode
                && now >= j.plan.from
                && let Some(delay) = self.medium.delay_to(j.station)
            {
                host.schedule(now + delay + reaction, j.station, RadioEvent::Jam);
            }
        }
    }
}
