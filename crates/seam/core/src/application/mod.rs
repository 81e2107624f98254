//! The second seam: an application as a state machine without I/O, as [`crate::Protocol`] is for routing.

mod cx;
mod description;
mod echo;
mod effect;
mod input;
mod link;
mod network;
mod program;
mod row;
mod stream;

pub use cx::ApplicationCx;
pub use description::{
    ApplicationDescription, ApplicationParameters, ConfiguredApplication, ReadApplication,
};
pub use echo::{EchoReply, EchoRequest};
pub use effect::{ApplicationDatagram, ApplicationEffect};
pub use input::{ApplicationInput, Ending};
pub use link::{LinkId, LinkNeeds, LinkReach, LinkState};
pub use network::{HomeRoute, NetworkEffect, NetworkInput};
pub use program::{ProgramEffect, ProgramInput, ProgramMessage};
pub use row::ApplicationRow;
pub use stream::{STREAM_ROOM, StreamEffect, StreamEnd, StreamId, StreamInput};

use core::net::{IpAddr, SocketAddr};

use crate::{Fix, TimerKey};

/// A program at one node: it sends and receives above the routing protocol. Handlers with a default are for applications that use
/// what they are about.
///
/// **Hosts.** The simulator gives it datagrams from its own nodes; in emulation, in a lab and on a real host the kernel's sockets
/// do. The application cannot tell which.
///
/// **Order.** Handlers of one application never overlap. Effects are applied in order after the handler returned.
///
/// **Power.** A node that goes down calls nothing. When it comes back with its memory, the host calls [`Application::on_resume`], and timers
/// that were due meanwhile are due now. When it goes without, the host calls [`Application::end`] and [`Application::restart`] then, and
/// [`Application::start`] when it is back. A source of the scenario's traffic is the experiment's, not the node's: its host calls
/// [`Application::on_resume`] whenever one of its timers is due while the node is down, and the source leaves out what it would have sent.
pub trait Application: Send {
    /// The node is up: the application opens its ports and sets its first timers.
    fn start(&mut self, cx: &mut ApplicationCx<'_>);
    /// A datagram came to a port that the application listens at.
    fn on_datagram(&mut self, cx: &mut ApplicationCx<'_>, port: u16, from: SocketAddr, data: &[u8]) {
        let _ = (cx, port, from, data);
    }
    /// An ICMP echo request of the application was answered.
    fn on_echo_reply(&mut self, cx: &mut ApplicationCx<'_>, reply: EchoReply<'_>) {
        let _ = (cx, reply);
    }
    /// A timer fires.
    fn on_timer(&mut self, cx: &mut ApplicationCx<'_>, key: TimerKey);
    /// Where the node is, from its GPS receiver.
    fn on_position(&mut self, cx: &mut ApplicationCx<'_>, fix: &Fix) {
        let _ = (cx, fix);
    }
    /// The host's network layer tells something: only to an application that has links ([`ApplicationParameters::links`]).
    fn on_network(&mut self, cx: &mut ApplicationCx<'_>, input: NetworkInput<'_>) {
        let _ = (cx, input);
    }
    /// Something happened to a stream of its own.
    fn on_stream(&mut self, cx: &mut ApplicationCx<'_>, input: StreamInput<'_>) {
        let _ = (cx, input);
    }
    /// A program asks for something, or is gone.
    fn on_program(&mut self, cx: &mut ApplicationCx<'_>, input: ProgramInput) {
        let _ = (cx, input);
    }
    /// The routing protocol has these neighbours, and no others. Hosts that can ask it tell once a second.
    fn on_neighbours(&mut self, cx: &mut ApplicationCx<'_>, neighbours: &[IpAddr]) {
        let _ = (cx, neighbours);
    }
    /// The node was down, and is back with its memory. Timers that were due are still set.
    fn on_resume(&mut self, cx: &mut ApplicationCx<'_>) {
        let _ = cx;
    }
    /// The application ends. Unless it ends in order, what it sends is lost.
    fn end(&mut self, cx: &mut ApplicationCx<'_>, ending: Ending) {
        let _ = (cx, ending);
    }
    /// The node lost its memory: whatever is not on a disk is forgotten. [`Application::start`] follows if it comes back.
    fn restart(&mut self);
    /// What it has counted so far: a name in `snake_case`, which ends with the unit if there is one, and a value. One that is not defined
    /// is left out.
    fn figures(&self, tell: &mut dyn FnMut(&'static str, f64));
    /// How long its lists are now, by name: for the run's table `sizes`.
    fn sizes(&self, tell: &mut dyn FnMut(&'static str, u64)) {
        let _ = tell;
    }

    /// Reads memory that the next input will most likely need: see [`crate::Protocol::look_ahead`]. The answer has no meaning.
    fn look_ahead(&self) -> u8 {
        0
    }

    /// Gives an input to its handler. Hosts call this and nothing else, so that a log of inputs is complete.
    fn on_input(&mut self, cx: &mut ApplicationCx<'_>, input: ApplicationInput<'_>) {
        match input {
            ApplicationInput::Start => self.start(cx),
            ApplicationInput::Datagram { port, from, data } => self.on_datagram(cx, port, from, &data),
            ApplicationInput::EchoReply(reply) => self.on_echo_reply(cx, reply),
            ApplicationInput::Timer(key) => self.on_timer(cx, key),
            ApplicationInput::Position(fix) => self.on_position(cx, &fix),
            ApplicationInput::Restart => self.restart(),
            ApplicationInput::Network(input) => self.on_network(cx, input),
            ApplicationInput::Stream(input) => self.on_stream(cx, input),
            ApplicationInput::Program(input) => self.on_program(cx, input),
            ApplicationInput::Neighbours(all) => self.on_neighbours(cx, &all),
            ApplicationInput::Resume => self.on_resume(cx),
            ApplicationInput::End(ending) => self.end(cx, ending),
        }
    }
}
