//! How the user stops a run: Ctrl-C and SIGTERM set a flag, which runs check.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use wayhop_trace::Status;

use crate::error::Error;

/// Signals that follow each other sooner are one: `timeout`, and other programs that start this one, pass on the Ctrl-C that
/// the terminal sent to all of them.
const ONE_SIGNAL: Duration = Duration::from_millis(300);

/// A flag that Ctrl-C and SIGTERM raise. A second signal ends the process. Once in a process.
pub fn stop_on_signal() -> Result<Arc<AtomicBool>, Error> {
    let stop = Arc::new(AtomicBool::new(false));
    let raised = Arc::clone(&stop);
    let mut first = None;
    ctrlc::set_handler(move || {
        raised.store(true, Ordering::Relaxed);
        // The second time the user means it.
        if first.get_or_insert_with(Instant::now).elapsed() > ONE_SIGNAL {
            std::process::exit(i32::from(Status::Interrupted.code()));
        }
    })
    .map_err(Error::run)?;
    Ok(stop)
}

/// Breaks off when the flag is raised.
pub fn unless(stop: &AtomicBool) -> ControlFlow<()> {
    if stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}
