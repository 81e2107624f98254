//! `Application/Traffic/...` in a traffic file: sources on `Agent/UDP`.

use wayhop_core::{Span, Time};
use wayhop_document::{Error, LineColumn, Result};
use wayhop_transport::{FlowKind, Lengths, OnOff};

use super::value;

/// ns-2's defaults (`tcl/lib/ns-default.tcl`): all three classes have this size.
const PACKET_SIZE: u32 = 210;
const CBR_RATE: f64 = 448e3;
const CBR_MAX_PACKETS: u64 = 268_435_456;
const BURST_RATE: f64 = 64e3;
const BURST_TIME: f64 = 0.5;
const IDLE_TIME: f64 = 0.5;
const PARETO_SHAPE: f64 = 1.5;
/// The longest UDP payload in an IPv4 packet.
pub(super) const MAX_PAYLOAD: u64 = 65_507;

/// A generator. Setting `interval_` of a CBR sets the rate for the packet size of that moment, as in ns-2
/// (`tcl/lib/ns-source.tcl`), so that a later `packetSize_` changes the interval.
#[derive(Clone, Debug)]
pub(super) struct Generator {
    pub(super) agent: Option<usize>,
    pub(super) packet_size: u32,
    rate_bps: f64,
    pub(super) switches: Vec<(Time, bool)>,
    rhythm: Rhythm,
}

#[derive(Copy, Clone, Debug)]
enum Rhythm {
    Cbr { random: bool, max_packets: u64 },
    Bursts { on_s: f64, off_s: f64, lengths: Lengths },
}

impl Generator {
    /// That of a class, without the leading `Traffic/`.
    pub(super) fn new(class: &str) -> Option<Self> {
        let bursts = |lengths| Rhythm::Bursts { on_s: BURST_TIME, off_s: IDLE_TIME, lengths };
        let (rate_bps, rhythm) = match class {
            "CBR" => (CBR_RATE, Rhythm::Cbr { random: false, max_packets: CBR_MAX_PACKETS }),
            "Exponential" => (BURST_RATE, bursts(Lengths::Exponential)),
            "Pareto" => (BURST_RATE, bursts(Lengths::Pareto { shape: PARETO_SHAPE })),
            _ => return None,
        };
        Some(Self { agent: None, packet_size: PACKET_SIZE, rate_bps, switches: Vec::new(), rhythm })
    }

    /// `$generator set KEY VALUE`. Returns what a user should know.
    pub(super) fn set(&mut self, key: &str, text: &str, place: LineColumn) -> Result<Option<String>> {
        let positive = |v: f64| {
            let wrong = || Error::new(format!("{text} is not a time above zero"), "use a longer one");
            (v > 0.0).then_some(v).ok_or_else(|| wrong().key(key).at(place))
        };
        let seconds = || value::seconds(text, key, place);
        match (&mut self.rhythm, key) {
            (_, "packetSize_" | "packet_size_") => {
                self.packet_size = value::count(text, key, MAX_PAYLOAD, place)? as u32;
            }
            (_, "rate_") => self.rate_bps = value::bandwidth(text, key, place)?,
            (Rhythm::Cbr { .. }, "interval_") => {
                self.rate_bps = f64::from(self.packet_size) * 8.0 / positive(seconds()?)?;
            }
            // ns-2 has a whole number in it, and reads any word as 0.
            (Rhythm::Cbr { random, .. }, "random_") => match value::truth(text) {
                Some(on) => {
                    *random = false;
                    let line = place.line;
                    let remark = format!(
                        "random_ {text} (line {line}) counts as 0, as in ns-2: write 1 for random intervals"
                    );
                    return Ok(on.then_some(remark));
                }
                None => *random = value::number(text, key, place)? != 0.0,
            },
            (Rhythm::Cbr { max_packets, .. }, "maxpkts_") => {
                *max_packets = value::count(text, key, i32::MAX as u64, place)?;
            }
            (Rhythm::Bursts { on_s, .. }, "burst_time_") => *on_s = positive(seconds()?)?,
            (Rhythm::Bursts { off_s, .. }, "idle_time_") => {
                let idle = seconds()?;
                *off_s = if idle == 0.0 { idle } else { positive(idle)? };
            }
            (Rhythm::Bursts { lengths: Lengths::Pareto { shape }, .. }, "shape_") => {
                *shape = value::number(text, key, place)?;
                if *shape <= 1.0 {
                    let reason = format!("{text} has no finite mean");
                    return Err(Error::new(reason, "use a shape above 1").key(key).at(place));
                }
            }
            (_, key) if value::is_label(key) => {}
            (rhythm, _) => {
                let known = match rhythm {
                    Rhythm::Cbr { .. } => "packetSize_, interval_, rate_, random_, maxpkts_",
                    Rhythm::Bursts { lengths: Lengths::Exponential, .. } => {
                        "packetSize_, rate_, burst_time_, idle_time_"
                    }
                    Rhythm::Bursts { .. } => "packetSize_, rate_, burst_time_, idle_time_, shape_",
                };
                return Err(value::unknown_variable(key, known).at(place));
            }
        }
        Ok(None)
    }

    /// What it sends, or what is wrong and the remedy.
    pub(super) fn kind(&self) -> Result<FlowKind, (String, &'static str)> {
        if self.packet_size == 0 || self.rate_bps <= 0.0 {
            let reason = format!("sends {} bytes at {} b/s", self.packet_size, self.rate_bps);
            return Err((reason, "set both to a value above zero"));
        }
        let interval = Span::from_secs_f64(f64::from(self.packet_size) * 8.0 / self.rate_bps);
        if interval < Span::from_micros(1) {
            let reason = "sends more than a million packets a second".to_owned();
            return Err((reason, "use a lower rate_ or a longer interval_"));
        }
        Ok(match self.rhythm {
            Rhythm::Cbr { random, .. } => FlowKind::Cbr { interval, jitter: if random { 0.5 } else { 0.0 } },
            Rhythm::Bursts { on_s, off_s, lengths } => {
                // At least a nanosecond, as for all lengths of time.
                let on = Span::from_secs_f64(on_s).max(Span::from_nanos(1));
                FlowKind::OnOff(OnOff { interval, on, off: Span::from_secs_f64(off_s), lengths })
            }
        })
    }

    pub(super) fn max_packets(&self) -> Option<u64> {
        match self.rhythm {
            Rhythm::Cbr { max_packets, .. } => (max_packets < CBR_MAX_PACKETS).then_some(max_packets),
            Rhythm::Bursts { .. } => None,
        }
    }
}

/// From when to when an application runs. A start while it runs starts the schedule afresh, as in ns-2.
pub(super) fn periods(switches: &[(Time, bool)]) -> impl Iterator<Item = (Time, Option<Time>)> + use<> {
    let mut switches = switches.to_vec();
    switches.sort_by_key(|s| s.0);
    let mut out: Vec<(Time, Option<Time>)> = Vec::new();
    for (t, on) in switches {
        if let Some((_, stop @ None)) = out.last_mut() {
            *stop = Some(t);
        }
        if on {
            out.push((t, None));
        }
    }
    out.into_iter()
}
