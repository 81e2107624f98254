//! TCP in a traffic file: agents, sinks, and their sources.

use wayhop_core::{Span, Time};
use wayhop_document::{Error, LineColumn, Result};
use wayhop_transport::tcp::{App, MAX_SEGMENT, MAX_WINDOW, TcpConfig, Variant};

use super::generator::periods;
use super::value;

/// The interval of `Agent/TCPSink/DelAck` in `tcl/lib/ns-default.tcl`.
pub(super) const DELAYED_ACK: Span = Span::from_millis(100);

/// `Agent/TCP/...`, a sender.
#[derive(Clone, Debug)]
pub(super) struct Ns2Agent {
    pub(super) node: Option<u32>,
    pub(super) peer: Option<usize>,
    pub(super) config: TcpConfig,
}

/// `Agent/TCPSink/...`
#[derive(Clone, Debug)]
pub(super) struct Sink {
    pub(super) node: Option<u32>,
    pub(super) delayed_ack: Option<Span>,
}

/// `Application/FTP`.
#[derive(Clone, Debug, Default)]
pub(super) struct Ftp {
    pub(super) agent: Option<usize>,
    max_packets: Option<u64>,
    pub(super) switches: Vec<(Time, bool)>,
    /// Times of `produce` (segments) and `send` (octets).
    sized: Vec<(Time, Amount)>,
}

#[derive(Copy, Clone, Debug)]
enum Amount {
    Segments(u64),
    Octets(u64),
}

impl Ns2Agent {
    /// The agent of a class, without the leading `Agent/`.
    pub(super) fn new(class: &str) -> Result<Self> {
        let variant = match class {
            "TCP" => Variant::Tahoe,
            "TCP/Reno" => Variant::Reno,
            "TCP/Newreno" => Variant::NewReno,
            "TCP/Sack1" => Variant::Sack,
            "TCP/Vegas" => Variant::Vegas,
            other => {
                let remedy = "use Agent/TCP (Tahoe), or its Reno, Newreno, Sack1 or Vegas";
                return Err(Error::new(format!("Agent/{other} is not supported"), remedy));
            }
        };
        Ok(Self { node: None, peer: None, config: TcpConfig { variant, ..TcpConfig::ns2() } })
    }

    pub(super) fn set(&mut self, key: &str, text: &str, place: LineColumn) -> Result<()> {
        let c = &mut self.config;
        let time = || value::seconds(text, key, place).map(Span::from_secs_f64);
        let on = || match value::truth(text) {
            Some(on) => Ok(on),
            None => value::number(text, key, place).map(|v| v != 0.0),
        };
        match key {
            "packetSize_" => c.segment_bytes = value::count(text, key, u64::from(MAX_SEGMENT), place)? as u32,
            "window_" => c.window_segments = value::number(text, key, place)?.clamp(0.0, 1e9) as u32,
            "maxcwnd_" => {
                let most = value::count(text, key, u64::from(u32::MAX), place)? as u32;
                if most > 0 {
                    c.window_segments = c.window_segments.min(most);
                }
            }
            "windowInit_" => c.initial_window = value::count(text, key, u64::from(MAX_WINDOW), place)? as u32,
            "tcpTick_" => c.rto.tick = Some(time()?),
            "minrto_" => c.rto.min = time()?,
            "maxrto_" => c.rto.max = time()?,
            "rtxcur_init_" => c.rto.initial = time()?,
            "singledup_" => c.limited_transmit = on()?,
            "syn_" => c.handshake = on()?,
            // Those that are as ns-2 sets them up anyway, and labels.
            "fid_" | "class_" | "prio_" | "flags_" | "ttl_" | "seqno_" | "trace_all_oneline_" => {}
            "timestamps_" | "ecn_" | "overhead_" | "maxburst_" if !on()? => {}
            _ => {
                return Err(Error::new(
                    format!("{key} {text} is not a supported TCP setting"),
                    "use packetSize_, window_, maxcwnd_, windowInit_, tcpTick_, minrto_, maxrto_, rtxcur_init_, singledup_, syn_",
                )
                .at(place));
            }
        }
        c.check().map_err(|(_, why)| Error::new(why, "use another value").key(key).at(place))
    }
}

impl Sink {
    /// The sink of a class, without the leading `Agent/`.
    pub(super) fn new(class: &str) -> Result<Self> {
        let delayed_ack = match class {
            "TCPSink" | "TCPSink/Sack1" => None,
            "TCPSink/DelAck" | "TCPSink/Sack1/DelAck" => Some(DELAYED_ACK),
            other => {
                let remedy = "use Agent/TCPSink, or its DelAck, Sack1 or Sack1/DelAck";
                return Err(Error::new(format!("Agent/{other} is not supported"), remedy));
            }
        };
        Ok(Self { node: None, delayed_ack })
    }

    pub(super) fn set(&mut self, key: &str, text: &str, place: LineColumn) -> Result<()> {
        if key == "interval_" && self.delayed_ack.is_some() {
            self.delayed_ack = Some(Span::from_secs_f64(value::seconds(text, key, place)?));
        }
        Ok(())
    }
}

impl Ftp {
    pub(super) fn set(&mut self, key: &str, text: &str, place: LineColumn) -> Result<()> {
        if key == "maxpkts_" {
            self.max_packets = Some(value::count(text, key, i32::MAX as u64, place)?);
        }
        Ok(())
    }

    /// `$ftp produce N` and `$ftp send OCTETS`; false for anything else.
    pub(super) fn order(&mut self, at: Time, verb: &str, text: &str, place: LineColumn) -> Result<bool> {
        let n = || value::count(text, verb, i32::MAX as u64, place);
        let amount = match verb {
            "produce" | "producemore" => Amount::Segments(n()?),
            "send" => Amount::Octets(n()?),
            _ => return Ok(false),
        };
        self.sized.push((at, amount));
        Ok(true)
    }

    /// The transfers: from when, until when, and how much.
    pub(super) fn transfers(&self, segment_bytes: u32) -> Vec<(Time, Option<Time>, App)> {
        let octets = |segments: u64| segments * u64::from(segment_bytes);
        let whole = App::Bulk { bytes: self.max_packets.map(octets) };
        let runs = periods(&self.switches).map(|(start, stop)| (start, stop, whole));
        let sized = self.sized.iter().map(|&(start, amount)| {
            let bytes = match amount {
                Amount::Segments(n) => octets(n),
                Amount::Octets(n) => n,
            };
            (start, None, App::Bulk { bytes: Some(bytes.max(1)) })
        });
        let mut out: Vec<_> = runs.chain(sized).collect();
        out.sort_by_key(|t| t.0);
        out
    }
}
