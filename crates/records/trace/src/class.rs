//! What a packet is for, as summaries, tables and traces name it.

use wayhop_core::Class;

/// The kind of a packet: an application's data, or a routing message.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum PacketClass {
    /// Constant-bit-rate data.
    Cbr,
    /// Data with exponential intervals.
    Poisson,
    /// Data in bursts of exponential lengths.
    OnOff,
    /// Data in bursts of lengths by Pareto's law.
    Pareto,
    /// Data at the times that a file gives.
    Trace,
    /// ICMP echo and echo reply.
    Ping,
    /// A TCP segment.
    Tcp,
    /// Data of any other application.
    Data,
    /// A routing packet.
    Control(Class),
    /// Address resolution.
    Arp,
}

impl PacketClass {
    /// The class of a flow's packets, by the name of what the flow sends, such as `cbr`.
    pub fn of_flow(kind: &str) -> Self {
        let all = [Self::Cbr, Self::Poisson, Self::OnOff, Self::Pareto, Self::Trace, Self::Ping, Self::Tcp];
        all.into_iter().find(|class| class.name() == kind).unwrap_or(Self::Data)
    }

    /// The name in tables. Protocols share names: many have a `rreq`. [`PacketClass::protocol`] tells them apart.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cbr => "cbr",
            Self::Poisson => "poisson",
            Self::OnOff => "on-off",
            Self::Pareto => "pareto",
            Self::Trace => "trace",
            Self::Ping => "ping",
            Self::Tcp => "tcp",
            Self::Data => "data",
            Self::Control(class) => class.name(),
            Self::Arp => "arp",
        }
    }

    /// The routing protocol whose message it is; `None` for data and ARP.
    pub fn protocol(self) -> Option<&'static str> {
        match self {
            Self::Control(class) => Some(class.protocol().name),
            _ => None,
        }
    }

    /// Whether it counts as a routing packet.
    pub const fn is_control(self) -> bool {
        matches!(self, Self::Control(_))
    }

    /// What trace hashes contain.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Cbr => 0,
            Self::Poisson => 1,
            Self::Ping => 2,
            Self::Tcp => 3,
            Self::Data => 4,
            Self::Control(class) => class.code(),
            Self::Arp => 15,
            // Routing packets have those between, at most to 239.
            Self::OnOff => 240,
            Self::Pareto => 241,
            Self::Trace => 242,
        }
    }
}
