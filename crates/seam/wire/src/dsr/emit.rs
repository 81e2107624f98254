//! Writing options.

use super::option::{MAX_REPLY_ADDRESSES, MAX_REQUEST_ADDRESSES, MAX_ROUTE_ADDRESSES};
use super::writer::Writer;
use super::{DsrOption, Location, RouteErrorKind};
use crate::Error;

impl DsrOption<'_> {
    /// Length of the emitted option with type and length octets, in octets.
    pub fn buffer_len(&self) -> usize {
        match self {
            Self::RouteRequest(o) => 8 + 4 * o.addresses.len(),
            Self::RouteReply(o) => 3 + 4 * o.addresses.len(),
            Self::RouteError(o) => 12 + o.kind.info_len(),
            Self::AckRequest { source, .. } => 4 + if source.is_some() { 4 } else { 0 },
            Self::Ack { .. } => 12,
            Self::SourceRoute(o) => 4 + 4 * o.addresses.len(),
            Self::Pad1 => 1,
            Self::PadN(n) => 2 + usize::from(*n),
            Self::Timeout { .. } => 4,
            Self::FlowId { .. } => 8,
            Self::Location(_) => Location::OPTION_LEN,
            Self::Probe(p) => 2 + p.data_len(),
            Self::LinkMetrics(m) => 2 + m.data_len(),
            Self::Unknown { data, .. } => 2 + data.len(),
        }
    }

    /// Whether every field fits its bits, and the option its length octet.
    pub fn check(&self) -> Result<(), Error> {
        let four_bits = |v: u8| if v > 15 { Err(Error::Value("salvage")) } else { Ok(()) };
        let at_most = |n: usize, max: usize| if n > max { Err(Error::Full) } else { Ok(()) };
        match self {
            Self::RouteRequest(o) => at_most(o.addresses.len(), MAX_REQUEST_ADDRESSES),
            Self::RouteReply(o) => at_most(o.addresses.len(), MAX_REPLY_ADDRESSES),
            Self::RouteError(o) => {
                four_bits(o.salvage)?;
                at_most(o.kind.info_len(), 255 - 10)
            }
            Self::SourceRoute(o) => {
                four_bits(o.salvage)?;
                at_most(o.addresses.len(), MAX_ROUTE_ADDRESSES)?;
                if o.segments_left > 63 { Err(Error::Value("segments left")) } else { Ok(()) }
            }
            Self::Location(l) => l.check(),
            Self::Probe(p) => at_most(p.data_len(), 255),
            Self::LinkMetrics(m) => at_most(m.data_len(), 255),
            Self::Unknown { data, .. } => at_most(data.len(), 255),
            _ => Ok(()),
        }
    }

    /// Writes the option, or says why its fields do not fit ([`DsrOption::check`]) and writes nothing.
    /// Panics if `buf` is shorter than [`DsrOption::buffer_len`].
    pub fn emit(&self, buf: &mut [u8]) -> Result<(), Error> {
        self.check()?;
        let len = self.buffer_len();
        let mut w = Writer { buf: &mut buf[..len], at: 0 };
        w.put([self.kind()]);
        if matches!(self, Self::Pad1) {
            return Ok(());
        }
        w.put([(len - 2) as u8]);
        match self {
            Self::RouteRequest(o) => {
                w.put(o.id.to_be_bytes());
                w.addr(o.target);
                w.addrs(o.addresses);
            }
            Self::RouteReply(o) => {
                w.put([u8::from(o.last_hop_external) << 7]);
                w.addrs(o.addresses);
            }
            Self::RouteError(o) => {
                w.put([o.kind.kind(), o.salvage]);
                w.addr(o.source);
                w.addr(o.destination);
                error_info(&mut w, o.kind);
            }
            Self::AckRequest { id, source } => {
                w.put(id.to_be_bytes());
                if let Some(a) = source {
                    w.addr(*a);
                }
            }
            Self::Ack { id, source, destination } => {
                w.put(id.to_be_bytes());
                w.addr(*source);
                w.addr(*destination);
            }
            Self::SourceRoute(o) => {
                let flags = u16::from(o.first_hop_external) << 15 | u16::from(o.last_hop_external) << 14;
                w.put((flags | u16::from(o.salvage) << 6 | u16::from(o.segments_left)).to_be_bytes());
                w.addrs(o.addresses);
            }
            Self::Pad1 => {}
            Self::PadN(n) => w.buf[2..2 + usize::from(*n)].fill(0),
            Self::Timeout { seconds } => w.put(seconds.to_be_bytes()),
            Self::FlowId { flow_id, destination } => {
                w.put(flow_id.to_be_bytes());
                w.addr(*destination);
            }
            Self::Location(l) => l.emit(&mut w),
            Self::Probe(p) => p.emit(&mut w),
            Self::LinkMetrics(m) => m.emit(&mut w),
            Self::Unknown { data, .. } => w.slice(data),
        }
        Ok(())
    }
}

impl RouteErrorKind<'_> {
    fn info_len(&self) -> usize {
        match self {
            Self::NodeUnreachable(_) | Self::DefaultFlowUnknown { .. } => 4,
            Self::FlowStateNotSupported => 0,
            Self::OptionNotSupported(_) => 1,
            Self::UnknownFlow { .. } => 6,
            Self::Unknown { info, .. } => info.len(),
        }
    }
}

fn error_info(w: &mut Writer<'_>, kind: RouteErrorKind<'_>) {
    match kind {
        RouteErrorKind::NodeUnreachable(a) => w.addr(a),
        RouteErrorKind::FlowStateNotSupported => {}
        RouteErrorKind::OptionNotSupported(o) => w.put([o]),
        RouteErrorKind::UnknownFlow { destination, flow_id } => {
            w.addr(destination);
            w.put(flow_id.to_be_bytes());
        }
        RouteErrorKind::DefaultFlowUnknown { destination } => w.addr(destination),
        RouteErrorKind::Unknown { info, .. } => w.slice(info),
    }
}
