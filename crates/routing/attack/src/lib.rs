//! Attackers of scenarios. An attacker is a node whose engine is wrapped by another one, behind the same
//! seam: it hears what the ordinary engine hears, keeps packets that the node should forward, and sends
//! messages that are forged. Forged messages come from the protocol's [`wayhop_core::Forger`].
//!
//! Jamming and wormholes need no engine: the simulator's medium implements them.
//! `docs/concepts/attacks.md` describes each attack for users.

mod attacker;
mod behaviour;
mod recent;
mod replay;

pub use attacker::Attacker;
pub use behaviour::{Behaviour, Drops, Flood, Pretence};
