//! Messages of TCPCLv4 (RFC 9174, sections 4 and 5).

/// The TCP port of TCPCL.
pub const PORT: u16 = 4_556;

/// The contact header (section 4.2): magic, version 4, no flags (no TLS).
pub(super) const CONTACT_HEADER: [u8; 6] = *b"dtn!\x04\x00";

/// Types of messages (section 9.5).
const XFER_SEGMENT: u8 = 1;
const XFER_ACK: u8 = 2;
const XFER_REFUSE: u8 = 3;
const KEEPALIVE: u8 = 4;
const SESS_TERM: u8 = 5;
const MSG_REJECT: u8 = 6;
const SESS_INIT: u8 = 7;

/// Flags of segments and acknowledgements (section 5.2.2).
pub(super) const END: u8 = 1;
pub(super) const START: u8 = 2;
/// The flag of an answer to SESS_TERM (section 6.1).
pub(super) const REPLY: u8 = 1;
/// The flag of an extension that must be understood (sections 4.8 and 5.2.5).
const CRITICAL: u8 = 1;
/// The Transfer Length extension (section 5.2.5.1).
const TRANSFER_LENGTH: u16 = 1;
/// The most octets of extensions and of a node's identifier that are taken.
const MAX_EXTENSIONS: u32 = 4_096;
const MAX_NODE_ID: u16 = 1_024;

/// Why SESS_TERM is sent (section 9.7).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Term {
    Unknown = 0,
    IdleTimeout = 1,
    VersionMismatch = 2,
    ContactFailure = 4,
}

/// Why MSG_REJECT is sent (section 9.8).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Reject {
    TypeUnknown = 1,
    Unexpected = 3,
}

/// A message; of a segment, what is before its data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Message {
    Segment(SegmentHead),
    Ack { flags: u8, id: u64, length: u64 },
    Refuse { reason: u8, id: u64 },
    Keepalive,
    Term { flags: u8, reason: u8 },
    Reject { reason: u8, header: u8 },
    Init(SessionParameters),
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct SegmentHead {
    pub(super) flags: u8,
    pub(super) id: u64,
    /// Of the first segment: the length of the bundle, if it is told.
    pub(super) total: Option<u64>,
    /// Whether there is an extension that must be understood and is not.
    pub(super) unknown_critical: bool,
    /// Octets of data that follow.
    pub(super) length: u64,
}

/// What SESS_INIT proposes (section 4.6).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SessionParameters {
    pub(super) keepalive_s: u16,
    pub(super) segment: u64,
    pub(super) transfer: u64,
    pub(super) node: String,
    pub(super) unknown_critical: bool,
}

/// Why octets are no message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wrong {
    /// More of them have to come.
    Incomplete,
    /// Of an unknown type.
    Type(u8),
    /// It contradicts itself, or is longer than allowed.
    Form(&'static str),
}

/// Octets that are read one field after the other.
struct Fields<'a> {
    octets: &'a [u8],
    at: usize,
}

impl<'a> Fields<'a> {
    fn take(&mut self, n: usize) -> Result<&'a [u8], Wrong> {
        let taken = self.octets[self.at..].get(..n).ok_or(Wrong::Incomplete)?;
        self.at += n;
        Ok(taken)
    }
    fn number(&mut self, octets: usize) -> Result<u64, Wrong> {
        Ok(self.take(octets)?.iter().fold(0, |n, b| n << 8 | u64::from(*b)))
    }
    fn u8(&mut self) -> Result<u8, Wrong> {
        self.number(1).map(|n| n as u8)
    }
}

/// The first message of these octets and its length.
pub(super) fn parse(octets: &[u8]) -> Result<(Message, usize), Wrong> {
    let mut f = Fields { octets, at: 0 };
    let message = match f.u8()? {
        XFER_SEGMENT => Message::Segment(segment(&mut f)?),
        XFER_ACK => Message::Ack { flags: f.u8()?, id: f.number(8)?, length: f.number(8)? },
        XFER_REFUSE => Message::Refuse { reason: f.u8()?, id: f.number(8)? },
        KEEPALIVE => Message::Keepalive,
        SESS_TERM => Message::Term { flags: f.u8()?, reason: f.u8()? },
        MSG_REJECT => Message::Reject { reason: f.u8()?, header: f.u8()? },
        SESS_INIT => Message::Init(init(&mut f)?),
        other => return Err(Wrong::Type(other)),
    };
    Ok((message, f.at))
}

fn segment(f: &mut Fields<'_>) -> Result<SegmentHead, Wrong> {
    let (flags, id) = (f.u8()?, f.number(8)?);
    let (mut total, mut unknown_critical) = (None, false);
    if flags & START != 0 {
        for (flags, kind, value) in extensions(f)? {
            match (kind, <[u8; 8]>::try_from(value)) {
                (TRANSFER_LENGTH, Ok(length)) => total = Some(u64::from_be_bytes(length)),
                (TRANSFER_LENGTH, Err(_)) => {
                    return Err(Wrong::Form("a transfer length that does not have 8 octets"));
                }
                _ => unknown_critical |= flags & CRITICAL != 0,
            }
        }
    }
    Ok(SegmentHead { flags, id, total, unknown_critical, length: f.number(8)? })
}

fn init(f: &mut Fields<'_>) -> Result<SessionParameters, Wrong> {
    let (keepalive_s, segment, transfer) = (f.number(2)? as u16, f.number(8)?, f.number(8)?);
    let length = f.number(2)?;
    if length > MAX_NODE_ID.into() {
        return Err(Wrong::Form("a node's identifier of more than 1024 octets"));
    }
    let node = str::from_utf8(f.take(length as usize)?);
    let node = node.map_err(|_| Wrong::Form("a node's identifier that is not text"))?.to_owned();
    let unknown_critical = extensions(f)?.iter().any(|(flags, ..)| flags & CRITICAL != 0);
    Ok(SessionParameters { keepalive_s, segment, transfer, node, unknown_critical })
}

type Extension<'a> = (u8, u16, &'a [u8]);

/// Extensions, as (flags, type, value).
fn extensions<'a>(f: &mut Fields<'a>) -> Result<Vec<Extension<'a>>, Wrong> {
    let length = f.number(4)?;
    if length > MAX_EXTENSIONS.into() {
        return Err(Wrong::Form("more than 4096 octets of extensions"));
    }
    let octets = f.take(length as usize)?;
    let mut items = Fields { octets, at: 0 };
    let mut all = Vec::new();
    while items.at < octets.len() {
        all.push(extension(&mut items).map_err(|_| Wrong::Form("a truncated extension"))?);
    }
    Ok(all)
}

fn extension<'a>(f: &mut Fields<'a>) -> Result<Extension<'a>, Wrong> {
    let (flags, kind, length) = (f.u8()?, f.number(2)? as u16, f.number(2)?);
    Ok((flags, kind, f.take(length as usize)?))
}

impl Message {
    /// The message as octets; of a segment, what is before its data.
    pub(super) fn encode(&self) -> Vec<u8> {
        match self {
            Self::Segment(SegmentHead { flags, id, total, length, .. }) => {
                let mut octets = [&[XFER_SEGMENT, *flags][..], &id.to_be_bytes()].concat();
                if flags & START != 0 {
                    let extension: Vec<u8> = total.map_or_else(Vec::new, |total| {
                        let head = [&[0][..], &TRANSFER_LENGTH.to_be_bytes(), &8_u16.to_be_bytes()].concat();
                        [&head[..], &total.to_be_bytes()].concat()
                    });
                    octets.extend((extension.len() as u32).to_be_bytes());
                    octets.extend(extension);
                }
                octets.extend(length.to_be_bytes());
                octets
            }
            Self::Ack { flags, id, length } => {
                [&[XFER_ACK, *flags][..], &id.to_be_bytes(), &length.to_be_bytes()].concat()
            }
            Self::Refuse { reason, id } => [&[XFER_REFUSE, *reason][..], &id.to_be_bytes()].concat(),
            Self::Keepalive => vec![KEEPALIVE],
            Self::Term { flags, reason } => vec![SESS_TERM, *flags, *reason],
            Self::Reject { reason, header } => vec![MSG_REJECT, *reason, *header],
            Self::Init(SessionParameters { keepalive_s, segment, transfer, node, .. }) => {
                let mut octets = vec![SESS_INIT];
                octets.extend(keepalive_s.to_be_bytes());
                octets.extend(segment.to_be_bytes());
                octets.extend(transfer.to_be_bytes());
                octets.extend((node.len() as u16).to_be_bytes());
                octets.extend(node.as_bytes());
                octets.extend([0; 4]);
                octets
            }
        }
    }

    /// The octet by which MSG_REJECT names it.
    pub(super) fn header(&self) -> u8 {
        match self {
            Self::Segment(_) => XFER_SEGMENT,
            Self::Ack { .. } => XFER_ACK,
            Self::Refuse { .. } => XFER_REFUSE,
            Self::Keepalive => KEEPALIVE,
            Self::Term { .. } => SESS_TERM,
            Self::Reject { .. } => MSG_REJECT,
            Self::Init(_) => SESS_INIT,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand from the figures of RFC 9174, sections 4.6, 5.2.2 and 5.2.3.
    #[test]
    fn messages_are_the_octets_of_the_rfc() {
        let init = Message::Init(SessionParameters {
            keepalive_s: 0x0102,
            segment: 0x0304,
            transfer: 0x0506,
            node: "dtn://a/".into(),
            unknown_critical: false,
        });
        let mut octets = vec![0x07, 0x01, 0x02];
        octets.extend([0, 0, 0, 0, 0, 0, 3, 4, 0, 0, 0, 0, 0, 0, 5, 6, 0, 8]);
        octets.extend(b"dtn://a/");
        octets.extend([0, 0, 0, 0]);
        assert_eq!(init.encode(), octets);
        assert_eq!(parse(&octets), Ok((init, octets.len())));

        let head = SegmentHead { flags: START, id: 5, total: Some(300), unknown_critical: false, length: 2 };
        let first = Message::Segment(head);
        let mut octets = vec![0x01, 0x02, 0, 0, 0, 0, 0, 0, 0, 5];
        octets.extend([0, 0, 0, 13, 0, 0, 1, 0, 8, 0, 0, 0, 0, 0, 0, 1, 44]);
        octets.extend([0, 0, 0, 0, 0, 0, 0, 2]);
        assert_eq!(first.encode(), octets);
        assert_eq!(parse(&octets), Ok((first, octets.len())));

        let ack = Message::Ack { flags: END | START, id: 1, length: 2 };
        let octets = [0x02, 0x03, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2];
        assert_eq!(ack.encode(), octets);
        assert_eq!(parse(&octets), Ok((ack, 18)));
    }

    #[test]
    fn what_is_cut_off_waits_for_more() {
        let octets = Message::Refuse { reason: 2, id: 9 }.encode();
        for end in 0..octets.len() {
            assert_eq!(parse(&octets[..end]), Err(Wrong::Incomplete));
        }
        assert_eq!(parse(&[99]), Err(Wrong::Type(99)));
    }
}
