//! The calls of one node's engine or application.

use std::sync::Arc;

use serde_json::Value;
use wayhop_core::Rng;

use super::interpreter::failure;
use super::pipe::Answer;
use super::run::{Hosted, Run};

/// Random numbers that an interpreter has of each node's stream before it asks for more.
const AHEAD: u32 = 8;

/// What every call begins with, besides whose it is.
#[derive(Copy, Clone)]
pub(super) struct Head {
    /// A number of the kinds of calls of protocols or of applications.
    pub(super) kind: u8,
    pub(super) now_ns: u64,
    /// Packets in the interface queue.
    pub(super) queued: u32,
    /// Whether the interface reports if a unicast was acknowledged.
    pub(super) acknowledges: bool,
}

impl Head {
    /// Of a call without a node's queue.
    pub(super) const fn new(kind: u8, now_ns: u64) -> Self {
        Self { kind, now_ns, queued: 0, acknowledges: true }
    }

    fn write(self, number: u32, words: &[u64], out: &mut Vec<u8>) {
        out.clear();
        out.push(self.kind);
        out.extend_from_slice(&number.to_le_bytes());
        out.extend_from_slice(&self.now_ns.to_le_bytes());
        out.extend_from_slice(&self.queued.to_le_bytes());
        out.push(u8::from(self.acknowledges));
        out.extend_from_slice(&(words.len() as u16).to_le_bytes());
        for word in words {
            out.extend_from_slice(&word.to_le_bytes());
        }
    }
}

/// One node's object in an interpreter.
pub(super) struct Session {
    run: Arc<Run>,
    /// Its number in the interpreter.
    number: u32,
    /// Random numbers that the interpreter has of this node.
    ahead: u32,
    /// The call, while it is written.
    call: Vec<u8>,
}

impl Session {
    /// With a number that no other has in its run.
    pub(super) fn begin(run: Arc<Run>) -> Self {
        let number = run.lock().next_number();
        Self { run, number, ahead: 0, call: Vec::new() }
    }

    pub(super) const fn number(&self) -> u32 {
        self.number
    }

    /// Writes a call; `input` writes what the handler receives.
    pub(super) fn write(&mut self, head: Head, rng: &mut Rng, input: impl FnOnce(&mut Vec<u8>)) {
        let mut words = [0; AHEAD as usize];
        let missing = AHEAD.saturating_sub(self.ahead) as usize;
        words[..missing].fill_with(|| rng.bits());
        self.ahead = self.ahead.max(AHEAD);
        head.write(self.number, &words[..missing], &mut self.call);
        input(&mut self.call);
    }

    /// Makes the call that was written, and carries out its effects. The error is a phrase whose subject is the module.
    pub(super) fn make<C>(
        &mut self,
        cx: &mut C,
        rng: fn(&mut C) -> &mut Rng,
        carry_out: impl FnOnce(&mut C, &[u8]) -> Result<(), String>,
    ) -> Result<(), String> {
        let hosted = &mut *self.run.lock();
        let Hosted { interpreter, .. } = hosted;
        match interpreter.pipe.exchange(&mut self.call, Some(&mut || rng(cx).bits())) {
            Ok(Answer::Done(ahead, effects)) => {
                self.ahead = ahead;
                carry_out(cx, effects)
            }
            Ok(Answer::Failed(told)) => Err(failure(told)),
            Err(broken) => Err(interpreter.end(broken)),
        }
    }

    /// Makes a call of a method without a context, which gets no random numbers. Returns its answer, JSON.
    pub(super) fn ask(&self, head: Head) -> Result<Value, String> {
        let mut call = Vec::new();
        head.write(self.number, &[], &mut call);
        let hosted = &mut *self.run.lock();
        match hosted.interpreter.pipe.exchange(&mut call, None) {
            Ok(Answer::Done(_, [])) => Ok(Value::Null),
            Ok(Answer::Done(_, json)) => serde_json::from_slice(json).map_err(|e| format!("answered {e}")),
            Ok(Answer::Failed(told)) => Err(failure(told)),
            Err(broken) => Err(hosted.interpreter.end(broken)),
        }
    }

    /// Tells the interpreter that the object is gone. Nobody answers.
    pub(super) fn end(&mut self, kind: u8) {
        Head::new(kind, 0).write(self.number, &[], &mut self.call);
        // Without an interpreter there is nothing left to end.
        let _ = self.run.lock().interpreter.pipe.send(&mut self.call);
    }
}
