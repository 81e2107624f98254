//! The server: answers with the requested length.

use core::net::SocketAddr;

use wayhop_core::{Application, ApplicationCx, TimerKey};

use super::message::Message;

/// The longest answer, bytes, whatever a stranger asks for.
const MAX_ANSWER: u32 = 1_400;

#[derive(Debug)]
pub(super) struct Server {
    port: u16,
    /// Requests that it has answered, those that came again included.
    answered: u64,
}

impl Server {
    pub(super) const fn new(port: u16) -> Self {
        Self { port, answered: 0 }
    }
}

impl Application for Server {
    fn start(&mut self, cx: &mut ApplicationCx<'_>) {
        cx.listen(self.port);
    }
    fn on_datagram(&mut self, cx: &mut ApplicationCx<'_>, port: u16, from: SocketAddr, data: &[u8]) {
        let Some(request) = Message::read(data).filter(|m| !m.is_answer) else { return };
        self.answered += 1;
        let answer = Message { is_answer: true, ..request };
        cx.send(port, from, answer.write(request.answer_bytes.min(MAX_ANSWER)));
    }
    fn on_timer(&mut self, _: &mut ApplicationCx<'_>, _: TimerKey) {}
    fn restart(&mut self) {}
    fn figures(&self, tell: &mut dyn FnMut(&'static str, f64)) {
        tell("requests_served", self.answered as f64);
    }
}
