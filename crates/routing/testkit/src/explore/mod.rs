//! Exhaustive search over the possible events of a few nodes.
//!
//! The nodes run the shipping protocol; nothing of it is modelled. What is modelled is the world around them:
//! a message in flight may be delivered, lost, or overtaken by a later one; a link may break and come back; a
//! node may reboot; an application may send; time may pass until the next timer. [`Exploration::holds`] hands
//! this world to the model checker `stateright`, which visits every state that can be reached within a
//! [`Budget`], and looks at the [`Rule`]s in each. A state that breaks a rule ends the search, breadth first,
//! so that the [`Counterexample`] is a shortest one; it lists, line by line, each message and its effect.
//!
//! **The world.**
//! * Handlers take no time and delays of transmissions (jitter) are ignored: a message takes any time anyway.
//! * A message that is sent while its link is up may arrive at any later moment, also after the link broke; one sent while it
//!   is down is lost. A unicast that is lost tells its sender (`NoAck`), at once.
//! * Messages of one link keep their order unless the budget for overtaking is spent.
//! * A link breaks together with what is on it, or with all of it still to arrive.
//! * Time passes in steps to the next timer, anywhere; all timers that are due fire, in any order, before it passes
//!   on. Time does not pass while a message is in flight.
//! * A unicast may arrive although its sender hears no acknowledgement. Where the protocol overhears ([`wayhop_core::Interests::overhear`]), all
//!   other neighbours of the sender hear a unicast when it arrives.
//! * `Cx::recall` gives back data packets; control messages that it names are still on their way and may arrive.
//! * Random draws are the same in every handler call of one life of a node: protocols must be set up so that they do not matter.

mod air;
mod checked;
mod exploration;
mod faulty;
mod host;
mod model;
mod names;
mod outcomes;
mod steps;
mod story;
mod tally;
mod topology;
mod world;

pub use air::{Flight, Transmissions};
pub use checked::{Explorable, datagram, digest_unnumbered};
pub use exploration::{Exploration, Make, Remake, Rule};
pub use faulty::{Faulty, Mistake};
pub use host::{DATA_TTL, Host};
pub use names::Names;
pub use outcomes::Outcomes;
pub use story::Counterexample;
pub use tally::Tally;
pub use topology::Topology;
pub use world::{Action, Budget, World, no_loop, no_self_entry};
