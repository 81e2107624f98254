//! Stopping a lab while it is set up.

use wayhop_linux::Error;

/// Whether the lab that is being set up is not wanted any more.
pub type StopFlag<'a> = &'a dyn Fn() -> bool;

/// Fails if it is not.
pub(crate) fn go_on(is_stopped: StopFlag<'_>) -> Result<(), Error> {
    if is_stopped() { Err(Error::System("stopped before all nodes were up".to_owned())) } else { Ok(()) }
}
