//! What the ends of a flow write, and when.

use wayhop_core::Span;

/// What the ends of a flow ([`crate::TcpClient`], [`crate::TcpServer`]) write, and when.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum App {
    /// The client sends a file (FTP), of this many bytes or without an end.
    Bulk {
        /// Octets; `None` for no end.
        bytes: Option<u64>,
    },
    /// The client asks, the server answers, the client thinks, and asks again.
    Requests {
        /// Octets of a request.
        request_bytes: u32,
        /// Octets of an answer.
        response_bytes: u32,
        /// From the end of an answer to the next request.
        think: Span,
    },
    /// The client writes at a constant rate for a while, is silent for a while, and so on; both drawn from exponential
    /// distributions.
    OnOff {
        /// Octets a second while it writes.
        bytes_per_s: f64,
        /// Mean time of writing.
        on: Span,
        /// Mean time of silence.
        off: Span,
    },
}

impl App {
    pub(crate) fn check(&self) -> Result<(), (&'static str, String)> {
        let wrong = |key, why: &str| Err((key, why.to_owned()));
        match *self {
            Self::Bulk { bytes: Some(0) } => wrong("bytes", "give at least 1 byte, or remove it"),
            Self::Requests { request_bytes: 0, .. } => wrong("request_bytes", "give at least 1 byte"),
            Self::Requests { response_bytes: 0, .. } => wrong("response_bytes", "give at least 1 byte"),
            Self::OnOff { bytes_per_s, .. } if !(bytes_per_s > 0.0 && bytes_per_s <= 1e9) => {
                wrong("rate_bps", "give a rate above zero, at most 8e9")
            }
            Self::OnOff { on: Span::ZERO, .. } => wrong("on_s", "give a time above zero"),
            _ => Ok(()),
        }
    }
}
