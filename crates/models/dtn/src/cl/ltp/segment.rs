//! Segments of LTP (RFC 5326, section 3).

/// The UDP port of LTP (section 10.1).
pub const PORT: u16 = 1_113;
/// The client service of the Bundle Protocol (section 10.3).
pub(super) const BUNDLES: u64 = 1;
/// The most claims in a report that are taken.
const MAX_CLAIMS: u64 = 8_192;

/// Why a session is cancelled (section 3.2.4).
pub(super) mod cancel {
    pub(in crate::cl::ltp) const BY_USER: u8 = 0;
    pub(in crate::cl::ltp) const UNREACHABLE_SERVICE: u8 = 1;
    pub(in crate::cl::ltp) const RETRANSMISSION_LIMIT: u8 = 2;
    pub(in crate::cl::ltp) const BY_SYSTEM: u8 = 4;
}

/// Which session a segment is of.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SessionId {
    /// The engine of the block's sender.
    pub(super) originator: u64,
    pub(super) number: u64,
}

/// The checkpoint that a segment of data is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Checkpoint {
    pub(super) serial: u64,
    /// The report that it answers; 0 for none.
    pub(super) report: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Content {
    Data(DataSegment),
    Report(ReportSegment),
    ReportAck(u64),
    /// `true`: by the block's sender.
    Cancel(bool, u8),
    CancelAck(bool),
}

/// Octets of a block (section 3.2.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DataSegment {
    pub(super) is_red: bool,
    /// Of red data: it is the end of the red part. Of all: it is the end of the block.
    pub(super) ends_red: bool,
    pub(super) ends_block: bool,
    pub(super) service: u64,
    pub(super) offset: u64,
    pub(super) checkpoint: Option<Checkpoint>,
    pub(super) data: Vec<u8>,
}

/// What has arrived of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ReportSegment {
    pub(super) serial: u64,
    pub(super) checkpoint: u64,
    pub(super) upper: u64,
    pub(super) lower: u64,
    /// Ranges of octets of the block that are there: offset and length.
    pub(super) claims: Vec<(u64, u64)>,
}

/// Appends a number (Self-Delimiting Numeric Value, RFC 6256).
fn sdnv(octets: &mut Vec<u8>, number: u64) {
    let groups = (64 - number.leading_zeros()).div_ceil(7).max(1);
    for group in (0..groups).rev() {
        let more = if group > 0 { 0x80 } else { 0 };
        octets.push((number >> (7 * group)) as u8 & 0x7f | more);
    }
}

struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn octet(&mut self) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first)
    }
    fn sdnv(&mut self) -> Option<u64> {
        let mut number: u64 = 0;
        loop {
            let octet = self.octet()?;
            if number >> 57 != 0 {
                return None;
            }
            number = number << 7 | u64::from(octet & 0x7f);
            if octet & 0x80 == 0 {
                return Some(number);
            }
        }
    }
}

/// The segment that a datagram is; `None` if it is not of version 0.
pub(super) fn parse(datagram: &[u8]) -> Option<(SessionId, Content)> {
    let mut f = Fields(datagram);
    let first = f.octet()?;
    if first >> 4 != 0 {
        return None;
    }
    let session = SessionId { originator: f.sdnv()?, number: f.sdnv()? };
    let extensions = f.octet()?;
    skip_extensions(&mut f, extensions >> 4)?;
    let content = match first & 0xf {
        kind @ (0..=4 | 7) => Content::Data(data(&mut f, kind, extensions & 0xf)?),
        8 => Content::Report(report(&mut f)?),
        9 => Content::ReportAck(f.sdnv()?),
        12 => Content::Cancel(true, f.octet()?),
        13 => Content::CancelAck(true),
        14 => Content::Cancel(false, f.octet()?),
        15 => Content::CancelAck(false),
        _ => return None,
    };
    Some((session, content))
}

fn skip_extensions(f: &mut Fields<'_>, count: u8) -> Option<()> {
    for _ in 0..count {
        f.octet()?;
        let length = usize::try_from(f.sdnv()?).ok()?;
        f.0 = f.0.get(length..)?;
    }
    Some(())
}

/// Section 3.2.1.
fn data(f: &mut Fields<'_>, kind: u8, trailers: u8) -> Option<DataSegment> {
    let (service, offset, length) = (f.sdnv()?, f.sdnv()?, f.sdnv()?);
    let checkpoint = match kind {
        1..=3 => Some(Checkpoint { serial: f.sdnv()?, report: f.sdnv()? }),
        _ => None,
    };
    let length = usize::try_from(length).ok()?;
    let data = f.0.get(..length)?.to_vec();
    offset.checked_add(length as u64)?;
    if trailers == 0 && f.0.len() != length {
        return None;
    }
    let (ends_red, ends_block) = (kind == 2 || kind == 3, kind == 3 || kind == 7);
    Some(DataSegment { is_red: kind < 4, ends_red, ends_block, service, offset, checkpoint, data })
}

/// Section 3.2.2.
fn report(f: &mut Fields<'_>) -> Option<ReportSegment> {
    let (serial, checkpoint, upper, lower, count) = (f.sdnv()?, f.sdnv()?, f.sdnv()?, f.sdnv()?, f.sdnv()?);
    if count > MAX_CLAIMS || lower > upper {
        return None;
    }
    let mut claims = Vec::new();
    for _ in 0..count {
        // Offsets are from the lower bound.
        let (offset, length) = (f.sdnv()?.checked_add(lower)?, f.sdnv()?);
        if length == 0 || offset.checked_add(length)? > upper {
            return None;
        }
        claims.push((offset, length));
    }
    Some(ReportSegment { serial, checkpoint, upper, lower, claims })
}

pub(super) fn encode(session: SessionId, content: &Content) -> Vec<u8> {
    let kind = match content {
        Content::Data(d) if d.is_red => match (d.checkpoint, d.ends_red, d.ends_block) {
            (None, ..) => 0,
            (Some(_), false, _) => 1,
            (Some(_), true, false) => 2,
            (Some(_), true, true) => 3,
        },
        Content::Data(d) => 4 + 3 * u8::from(d.ends_block),
        Content::Report(_) => 8,
        Content::ReportAck(_) => 9,
        Content::Cancel(by_sender, _) => 14 - 2 * u8::from(*by_sender),
        Content::CancelAck(by_sender) => 15 - 2 * u8::from(*by_sender),
    };
    let mut octets = vec![kind];
    sdnv(&mut octets, session.originator);
    sdnv(&mut octets, session.number);
    octets.push(0);
    match content {
        Content::Data(d) => {
            for number in [d.service, d.offset, d.data.len() as u64] {
                sdnv(&mut octets, number);
            }
            if let Some(checkpoint) = &d.checkpoint {
                sdnv(&mut octets, checkpoint.serial);
                sdnv(&mut octets, checkpoint.report);
            }
            octets.extend_from_slice(&d.data);
        }
        Content::Report(report) => {
            let claims = report.claims.len() as u64;
            for number in [report.serial, report.checkpoint, report.upper, report.lower, claims] {
                sdnv(&mut octets, number);
            }
            for (offset, length) in &report.claims {
                sdnv(&mut octets, offset - report.lower);
                sdnv(&mut octets, *length);
            }
        }
        Content::ReportAck(serial) => sdnv(&mut octets, *serial),
        Content::Cancel(_, reason) => octets.push(*reason),
        Content::CancelAck(_) => {}
    }
    octets
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 6256, section 2: 0xABC is 0x95 0x3C, 0x1234 is 0xA4 0x34, 0x4234 is 0x81 0x84 0x34, 0x7F is 0x7F.
    #[test]
    fn numbers_are_those_of_rfc_6256() {
        for (number, expected) in [
            (0xabc, &[0x95, 0x3c][..]),
            (0x1234, &[0xa4, 0x34]),
            (0x4234, &[0x81, 0x84, 0x34]),
            (0x7f, &[0x7f]),
        ] {
            let mut octets = Vec::new();
            sdnv(&mut octets, number);
            assert_eq!(octets, expected);
            assert_eq!(Fields(expected).sdnv(), Some(number));
        }
        let mut longest = Vec::new();
        sdnv(&mut longest, u64::MAX);
        assert_eq!(Fields(&longest).sdnv(), Some(u64::MAX));
        assert_eq!(Fields(&[0xff; 11]).sdnv(), None);
    }

    /// RFC 5326, section 3.2.2: the report of a block of 6000 octets of which 1000-1999 and 4000-4999 are missing... as claims.
    #[test]
    fn a_report_has_its_claims_from_its_lower_bound() {
        let session = SessionId { originator: 1, number: 2 };
        let report = ReportSegment {
            serial: 5,
            checkpoint: 3,
            upper: 300,
            lower: 100,
            claims: vec![(100, 10), (150, 100)],
        };
        let octets = encode(session, &Content::Report(report.clone()));
        assert_eq!(octets, [8, 1, 2, 0, 5, 3, 0x82, 0x2c, 100, 2, 0, 10, 50, 100]);
        assert_eq!(parse(&octets), Some((session, Content::Report(report))));
    }

    #[test]
    fn segments_that_are_cut_off_are_none() {
        let session = SessionId { originator: 300, number: 2 };
        let checkpoint = Some(Checkpoint { serial: 9, report: 0 });
        let content = Content::Data(DataSegment {
            is_red: true,
            ends_red: true,
            ends_block: true,
            service: BUNDLES,
            offset: 1_000,
            checkpoint,
            data: vec![7; 5],
        });
        let octets = encode(session, &content);
        assert_eq!(parse(&octets), Some((session, content)));
        for end in 0..octets.len() {
            assert_eq!(parse(&octets[..end]), None);
        }
    }
}
