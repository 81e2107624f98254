//! A frame as a capture has it.

/// A frame of a capture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CapturedFrame {
    /// Its number in the file, from 1, as Wireshark counts.
    pub number: u64,
    /// Nanoseconds since the capture's epoch; `None` in blocks that have no time.
    pub time_ns: Option<u64>,
    /// What its octets are: a LINKTYPE number of tcpdump.org.
    pub link_type: u16,
    /// Its octets, as far as they were captured.
    pub bytes: Vec<u8>,
    /// Its length on the wire.
    pub original_len: u32,
    /// Whether the capturing node sent (`true`) or received it, where the file says so.
    pub sent: Option<bool>,
    /// On which of the file's interfaces, from 0.
    pub interface: u32,
    /// What the file's writer remarks about it.
    pub comment: Option<String>,
}
