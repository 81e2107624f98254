//! The link types whose frames are decoded: LINKTYPE numbers of tcpdump.org.

/// BSD loopback: an address family in the byte order of the host that captured.
pub(super) const NULL: u16 = 0;
pub(super) const ETHERNET: u16 = 1;
/// Raw IP, in files whose writer confused DLT and LINKTYPE numbers: of most systems, and of OpenBSD.
pub(super) const RAW_DLT: u16 = 12;
pub(super) const RAW_DLT_OPENBSD: u16 = 14;
pub(super) const RAW: u16 = 101;
/// 802.11 frames as a [`crate::FrameEvent`] has them.
pub(super) const IEEE802_11: u16 = 105;
/// OpenBSD's loopback: an address family in network byte order.
pub(super) const LOOP: u16 = 108;
/// Linux cooked capture, which `tcpdump -i any` wrote until 2020.
pub(super) const LINUX_SLL: u16 = 113;
/// 802.11 behind a Prism header, which old drivers wrote.
pub(super) const PRISM: u16 = 119;
pub(super) const RADIOTAP: u16 = 127;
/// 802.11 behind an AVS header, the successor of Prism's.
pub(super) const AVS: u16 = 163;
/// Per-Packet Information, of Kismet and AirPcap.
pub(super) const PPI: u16 = 192;
pub(super) const IPV4: u16 = 228;
pub(super) const IPV6: u16 = 229;
/// macOS's `tcpdump -i pktap` and `-i any`.
pub(super) const PKTAP: u16 = 258;
/// Linux cooked capture, version 2: `tcpdump -i any` since 2020.
pub(super) const LINUX_SLL2: u16 = 276;

/// What a user captures on or with to get one of them.
pub(super) const DECODED: &str = "802.11 (bare, or behind a radiotap, PPI, Prism or AVS header), Ethernet, \
     Linux cooked (SLL, SLL2), BSD loopback, PKTAP and raw IP";
