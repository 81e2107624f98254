//! A frame of a capture, and the parts of pcapng blocks that a reader needs.

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

/// The longest frame or block that is read, octets.
pub(super) const MAX_FRAME: u32 = 16 << 20;

/// The byte order of a file or section.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Little,
    Big,
}

/// What kind of file it is, and what its header says.
#[derive(Clone)]
pub(super) enum Format {
    Pcap { order: Order, link_type: u16, unit_ns: u32 },
    Pcapng { order: Order, interfaces: Vec<Interface> },
}

/// An Interface Description Block.
#[derive(Clone)]
pub(super) struct Interface {
    link_type: u16,
    snaplen: u32,
    resolution: Resolution,
    offset_s: i64,
}

/// Ticks of a timestamp.
#[derive(Clone)]
enum Resolution {
    /// 10^-n s.
    Decimal(u8),
    /// 2^-n s.
    Binary(u8),
}

impl Interface {
    pub(super) fn parse(body: &[u8], order: Order) -> Option<Self> {
        let mut i = Self {
            link_type: u16_at(body, 0, order)?,
            snaplen: u32_at(body, 4, order)?,
            resolution: Resolution::Decimal(6),
            offset_s: 0,
        };
        for (code, value) in options(&body[8..], order) {
            match (code, value) {
                (9, [r]) => {
                    i.resolution =
                        if r & 0x80 == 0 { Resolution::Decimal(*r) } else { Resolution::Binary(r & 0x7f) };
                }
                (14, v) if v.len() == 8 => {
                    let (a, b) = (u64::from(u32_at(v, 0, order)?), u64::from(u32_at(v, 4, order)?));
                    i.offset_s =
                        (if order == Order::Little { b << 32 | a } else { a << 32 | b }).cast_signed();
                }
                _ => {}
            }
        }
        Some(i)
    }

    /// Nanoseconds since 1970, kept inside what 64 bits hold.
    fn nanos(&self, ticks: u64) -> u64 {
        let ticks = i128::from(ticks);
        let ns = match self.resolution {
            Resolution::Decimal(n @ 0..=9) => ticks * 10_i128.pow(9 - u32::from(n)),
            Resolution::Decimal(n) => ticks / 10_i128.checked_pow(u32::from(n) - 9).unwrap_or(i128::MAX),
            Resolution::Binary(n) => (ticks * 1_000_000_000).checked_shr(u32::from(n)).unwrap_or(0),
        };
        let ns = ns + i128::from(self.offset_s) * 1_000_000_000;
        ns.clamp(0, i128::from(u64::MAX)) as u64
    }
}

/// Turns the body of a packet block, which `frame.bytes` holds, into the frame. `None` if the block contradicts itself.
pub(super) fn packet(
    kind: u32,
    order: Order,
    interfaces: &[Interface],
    frame: &mut CapturedFrame,
) -> Option<()> {
    let body = &frame.bytes;
    let word = |at| u32_at(body, at, order);
    let (interface, time, captured, original, data_at) = match kind {
        // Enhanced Packet Block.
        6 => (word(0)? as usize, Some((word(4)?, word(8)?)), word(12)?, word(16)?, 20),
        // Packet Block, obsolete.
        2 => (usize::from(u16_at(body, 0, order)?), Some((word(4)?, word(8)?)), word(12)?, word(16)?, 20),
        // Simple Packet Block: cut to the snap length of interface 0, and padded.
        _ => {
            let original = word(0)?;
            let snaplen = interfaces.first().map_or(0, |i| i.snaplen);
            let cut = if snaplen == 0 { original } else { original.min(snaplen) };
            (0, None, cut.min(body.len() as u32 - 4), original, 4)
        }
    };
    frame.interface = interface as u32;
    let interface = interfaces.get(interface)?;
    let data_end = usize::checked_add(data_at, captured as usize)?;
    let data_len = body.get(data_at..data_end)?.len();
    let rest = body.get(data_end.next_multiple_of(4)..).unwrap_or_default();
    frame.sent = options(rest, order)
        .find(|(code, value)| *code == 2 && value.len() == 4 && kind != 3)
        .and_then(|(_, value)| match u32_at(value, 0, order)? & 3 {
            1 => Some(false),
            2 => Some(true),
            _ => None,
        });
    // opt_comment
    frame.comment = options(rest, order)
        .find(|(code, _)| *code == 1)
        .map(|(_, text)| String::from_utf8_lossy(text).into_owned());
    frame.time_ns = time.map(|(high, low)| interface.nanos(u64::from(high) << 32 | u64::from(low)));
    frame.link_type = interface.link_type;
    frame.original_len = original.max(captured);
    frame.bytes.copy_within(data_at..data_end, 0);
    frame.bytes.truncate(data_len);
    Some(())
}

/// The options in these octets: code and value. Ends at the end mark or at one that does not fit.
fn options(mut bytes: &[u8], order: Order) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let (code, len) = (u16_at(bytes, 0, order)?, usize::from(u16_at(bytes, 2, order)?));
        if code == 0 {
            return None;
        }
        let value = bytes.get(4..4 + len)?;
        bytes = bytes.get(4 + len.next_multiple_of(4)..).unwrap_or_default();
        Some((code, value))
    })
}

fn u16_at(b: &[u8], at: usize, order: Order) -> Option<u16> {
    b.get(at..at + 2).map(|b| u16_in(b, 0, order))
}

fn u32_at(b: &[u8], at: usize, order: Order) -> Option<u32> {
    b.get(at..at + 4).map(|b| u32_in(b, 0, order))
}

/// The 16 bits at `at`, which the caller knows to be there.
pub(super) fn u16_in(b: &[u8], at: usize, order: Order) -> u16 {
    let v = [b[at], b[at + 1]];
    if order == Order::Little { u16::from_le_bytes(v) } else { u16::from_be_bytes(v) }
}

/// The 32 bits at `at`, which the caller knows to be there.
pub(super) fn u32_in(b: &[u8], at: usize, order: Order) -> u32 {
    let v = [b[at], b[at + 1], b[at + 2], b[at + 3]];
    if order == Order::Little { u32::from_le_bytes(v) } else { u32::from_be_bytes(v) }
}
