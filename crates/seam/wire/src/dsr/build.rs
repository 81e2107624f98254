//! Building a DSR Options header.

use super::header::HEADER_LEN;
use super::{DsrOption, FlowState, option_type};
use crate::{Error, refuse_if};

/// Writes a DSR Options header into a buffer that the caller keeps: once the buffer has grown to the largest header in
/// use, nothing allocates.
///
/// ```
/// use wayhop_wire::dsr::{AddrList, Builder, DsrOption, RouteRequest};
/// use wayhop_wire::ipv4::protocol::NO_NEXT_HEADER;
///
/// let mut scratch = Vec::new();
/// let mut b = Builder::new(&mut scratch, NO_NEXT_HEADER);
/// let target = [10, 0, 0, 9].into();
/// b.push(&DsrOption::RouteRequest(RouteRequest { id: 7, target, addresses: AddrList::EMPTY }))?;
/// assert_eq!(b.finish(), [59, 0, 0, 8, 1, 6, 0, 7, 10, 0, 0, 9]);
/// # Ok::<(), wayhop_wire::Error>(())
/// ```
#[derive(Debug)]
pub struct Builder<'b> {
    buf: &'b mut Vec<u8>,
}

impl<'b> Builder<'b> {
    /// Clears `buf` and starts a header before what `next_header` names.
    pub fn new(buf: &'b mut Vec<u8>, next_header: u8) -> Self {
        buf.clear();
        buf.extend_from_slice(&[next_header, 0, 0, 0]);
        Self { buf }
    }

    /// Appends an option; on an error the header is as before.
    pub fn push(&mut self, o: &DsrOption<'_>) -> Result<(), Error> {
        o.check()?;
        let at = self.buf.len();
        let end = at + o.buffer_len();
        // Room for three octets of padding, too.
        refuse_if(end + 3 > HEADER_LEN + usize::from(u16::MAX), Error::Full)?;
        self.buf.resize(end, 0);
        o.emit(&mut self.buf[at..])
    }

    /// Pads the header to a multiple of four octets (section 6.1), sets its Payload Length and returns it.
    pub fn finish(self) -> &'b [u8] {
        self.buf.extend_from_slice(padding(self.buf.len().wrapping_neg() % 4));
        let options_len = (self.buf.len() - HEADER_LEN) as u16;
        self.buf[2..4].copy_from_slice(&options_len.to_be_bytes());
        self.buf
    }

    /// Clears `buf` and writes a Flow State header (section 7.1) into it.
    pub fn flow_state(buf: &'b mut Vec<u8>, next_header: u8, state: FlowState) -> &'b [u8] {
        buf.clear();
        buf.resize(HEADER_LEN, 0);
        state.emit(next_header, buf);
        buf
    }
}

/// The shortest padding options of `n` octets in all, for `n` up to 3. Pad1 where it must be, PadN else (section 6.8).
pub(super) const fn padding(n: usize) -> &'static [u8] {
    match n {
        0 => &[],
        1 => &[option_type::PAD_1],
        2 => &[option_type::PAD_N, 0],
        _ => &[option_type::PAD_N, 1, 0],
    }
}
