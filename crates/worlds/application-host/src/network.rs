//! The interface between the loop and what is below UDP on its host.

use nix::poll::PollFd;
use wayhop_core::{NetworkEffect, NetworkInput};
use wayhop_linux::Error;

/// The network layer of this host, for an application that is a part of it, as Mobile IP is.
pub trait NetworkLayer {
    /// What the application hears after its start and the time of day: what was kept, and its links.
    ///
    /// # Errors
    /// If the system refuses it.
    fn begin(&mut self) -> Result<Vec<NetworkInput<'static>>, Error>;
    /// To wait for.
    fn fds(&self) -> Vec<PollFd<'_>>;
    /// What the application hears next. `ready` says which of [`NetworkLayer::fds`] are ready.
    ///
    /// # Errors
    /// If the application cannot go on.
    fn serve(&mut self, ready: &[bool]) -> Result<Vec<NetworkInput<'static>>, Error>;
    /// Does what the application asks for.
    fn carry_out(&mut self, effect: NetworkEffect);
}
