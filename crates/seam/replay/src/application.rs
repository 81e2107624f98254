//! An application under replay.

use std::net::IpAddr;

use serde_json::Value;
use wayhop_core::{Application, ApplicationCx, ApplicationInput, Rng, Time};

use crate::answer::{Answer, check_order, guarded};
use crate::line::ApplicationLine;

pub(crate) struct ApplicationSubject {
    application: Box<dyn Application>,
    /// Once it has begun.
    rng: Option<Rng>,
    addr: IpAddr,
}

impl ApplicationSubject {
    pub(crate) const fn new(application: Box<dyn Application>, addr: IpAddr) -> Self {
        Self { application, rng: None, addr }
    }

    /// Gives it an input, which comes after `before`. The error is what is wrong with the line.
    pub(crate) fn answer(&mut self, line: ApplicationLine<'_>, before: Time) -> Result<Answer, String> {
        let ApplicationLine { at, rng, input, out: expected } = line;
        let is_start = matches!(input, ApplicationInput::Start);
        check_order((at, before), is_start, rng.is_some(), self.rng.is_none())?;
        if is_start {
            self.rng = rng;
        }
        let mut effects = Vec::new();
        let mut panicked = None;
        if let Some(rng) = &mut self.rng {
            panicked = guarded(|| {
                let mut cx = ApplicationCx::new(at, self.addr, rng, &mut effects);
                self.application.on_input(&mut cx, input);
            });
        }
        let got: Vec<Value> = effects.iter().map(|e| serde_json::to_value(e).unwrap_or_default()).collect();
        Ok(Answer { at, expected, got, panicked })
    }
}
