//! What comes to a bundle node: datagrams, streams, commands of programs, time.
#![no_main]

use std::borrow::Cow;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use libfuzzer_sys::fuzz_target;
use wayhop_core::{
    Application as _, ApplicationCx, ApplicationEffect, ApplicationInput, Ending, ProgramInput,
    ProgramMessage, Purpose, Span, StreamEnd, StreamId, StreamInput, Time, TimerKey, stream,
};
use wayhop_dtn::MemoryStore;
use wayhop_dtn::node::{Layer, Node, Settings};

const PEER: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2));

/// The input that these octets stand for: the first says which.
fn input(octets: &[u8]) -> ApplicationInput<'_> {
    let (kind, data) = octets.split_first().map_or((0, octets), |(kind, data)| (*kind, data));
    let stream = StreamId::Accepted(u64::from(kind >> 6));
    let datagram = |port| ApplicationInput::Datagram {
        port,
        from: SocketAddr::new(PEER, port),
        data: Cow::Borrowed(data),
    };
    match kind % 12 {
        0 => datagram(4_551),
        1 => datagram(4_556),
        2 => datagram(1_113),
        3 => ApplicationInput::Stream(StreamInput::Accepted { stream, port: 4_556, from: (PEER, 9).into() }),
        4 => ApplicationInput::Stream(StreamInput::Data { stream, data: Cow::Borrowed(data) }),
        5 => ApplicationInput::Stream(StreamInput::Room { stream, bytes: data.len() }),
        6 => ApplicationInput::Stream(StreamInput::Closed { stream, cause: StreamEnd::Broken }),
        7 | 8 => {
            let (head, data) = data.split_at(data.iter().position(|b| *b == b'\n').unwrap_or(data.len()));
            let head = serde_json::from_slice(head).unwrap_or_default();
            let message = ProgramMessage { head, data: data.to_vec() };
            ApplicationInput::Program(ProgramInput::Command { program: 0, message })
        }
        9 => ApplicationInput::Program(ProgramInput::Gone(0)),
        10 => ApplicationInput::Neighbours(data.first().map(|_| PEER).into_iter().collect()),
        _ => ApplicationInput::Timer(TimerKey(0)),
    }
}

fuzz_target!(|octets: &[u8]| {
    let mut settings = Settings::new("dtn://a/".parse().expect("an endpoint"));
    settings.listens = vec![Layer::Tcpcl, Layer::Udpcl, Layer::Ltp];
    let mut node = Node::new(settings, MemoryStore::default());
    let mut rng = stream(1, Purpose::Bundles, 0);
    let mut now = Time::ZERO;
    let mut commands = 0;
    let mut answers = 0;
    let pieces = octets.split(|b| *b == 0xa5).map(input);
    let all = std::iter::once(ApplicationInput::Start).chain(pieces).chain([
        ApplicationInput::End(Ending::InOrder),
        ApplicationInput::Restart,
        ApplicationInput::Start,
    ]);
    for input in all {
        // A program that is gone has no answers.
        match &input {
            ApplicationInput::Program(ProgramInput::Command { .. }) => commands += 1,
            ApplicationInput::Program(ProgramInput::Gone(_)) => (commands, answers) = (0, 0),
            ApplicationInput::Timer(_) => now += Span::from_millis(700),
            _ => {}
        }
        let mut effects = Vec::new();
        node.on_input(&mut ApplicationCx::new(now, PEER, &mut rng, &mut effects), input);
        for effect in &effects {
            // What it asks for can be logged, and nothing from outside makes it give up.
            assert!(serde_json::to_string(effect).is_ok());
            assert!(!matches!(effect, ApplicationEffect::Fail(_)), "{effect:?}");
            answers += u32::from(matches!(effect, ApplicationEffect::Program(p) if is_answer(p)));
        }
        assert!(answers <= commands, "{answers} answers to {commands} commands");
    }
});

fn is_answer(effect: &wayhop_core::ProgramEffect) -> bool {
    matches!(effect, wayhop_core::ProgramEffect::Answer { .. })
}
