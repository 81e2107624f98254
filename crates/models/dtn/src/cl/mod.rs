//! Convergence layers as sessions without I/O: octets in, octets out.
//!
//! One [`Session`] represents one TCP connection ([`tcpcl::Tcpcl`]) or for one neighbour's UDP
//! address and port ([`udpcl::Udpcl`], [`ltp::Ltp`]). The host owns the sockets. After each call of
//! a session it takes its events with [`Session::event`] and, while its socket takes more, its
//! octets with [`Session::transmit`].

pub mod ltp;
pub mod tcpcl;
pub mod udpcl;

use wayhop_core::Time;

use crate::agent::{ContactId, Output, Refusal, TransferEvent, TransferId};
use crate::eid::Eid;

/// What a session tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// Bundles can be sent from now on: [`crate::Input::ContactUp`].
    Up {
        /// The neighbour, as far as the layer knows: TCPCLv4's SESS_INIT tells. `Eid::None` with the others, where a
        /// beacon or a configuration tells.
        peer: Eid,
        /// The largest bundle that it takes.
        largest: Option<usize>,
    },
    /// Something happened to a transfer: [`crate::Input::Transfer`].
    Transfer(TransferEvent),
    /// The session is over: close the connection once [`Session::transmit`] gives nothing more;
    /// [`crate::Input::ContactDown`], if it was up.
    Down(Closed),
}

impl Output {
    /// Gives it to its session, if that is still there. Returns what is for no session.
    pub fn give<'a>(
        self,
        now: Time,
        session: impl FnOnce(ContactId) -> Option<&'a mut dyn Session>,
    ) -> Option<Self> {
        match self {
            Self::Transmit { contact, transfer, bundle } => session(contact)?.send(now, transfer, bundle),
            Self::Accept(contact, transfer) => session(contact)?.accept(now, transfer),
            Self::Refuse(contact, transfer, reason) => session(contact)?.refuse(now, transfer, reason),
            other => return Some(other),
        }
        None
    }
}

/// Why a session ended.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Closed {
    /// This side wanted it.
    #[error("this node ended the session")]
    Local,
    /// The other side wanted it.
    #[error("the neighbour ended the session (reason {0})")]
    Remote(u8),
    /// Nothing came for too long.
    #[error("the neighbour was silent for {0} s")]
    Silent(u64),
    /// The connection broke.
    #[error("connection lost")]
    Lost,
    /// The other side does not keep to the protocol.
    #[error("the neighbour violated the protocol: {0}")]
    Protocol(&'static str),
}

/// One session with one neighbour.
pub trait Session {
    /// Octets of the connection, or one datagram. Never panics, whatever they are.
    fn receive(&mut self, now: Time, octets: &[u8]);
    /// Octets for the connection, at most `room`; or one datagram, whatever the room. `None` when there is nothing to send now.
    fn transmit(&mut self, now: Time, room: usize) -> Option<Vec<u8>>;
    /// The next event.
    fn event(&mut self) -> Option<Event>;
    /// Sends a bundle.
    fn send(&mut self, now: Time, transfer: TransferId, bundle: Vec<u8>);
    /// A bundle that arrived is safe: acknowledges it.
    fn accept(&mut self, now: Time, transfer: TransferId);
    /// A bundle that arrived is not taken.
    fn refuse(&mut self, now: Time, transfer: TransferId, reason: Refusal);
    /// The time of [`Session::next_timer`] has come.
    fn timer(&mut self, now: Time);
    /// When [`Session::timer`] is to be called.
    fn next_timer(&self) -> Option<Time>;
    /// Ends the session in an orderly way; [`Event::Down`] follows.
    fn close(&mut self, now: Time);
    /// The connection is gone, or the neighbour out of range; events say what had arrived, and [`Event::Down`] follows.
    fn lost(&mut self, now: Time);
}
