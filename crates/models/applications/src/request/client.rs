//! A client: requests, waits, retries, thinks.

use core::net::{IpAddr, SocketAddr};

use wayhop_core::{Application, ApplicationCx, Span, Time, TimerKey};

use super::message::Message;
use super::params::Params;

/// The client has thought: it makes the next request.
const THOUGHT: TimerKey = TimerKey(0);
/// No answer has come in time.
const TIMEOUT: TimerKey = TimerKey(1);

#[derive(Debug)]
pub(super) struct Client {
    params: Params,
    server: IpAddr,
    waiting: Option<Waiting>,
    /// Requests made, the number of the next one.
    made: u64,
    answered: u64,
    failed: u64,
    /// Requests that were sent again.
    retries: u64,
    /// The sum of all response times.
    responses: Span,
}

/// The request that has no answer yet.
#[derive(Debug)]
struct Waiting {
    number: u32,
    /// When it was first sent.
    since: Time,
    tries: u32,
}

impl Client {
    pub(super) const fn new(params: Params, server: IpAddr) -> Self {
        Self {
            params,
            server,
            waiting: None,
            made: 0,
            answered: 0,
            failed: 0,
            retries: 0,
            responses: Span::ZERO,
        }
    }

    fn think(&self, cx: &mut ApplicationCx<'_>, from: Time) {
        let think = Span::from_secs_f64(cx.rng().exponential(self.params.think_s));
        cx.set_timer(THOUGHT, from + think);
    }

    fn ask(&mut self, cx: &mut ApplicationCx<'_>) {
        let over = self.params.stop_s.is_some_and(|s| cx.now() >= Time::from_secs_f64(s));
        if over || self.params.max_requests.is_some_and(|most| self.made >= most) {
            return;
        }
        self.waiting = Some(Waiting { number: self.made as u32, since: cx.now(), tries: 0 });
        self.made += 1;
        self.send(cx);
    }

    /// Sends the request that waits, once more.
    fn send(&mut self, cx: &mut ApplicationCx<'_>) {
        let Some(waiting) = &mut self.waiting else { return };
        waiting.tries += 1;
        let request =
            Message { is_answer: false, number: waiting.number, answer_bytes: self.params.answer_bytes };
        let to = SocketAddr::new(self.server, self.params.port);
        cx.send(self.params.client_port, to, request.write(self.params.request_bytes));
        cx.set_timer(TIMEOUT, cx.now() + Span::from_secs_f64(self.params.timeout_s));
    }

    fn give_up_or_retry(&mut self, cx: &mut ApplicationCx<'_>) {
        let Some(tries) = self.waiting.as_ref().map(|w| w.tries) else { return };
        if tries < self.params.tries {
            self.retries += 1;
            cx.note("request_retried", self.server, u64::from(tries) + 1);
            return self.send(cx);
        }
        self.waiting = None;
        self.failed += 1;
        cx.note("request_failed", self.server, tries.into());
        self.think(cx, cx.now());
    }
}

impl Application for Client {
    fn start(&mut self, cx: &mut ApplicationCx<'_>) {
        cx.listen(self.params.client_port);
        self.think(cx, cx.now().max(Time::from_secs_f64(self.params.start_s)));
    }

    fn on_datagram(&mut self, cx: &mut ApplicationCx<'_>, _: u16, from: SocketAddr, data: &[u8]) {
        let Some(answer) = Message::read(data).filter(|m| m.is_answer && from.ip() == self.server) else {
            return;
        };
        // A second answer, to a request that was sent again, is none to this one.
        let Some(asked) = self.waiting.take_if(|w| w.number == answer.number) else { return };
        let response = cx.now().since(asked.since);
        self.answered += 1;
        self.responses += response;
        cx.clear_timer(TIMEOUT);
        cx.note("request_answered", self.server, response.as_nanos());
        self.think(cx, cx.now());
    }

    fn on_timer(&mut self, cx: &mut ApplicationCx<'_>, key: TimerKey) {
        if key == TIMEOUT { self.give_up_or_retry(cx) } else { self.ask(cx) }
    }

    /// Its counts are the run's, and its numbers go on: an answer to a request of its former life is none.
    fn restart(&mut self) {
        self.failed += u64::from(self.waiting.take().is_some());
    }

    fn figures(&self, tell: &mut dyn FnMut(&'static str, f64)) {
        tell("requests", self.made as f64);
        tell("answered", self.answered as f64);
        tell("failed", self.failed as f64);
        tell("retries", self.retries as f64);
        if self.answered > 0 {
            tell("response_mean_ms", self.responses.as_millis_f64() / self.answered as f64);
        }
    }
}
