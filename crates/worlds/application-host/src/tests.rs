//! What a watcher hears of datagrams, and how it says that a node is down; what an application hears of its network layer.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixDatagram;

use nix::poll::{PollFd, PollFlags};
use wayhop_core::{
    Application, ApplicationCx, ApplicationDatagram, NetworkEffect, NetworkInput, Span, Time, TimerKey,
};

use crate::{Figures, NetworkLayer, Settings, Watcher, run, run_until};

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

/// Gives each packet from its network layer back to it.
#[derive(Default)]
struct Reflector(Vec<NetworkInput<'static>>);

impl Application for Reflector {
    fn start(&mut self, _: &mut ApplicationCx<'_>) {}
    fn on_timer(&mut self, _: &mut ApplicationCx<'_>, _: TimerKey) {}
    fn on_network(&mut self, cx: &mut ApplicationCx<'_>, input: NetworkInput<'_>) {
        match input {
            NetworkInput::Outbound(packet) => cx.network(NetworkEffect::Deliver(packet.to_vec())),
            NetworkInput::TimeOfDay(ns) => self.0.push(NetworkInput::TimeOfDay(ns)),
            NetworkInput::Recall(known) => self.0.push(NetworkInput::Recall(known)),
            other => panic!("{other:?}"),
        }
    }
    fn restart(&mut self) {}
    fn figures(&self, tell: &mut dyn FnMut(&'static str, f64)) {
        let is_begun = matches!(&self.0[..], [NetworkInput::TimeOfDay(_), NetworkInput::Recall(_), ..]);
        tell("is_begun", is_begun.into());
    }
}

/// Packets come by the second socket; nothing comes by the first one.
struct Loopback {
    sockets: [UnixDatagram; 2],
    end: UnixDatagram,
    delivered: Vec<Vec<u8>>,
}

impl NetworkLayer for Loopback {
    fn begin(&mut self) -> Result<Vec<NetworkInput<'static>>, wayhop_linux::Error> {
        Ok(vec![NetworkInput::Recall(7.into())])
    }
    fn fds(&self) -> Vec<PollFd<'_>> {
        self.sockets.iter().map(|s| PollFd::new(s.as_fd(), PollFlags::POLLIN)).collect()
    }
    fn serve(&mut self, ready: &[bool]) -> Result<Vec<NetworkInput<'static>>, wayhop_linux::Error> {
        assert_eq!(ready, [false, true]);
        let mut packet = [0];
        self.sockets[1].recv(&mut packet).expect("it is ready");
        Ok(vec![NetworkInput::Outbound(packet.to_vec().into())])
    }
    fn carry_out(&mut self, effect: NetworkEffect) {
        let NetworkEffect::Deliver(packet) = effect else { panic!("{effect:?}") };
        self.delivered.push(packet);
        if self.delivered.len() == 3 {
            self.end.send(&[0]).expect("the end");
        }
    }
}

#[test]
fn a_part_of_the_network_layer_hears_the_time_what_was_kept_and_what_comes_and_its_effects_go_there() {
    let pair = || UnixDatagram::pair().expect("sockets");
    let ((silent, _other), (packets, from), (end, ended)) = (pair(), pair(), pair());
    (1..=3).for_each(|packet| drop(from.send(&[packet])));
    let mut network = Loopback { sockets: [silent, packets], end, delivered: Vec::new() };
    let (settings, application) = (Settings::default(), Box::<Reflector>::default());
    let figures = run_until(&ended, application, &settings, None, Some(&mut network), &mut ());
    assert_eq!(figures.expect("it runs")["is_begun"], 1.0);
    assert_eq!(network.delivered, [[1], [2], [3]]);
}
