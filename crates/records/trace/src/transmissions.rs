//! Transmissions and the measures of overhead based on them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Data packets passed to the interfaces, including forwarded ones: each hop counts, MAC retries do not.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Transmissions {
    /// Number of packets.
    pub packets: u64,
    /// Their application payload, bytes.
    pub payload_bytes: u64,
    /// Their IP, routing and transport headers, bytes.
    pub header_bytes: u64,
}

/// Frames without a data packet, on the air and on wires, including retries.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OverheadFrames {
    /// RTS frames.
    pub rts: u64,
    /// CTS frames.
    pub cts: u64,
    /// ACK frames.
    pub ack: u64,
    /// Frames with a routing packet.
    pub routing: u64,
    /// Frames of ARP, of neighbour discovery with IPv6, and of the multicast reports of emulated kernels.
    pub resolution: u64,
}

impl OverheadFrames {
    /// All of them.
    pub const fn all(&self) -> u64 {
        self.rts + self.cts + self.ack + self.routing + self.resolution
    }
}

/// The measures of RFC 2501, section 4.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Rfc2501 {
    /// Average number of data bits transmitted per data bit delivered. Data is the payload of applications.
    pub data_bits_per_bit: Option<f64>,
    /// Average number of control bits transmitted per data bit delivered: routing packets, and the headers of data packets.
    pub control_bits_per_bit: Option<f64>,
    /// Average number of control and data packets transmitted per data packet delivered.
    pub packets_per_packet: Option<f64>,
}
