//! The one timer of an engine.

use wayhop_core::{ApplicationCx, Time, TimerKey};

const KEY: TimerKey = TimerKey(0);

/// When the engine is called next.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Alarm(Time);

impl Alarm {
    pub(crate) const fn new() -> Self {
        Self(Time::NEVER)
    }

    /// It went off.
    pub(crate) const fn fired(&mut self) {
        self.0 = Time::NEVER;
    }

    /// There is something to do then; nothing at [`Time::NEVER`].
    pub(crate) fn set(&mut self, cx: &mut ApplicationCx<'_>, at: Time) {
        if at == self.0 {
            return;
        }
        self.0 = at;
        if at == Time::NEVER {
            cx.clear_timer(KEY);
        } else {
            cx.set_timer(KEY, at);
        }
    }
}
