//! Reading pcap and pcapng files of any writer.

use std::io::{self, BufRead, BufReader, Read};

use super::blocks::{CapturedFrame, Format, Interface, MAX_FRAME, Order, u16_in, u32_in};

/// Why a capture cannot be read on.
#[derive(Debug)]
pub enum CaptureError {
    /// The operating system refused.
    Io(io::Error),
    /// The file is not a capture, or is damaged from `offset` on.
    Format {
        /// Octets from the beginning of the file.
        offset: u64,
        /// What is wrong.
        what: String,
    },
}

impl std::fmt::Display for CaptureError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Io(e) => e.fmt(f),
            Self::Format { offset, what } => write!(f, "at byte {offset}: {what}"),
        }
    }
}

impl std::error::Error for CaptureError {}

/// Reads a pcap file (either byte order, microseconds or nanoseconds) or a pcapng file (any number of sections and
/// interfaces), frame by frame.
///
/// Never panics, and holds no more than one frame of at most 16 MiB in memory. Blocks that hold no frame are skipped.
/// After an error there are no more frames.
pub struct CaptureReader<R> {
    input: BufReader<R>,
    offset: u64,
    /// What the header and the interfaces said.
    pub(super) format: Format,
    pub(super) frames: u64,
    /// Where the section begins that is read.
    pub(super) section: u64,
    ended: bool,
}

impl<R: Read> CaptureReader<R> {
    /// Reads the beginning of a capture.
    pub fn new(input: R) -> Result<Self, CaptureError> {
        let unread = Format::Pcapng { order: Order::Little, interfaces: vec![] };
        let mut reader = Self::resumed(input, unread, 0, 0);
        let magic = reader.read::<4>()?;
        reader.format = match magic {
            [0xd4, 0xc3, 0xb2, 0xa1] => reader.pcap_header(Order::Little, 1_000)?,
            [0x4d, 0x3c, 0xb2, 0xa1] => reader.pcap_header(Order::Little, 1)?,
            [0xa1, 0xb2, 0xc3, 0xd4] => reader.pcap_header(Order::Big, 1_000)?,
            [0xa1, 0xb2, 0x3c, 0x4d] => reader.pcap_header(Order::Big, 1)?,
            [0x0a, 0x0d, 0x0d, 0x0a] => {
                Format::Pcapng { order: reader.section_header()?, interfaces: vec![] }
            }
            [0x1f, 0x8b, ..] => return Err(reader.wrong("a gzip file; unpack it first (gunzip)")),
            _ => return Err(reader.wrong("neither a pcap nor a pcapng file; convert it with editcap")),
        };
        Ok(reader)
    }

    /// Reads the next frame into `frame`, whose memory is reused; `false` at the end.
    pub fn next_into(&mut self, frame: &mut CapturedFrame) -> Result<bool, CaptureError> {
        if self.ended {
            return Ok(false);
        }
        let outcome = match self.format {
            Format::Pcap { order, link_type, unit_ns } => self.pcap_record(frame, order, link_type, unit_ns),
            Format::Pcapng { .. } => self.pcapng_blocks(frame),
        };
        self.ended = !matches!(outcome, Ok(true));
        if !self.ended {
            self.frames += 1;
            frame.number = self.frames;
        }
        outcome
    }

    /// Goes on in the middle of a capture: `input` is at `offset`, where the frame after the first `frames` begins.
    pub(super) fn resumed(input: R, format: Format, offset: u64, frames: u64) -> Self {
        Self { input: BufReader::new(input), offset, format, frames, section: 0, ended: false }
    }

    /// Octets of the file that were read.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    fn pcap_header(&mut self, order: Order, unit_ns: u32) -> Result<Format, CaptureError> {
        let rest = self.read::<20>()?;
        // The upper bits tell about an FCS; the link type is in the lower 16 (draft-ietf-opsawg-pcap).
        Ok(Format::Pcap { order, link_type: u32_in(&rest, 16, order) as u16, unit_ns })
    }

    fn pcap_record(
        &mut self,
        frame: &mut CapturedFrame,
        order: Order,
        link_type: u16,
        unit_ns: u32,
    ) -> Result<bool, CaptureError> {
        if self.at_end()? {
            return Ok(false);
        }
        let h = self.read::<16>()?;
        let word = |at| u32_in(&h, at, order);
        let (seconds, fraction) = (u64::from(word(0)), u64::from(word(4)));
        let captured = word(8);
        frame.time_ns = Some(seconds * 1_000_000_000 + fraction * u64::from(unit_ns));
        frame.link_type = link_type;
        frame.original_len = word(12).max(captured);
        (frame.sent, frame.interface, frame.comment) = (None, 0, None);
        self.read_bytes(captured, &mut frame.bytes)?;
        Ok(true)
    }

    fn pcapng_blocks(&mut self, frame: &mut CapturedFrame) -> Result<bool, CaptureError> {
        loop {
            if self.at_end()? {
                return Ok(false);
            }
            let kind_octets = self.read::<4>()?;
            if kind_octets == [0x0a, 0x0d, 0x0d, 0x0a] {
                self.section = self.offset - 4;
                self.format = Format::Pcapng { order: self.section_header()?, interfaces: vec![] };
                continue;
            }
            let Format::Pcapng { order, ref interfaces } = self.format else { return Ok(false) };
            let known_interfaces = interfaces.len();
            let kind = u32_in(&kind_octets, 0, order);
            let total = u32_in(&self.read::<4>()?, 0, order);
            let body = self.body_len(total)?;
            match kind {
                1 => {
                    let mut bytes = Vec::new();
                    self.read_bytes(body, &mut bytes)?;
                    self.trailer(total, order)?;
                    let Some(i) = Interface::parse(&bytes, order) else {
                        return Err(self.wrong("an Interface Description Block that is too short"));
                    };
                    if let Format::Pcapng { interfaces, .. } = &mut self.format {
                        interfaces.push(i);
                    }
                }
                2 | 3 | 6 => {
                    self.read_bytes(body, &mut frame.bytes)?;
                    self.trailer(total, order)?;
                    let Format::Pcapng { interfaces, .. } = &self.format else { return Ok(false) };
                    match super::blocks::packet(kind, order, interfaces, frame) {
                        Some(()) => return Ok(true),
                        None => {
                            return Err(self.wrong(&format!(
                                "a packet block that contradicts its length, or names none of the {known_interfaces} interfaces before it"
                            )));
                        }
                    }
                }
                _ => {
                    self.skip(u64::from(body))?;
                    self.trailer(total, order)?;
                }
            }
        }
    }

    /// Reads what follows a section header's type, and tells the section's byte order.
    fn section_header(&mut self) -> Result<Order, CaptureError> {
        let h = self.read::<8>()?;
        let order = match h {
            [.., 0x4d, 0x3c, 0x2b, 0x1a] => Order::Little,
            [.., 0x1a, 0x2b, 0x3c, 0x4d] => Order::Big,
            _ => return Err(self.wrong("a section header without its byte-order magic")),
        };
        let total = u32_in(&h, 0, order);
        let body = self.body_len(total)?;
        if body < 16 {
            return Err(self.wrong("a section header that is too short"));
        }
        let version = self.read::<4>()?;
        if u16_in(&version, 0, order) != 1 {
            return Err(self.wrong("a version of pcapng other than 1"));
        }
        self.skip(u64::from(body) - 8)?;
        self.trailer(total, order)?;
        Ok(order)
    }

    fn body_len(&self, total: u32) -> Result<u32, CaptureError> {
        if total < 12 || !total.is_multiple_of(4) {
            return Err(self.wrong(&format!("a block length of {total}")));
        }
        Ok(total - 12)
    }

    fn trailer(&mut self, total: u32, order: Order) -> Result<(), CaptureError> {
        if u32_in(&self.read::<4>()?, 0, order) == total {
            Ok(())
        } else {
            Err(self.wrong("a block whose two lengths differ"))
        }
    }

    fn at_end(&mut self) -> Result<bool, CaptureError> {
        Ok(self.input.fill_buf().map_err(CaptureError::Io)?.is_empty())
    }

    fn read<const N: usize>(&mut self) -> Result<[u8; N], CaptureError> {
        let mut b = [0; N];
        self.input.read_exact(&mut b).map_err(|e| self.cut_short(e))?;
        self.offset += N as u64;
        Ok(b)
    }

    fn read_bytes(&mut self, len: u32, to: &mut Vec<u8>) -> Result<(), CaptureError> {
        if len > MAX_FRAME {
            return Err(self.wrong(&format!("a length of {len} octets for one frame or block")));
        }
        to.clear();
        // Grows with what is really there, not with what the length field claims.
        let read = (&mut self.input).take(u64::from(len)).read_to_end(to).map_err(CaptureError::Io)?;
        if read < len as usize {
            return Err(self.cut_short(io::ErrorKind::UnexpectedEof.into()));
        }
        self.offset += u64::from(len);
        Ok(())
    }

    fn skip(&mut self, len: u64) -> Result<(), CaptureError> {
        let skipped =
            io::copy(&mut (&mut self.input).take(len), &mut io::sink()).map_err(CaptureError::Io)?;
        if skipped < len {
            return Err(self.cut_short(io::ErrorKind::UnexpectedEof.into()));
        }
        self.offset += len;
        Ok(())
    }

    fn cut_short(&self, e: io::Error) -> CaptureError {
        if e.kind() == io::ErrorKind::UnexpectedEof {
            self.wrong("the file ends in the middle of a frame or block; copy or record it again")
        } else {
            CaptureError::Io(e)
        }
    }

    pub(super) fn wrong(&self, what: &str) -> CaptureError {
        CaptureError::Format { offset: self.offset, what: what.to_owned() }
    }
}
