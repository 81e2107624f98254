//! What stations' radios draw from batteries: power by state, as ns-2's `EnergyModel` (`mac/wireless-phy.cc`).
//!
//! A radio sends, or receives - anything strong enough to be sensed, whatever its destination and result -,
//! or is idle; one that is switched off sleeps. Time in each state is counted in whole nanoseconds, so that
//! sums are exact. A frame that begins within the 2 us by which stations are told ahead, with a gap after the
//! frame before, ends that one's time early for a transmission of the station's own: an error below 2 us.

use wayhop_core::{Span, Time};

/// The power that a radio draws, W.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Draw {
    /// While it sends.
    pub tx_watts: f64,
    /// While it hears something.
    pub rx_watts: f64,
    /// While it hears nothing.
    pub idle_watts: f64,
    /// While it is switched off.
    pub sleep_watts: f64,
}

/// A battery, and what the radio draws from it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Supply {
    /// Energy at the start, J.
    pub joules: f64,
    /// Power by state.
    pub draw: Draw,
}

/// Energy that a station's radio has used, J.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EnergyUsed {
    /// In the battery at the start.
    pub initial_j: f64,
    /// Sending.
    pub tx_j: f64,
    /// Receiving.
    pub rx_j: f64,
    /// Idle.
    pub idle_j: f64,
    /// Switched off.
    pub sleep_j: f64,
    /// When the battery ran empty, if it did.
    pub empty_at: Option<Time>,
}

impl EnergyUsed {
    /// In all states together, J; at most what there was.
    pub fn used_j(&self) -> f64 {
        (self.tx_j + self.rx_j + self.idle_j + self.sleep_j).min(self.initial_j)
    }
    /// What is left, J.
    pub fn remaining_j(&self) -> f64 {
        if self.empty_at.is_some() { 0.0 } else { self.initial_j - self.used_j() }
    }
}

#[derive(Copy, Clone, Debug)]
enum State {
    Tx,
    Rx,
    Idle,
    Sleep,
}

/// When the battery cannot be empty within this time at the highest power, the exact time is not worked out yet.
const FAR: Span = Span::from_millis(100);

/// One station's.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meter {
    supply: Supply,
    /// Accounted for up to here, by state.
    at: Time,
    times: [Span; 4],
    tx_until: Time,
    rx_from: Time,
    rx_until: Time,
    is_off: bool,
    /// When the next event that looks at it comes up; [`Time::NEVER`] for none.
    check_at: Time,
    empty_at: Option<Time>,
}

impl Meter {
    fn new(supply: Supply) -> Self {
        Self { supply, check_at: Time::NEVER, ..Self::default() }
    }

    fn watts(&self, state: State) -> f64 {
        let d = &self.supply.draw;
        match state {
            State::Tx => d.tx_watts,
            State::Rx => d.rx_watts,
            State::Idle => d.idle_watts,
            State::Sleep => d.sleep_watts,
        }
    }

    fn max_watts(&self) -> f64 {
        let d = &self.supply.draw;
        d.tx_watts.max(d.rx_watts).max(d.idle_watts).max(d.sleep_watts)
    }

    fn joules(&self, state: State) -> f64 {
        self.times[state as usize].as_nanos() as f64 * self.watts(state) / 1e9
    }

    fn left(&self) -> f64 {
        let all = [State::Tx, State::Rx, State::Idle, State::Sleep];
        self.supply.joules - all.into_iter().map(|s| self.joules(s)).sum::<f64>()
    }

    /// The state that it is in, and until when if nothing happens.
    fn state(&self) -> (State, Time) {
        if self.is_off {
            (State::Sleep, Time::NEVER)
        } else if self.at < self.tx_until {
            (State::Tx, self.tx_until)
        } else if self.at < self.rx_from {
            (State::Idle, self.rx_from)
        } else if self.at < self.rx_until {
            (State::Rx, self.rx_until)
        } else {
            (State::Idle, Time::NEVER)
        }
    }

    fn settle(&mut self, now: Time) {
        while self.at < now && self.empty_at.is_none() {
            let (state, until) = self.state();
            let until = until.min(now);
            self.times[state as usize] += until.since(self.at);
            self.at = until;
        }
    }

    /// When the battery will be empty if nothing happens; [`Time::NEVER`] if it will not.
    fn empties(&self) -> Time {
        let mut ahead = self.clone();
        loop {
            let (state, until) = ahead.state();
            let watts = self.watts(state);
            if watts > 0.0 {
                // A whole nanosecond later rather than earlier.
                let empty = ahead.at + Span::from_nanos((ahead.left() / watts * 1e9).ceil() as u64);
                if empty <= until {
                    return empty;
                }
            }
            if until == Time::NEVER {
                return until;
            }
            ahead.settle(until);
        }
    }

    /// The time for which an event is to be queued, if it needs a new one.
    fn next_check(&mut self) -> Option<Time> {
        if self.empty_at.is_some() {
            return None;
        }
        let surely = Span::from_secs_f64(self.left() / self.max_watts());
        let due = if surely > FAR { self.at + surely } else { self.empties() };
        (due < self.check_at).then(|| {
            self.check_at = due;
            due
        })
    }

    fn hear(&mut self, now: Time, from: Time, until: Time) {
        self.settle(now);
        if from > self.rx_until {
            self.settle(self.rx_until);
        }
        if self.at >= self.rx_until {
            self.rx_from = from;
            self.rx_until = until;
        } else {
            self.rx_from = self.rx_from.min(from);
            self.rx_until = self.rx_until.max(until);
        }
    }

    fn set_off(&mut self, now: Time, is_off: bool) {
        self.settle(now);
        self.is_off = is_off;
        // What was on the air is over for it.
        self.tx_until = self.tx_until.min(now);
        self.rx_from = self.rx_from.min(now);
        self.rx_until = self.rx_until.min(now);
    }

    fn used(&self, now: Time) -> EnergyUsed {
        let mut then = self.clone();
        then.settle(now);
        EnergyUsed {
            initial_j: self.supply.joules,
            tx_j: then.joules(State::Tx),
            rx_j: then.joules(State::Rx),
            idle_j: then.joules(State::Idle),
            sleep_j: then.joules(State::Sleep),
            empty_at: self.empty_at,
        }
    }
}

/// Those of all stations.
pub(crate) struct Meters {
    by_station: Vec<Option<Meter>>,
    /// Signals from this power on are received, whatever becomes of them, W.
    pub(crate) sensed_watts: f64,
    /// Events to be queued: when, for whom.
    pub(crate) checks: Vec<(Time, u32)>,
}

impl Meters {
    pub(crate) fn new(supplies: &[Option<Supply>], sensed_watts: f64) -> Self {
        let by_station = supplies.iter().map(|s| s.map(Meter::new)).collect();
        let mut all = Self { by_station, sensed_watts, checks: Vec::new() };
        (0..supplies.len() as u32).for_each(|station| all.change(station, |_| ()));
        all
    }

    /// Something happens to a station.
    fn change(&mut self, station: u32, how: impl FnOnce(&mut Meter)) {
        let Some(meter) = &mut self.by_station[station as usize] else { return };
        how(meter);
        if let Some(at) = meter.next_check() {
            self.checks.push((at, station));
        }
    }

    pub(crate) fn send(&mut self, now: Time, station: u32, until: Time) {
        self.change(station, |m| {
            m.settle(now);
            m.tx_until = until;
        });
    }

    pub(crate) fn hear(&mut self, now: Time, station: u32, from: Time, until: Time) {
        self.change(station, |m| m.hear(now, from, until));
    }

    pub(crate) fn set_off(&mut self, now: Time, station: u32, is_off: bool) {
        self.change(station, |m| m.set_off(now, is_off));
    }

    /// The event of a station came up: whether its battery has just run empty.
    pub(crate) fn check(&mut self, now: Time, station: u32) -> bool {
        let Some(meter) = self.by_station[station as usize].as_mut().filter(|m| m.check_at == now) else {
            return false;
        };
        meter.check_at = Time::NEVER;
        meter.settle(now);
        // Less than a nanosecond's worth is what rounding leaves.
        if meter.left() <= 1e-9 * meter.max_watts() {
            meter.empty_at = Some(now);
            return true;
        }
        self.change(station, |_| ());
        false
    }

    pub(crate) fn used(&self, now: Time, station: u32) -> Option<EnergyUsed> {
        self.by_station[station as usize].as_ref().map(|m| m.used(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAW: Draw = Draw { tx_watts: 2.0, rx_watts: 1.0, idle_watts: 0.5, sleep_watts: 0.125 };

    fn ms(t: u64) -> Time {
        Time::from_nanos(t * 1_000_000)
    }

    fn meters(joules: f64) -> Meters {
        Meters::new(&[Some(Supply { joules, draw: DRAW })], 0.0)
    }

    #[test]
    fn time_in_each_state_times_power_is_the_energy() {
        let mut all = meters(10.0);
        // Hears from 100 to 300 ms and from 200 to 400 ms, sends from 350 to 450 ms, sleeps from 600 to 1000 ms.
        all.hear(ms(100), 0, ms(100), ms(300));
        all.hear(ms(200), 0, ms(200), ms(400));
        all.send(ms(350), 0, ms(450));
        all.set_off(ms(600), 0, true);
        let used = all.used(ms(1_000), 0).unwrap();
        // Received for 250 ms, sent for 100 ms, idle for 100 + 150 ms, asleep for 400 ms.
        assert_eq!((used.rx_j, used.tx_j, used.idle_j, used.sleep_j), (0.25, 0.2, 0.125, 0.05));
        assert_eq!(used.remaining_j(), 10.0 - 0.625);
    }

    #[test]
    fn a_battery_is_empty_at_the_exact_time() {
        // 100 ms idle, 10 ms on the air, then idle again: 0.05 + 0.02 J; the other 0.03 J last 60 ms.
        let mut all = meters(0.1);
        let mut queue: Vec<Time> = all.checks.drain(..).map(|c| c.0).collect();
        let mut sent = false;
        loop {
            queue.sort_unstable();
            let now = queue.remove(0);
            if !sent && now >= ms(100) {
                sent = true;
                all.send(ms(100), 0, ms(110));
                queue.extend(all.checks.drain(..).map(|c| c.0));
                queue.push(now);
                continue;
            }
            if all.check(now, 0) {
                assert_eq!(now, ms(170));
                break;
            }
            queue.extend(all.checks.drain(..).map(|c| c.0));
        }
        let used = all.used(ms(500), 0).unwrap();
        assert_eq!((used.empty_at, used.remaining_j()), (Some(ms(170)), 0.0));
        assert!((used.used_j() - 0.1).abs() < 1e-12);
    }

    #[test]
    fn a_radio_that_draws_nothing_idle_never_runs_empty() {
        let draw = Draw { idle_watts: 0.0, ..DRAW };
        let mut all = Meters::new(&[Some(Supply { joules: 0.1, draw })], 0.0);
        for _ in 0..1_000 {
            let Some((at, _)) = all.checks.pop() else { return };
            assert!(!all.check(at, 0));
        }
        // It looks now and then, at most twenty times a second.
        assert!(all.used(ms(0), 0).is_some());
    }
}
