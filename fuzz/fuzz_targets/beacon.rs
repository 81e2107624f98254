//! Datagrams from strangers to a node that sends beacons, and its own beacons between them.
#![no_main]

use std::borrow::Cow;
use std::net::{Ipv4Addr, SocketAddr};

use libfuzzer_sys::fuzz_target;
use wayhop_core::{ApplicationCx, ApplicationEffect, ApplicationInput, Purpose, Time, TimerKey, stream};

fuzz_target!(|octets: &[u8]| {
    let description = wayhop_applications::find("beacon").expect("the registry has it");
    let mut engine = (description.read)((description.defaults)()).expect("parameters").application(None);
    let (mut rng, mut effects) = (stream(1, Purpose::Applications, 0), Vec::new());
    let mut call = |at: u64, input| {
        let own = Ipv4Addr::new(10, 0, 0, 1).into();
        let mut cx = ApplicationCx::new(Time::from_nanos(at * 1_000_000_000), own, &mut rng, &mut effects);
        engine.on_input(&mut cx, input);
    };
    call(0, ApplicationInput::Start);
    let mut timers = 0;
    for (at, piece) in (1..).zip(octets.chunks(16)) {
        // Its first byte is the sender; 0 is a timer instead.
        match piece.split_first() {
            Some((0, _)) | None => {
                timers += 1;
                call(at, ApplicationInput::Timer(TimerKey(0)));
            }
            Some((sender, data)) => {
                let from = SocketAddr::from((Ipv4Addr::new(10, 0, 0, *sender), 7_072));
                call(at, ApplicationInput::Datagram { port: 7_072, from, data: Cow::Borrowed(data) });
            }
        }
    }
    // Nothing but own beacons, whatever strangers send.
    let sent = effects.iter().filter(|e| matches!(e, ApplicationEffect::Send(_))).count();
    assert_eq!(sent, timers);
    // Who was lost had been found.
    let notes = |name: &str| {
        effects.iter().filter(|e| matches!(e, ApplicationEffect::Note(n) if n.what == name)).count()
    };
    assert!(notes("beacon_neighbour_lost") <= notes("beacon_neighbour_found"));
});
