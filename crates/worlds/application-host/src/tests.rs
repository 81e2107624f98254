//! What a watcher hears of datagrams, and how it says that a node is down.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};

use wayhop_core::{Application, ApplicationCx, ApplicationDatagram, Span, Time, TimerKey};

use crate::{Figures, Settings, Watcher, run};

const TICK: Span = Span::from_millis(10);
const TTL: u8 = 7;

/// Sends itself a datagram with its time, once a tick.
#[derive(Default)]
struct Ticker {
    port: u16,
    due: Time,
    came: u32,
}

impl Ticker {
    fn wait(&mut self, cx: &mut ApplicationCx<'_>) {
        self.due += TICK;
        cx.set_timer(TimerKey(0), self.due);
    }
}

impl Application for Ticker {
    fn start(&mut self, cx: &mut ApplicationCx<'_>) {
        cx.listen(self.port);
        self.wait(cx);
    }
    fn on_datagram(&mut self, _: &mut ApplicationCx<'_>, _: u16, _: SocketAddr, _: &[u8]) {
        self.came += 1;
    }
    fn on_timer(&mut self, cx: &mut ApplicationCx<'_>, _: TimerKey) {
        let to = SocketAddr::from((Ipv4Addr::LOCALHOST, self.port));
        let data = self.due.as_nanos().to_be_bytes().to_vec();
        cx.send_datagram(ApplicationDatagram { port: self.port, to, ttl: TTL, tos: 0xb8, data });
        self.wait(cx);
    }
    fn on_resume(&mut self, cx: &mut ApplicationCx<'_>) {
        assert_eq!(cx.now(), self.due);
        self.wait(cx);
    }
    fn restart(&mut self) {}
    fn figures(&self, tell: &mut dyn FnMut(&'static str, f64)) {
        tell("came", self.came.into());
    }
}

/// The node is down for a fifth of a second.
#[derive(Default)]
struct Observer {
    port: u16,
    sent: Vec<Vec<u8>>,
    received: Vec<Vec<u8>>,
}

fn is_down(at: Time) -> bool {
    (Time::from_secs_f64(0.1)..Time::from_secs_f64(0.3)).contains(&at)
}

impl Watcher for Observer {
    fn is_down(&self, at: Time) -> bool {
        is_down(at)
    }
    fn sent(&mut self, data: &[u8]) {
        self.sent.push(data.to_vec());
    }
    fn received(&mut self, port: u16, from: IpAddr, ttl: Option<u8>, data: &[u8]) {
        assert_eq!((port, from, ttl), (self.port, Ipv4Addr::LOCALHOST.into(), Some(TTL)));
        self.received.push(data.to_vec());
    }
    fn wants_end(&mut self, _: &Figures) -> bool {
        true
    }
}

#[test]
fn a_watcher_hears_what_is_sent_and_received_and_nothing_is_sent_while_it_says_that_the_node_is_down() {
    let free = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let port = free.local_addr().expect("its number").port();
    drop(free);
    let here = Ipv4Addr::LOCALHOST.into();
    let settings = Settings { addr: here, listen: here, ..Settings::default() };
    let mut observer = Observer { port, ..Observer::default() };
    let ticker = Ticker { port, ..Ticker::default() };
    let figures = run(Box::new(ticker), &settings, None, &mut observer).expect("it runs");
    // The last may be under way at the end.
    let came = observer.received.len();
    assert!(observer.sent.len() - came <= 1 && came > 10, "{came} of {}", observer.sent.len());
    assert_eq!(observer.received, observer.sent[..came]);
    assert_eq!(figures["came"], came as f64);
    let due = |data: &Vec<u8>| data.first_chunk().map(|b| Time::from_nanos(u64::from_be_bytes(*b)));
    let sent: Vec<Time> = observer.sent.iter().filter_map(due).collect();
    let ticks = (1..=u64::MAX).map(|k| Time::ZERO + Span::from_nanos(k * TICK.as_nanos()));
    let expected: Vec<Time> = ticks.filter(|at| !is_down(*at)).take(sent.len()).collect();
    assert_eq!(sent, expected);
}
