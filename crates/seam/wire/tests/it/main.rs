//! Packet formats: octets by hand, tshark, ns-3, babeld, arbitrary bytes.

mod any_bytes;
mod babel;
mod common;
mod edit_dsr;
#[path = "../exercise/mod.rs"]
mod exercise;
mod golden;
mod golden_aodv;
mod golden_tshark;
mod icmp_errors;
mod ipv6;
mod ns3_captures;
mod olsr;
mod round_trip;
mod rtcm3;
mod tshark_aodv;
mod tshark_dsr;
mod tshark_link;
mod tshark_mobile_ip;
mod vectors_aodv;
mod vectors_dsdv;
mod vectors_dsr;
mod vectors_link;
mod vectors_mobile_ip;
mod vectors_net;
