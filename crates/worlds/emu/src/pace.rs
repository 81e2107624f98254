//! A simulation at a given speed: its clock is `speed` times as fast as the machine's, and its
//! control socket answers meanwhile.

use std::io;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use wayhop_core::{Span, Time};
use wayhop_netns::Error;
use wayhop_sim::Simulation;

use crate::control::Control;

/// Events run before the socket has its turn.
const PER_TURN: u32 = 256;
/// The longest wait: `watch` is asked as often.
const WAIT: Duration = Duration::from_millis(50);

/// Runs a simulation until `end`, `speed` simulated seconds in a second or as many as the machine can. `watch` is called now
/// and then with the run's time. Returns whether nobody broke it off. What it does is what it does unpaced, unless somebody
/// changes it through the socket.
pub fn pace(
    simulation: &mut Simulation,
    end: Time,
    speed: f64,
    control: &mut Control,
    mut watch: impl FnMut(Time) -> ControlFlow<()>,
) -> Result<bool, Error> {
    simulation.attend();
    let begun = Instant::now();
    let clock = || (Time::ZERO + Span::from_secs_f64(begun.elapsed().as_secs_f64() * speed)).min(end);
    let mut watched = begun;
    loop {
        let now = clock();
        let busy = simulation.run_due(PER_TURN, || now, |_| {});
        while let Some(power) = simulation.powered() {
            control.power(power);
        }
        control.publish(simulation);
        if !busy {
            simulation.pass(now);
        }
        let is_over = control.serve(simulation) || (!busy && now == end);
        if is_over {
            return Ok(true);
        }
        if watched.elapsed() >= WAIT {
            watched = Instant::now();
            simulation.keep_up();
            if watch(simulation.now()).is_break() {
                return Ok(false);
            }
        }
        if !busy {
            wait(control, simulation.next_event().unwrap_or(end).min(end).since(clock()), speed)
                .map_err(|e| Error::system("the simulation stopped", e))?;
        }
    }
}

/// Waits until `simulated` time has passed, or somebody asks something.
fn wait(control: &Control, simulated: Span, speed: f64) -> io::Result<()> {
    let real = Duration::from_secs_f64((simulated.as_secs_f64() / speed).min(WAIT.as_secs_f64()));
    // A millisecond at least: a finer clock than the kernel's timer gains nothing.
    let timeout = PollTimeout::from(real.as_millis().max(1) as u16);
    match poll(&mut [PollFd::new(control.server.fd(), PollFlags::POLLIN)], timeout) {
        Ok(_) | Err(nix::Error::EINTR) => Ok(()),
        Err(e) => Err(e.into()),
    }
}
