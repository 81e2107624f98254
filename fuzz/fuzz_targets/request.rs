//! Datagrams from strangers to the applications of the registry: a client, which has a server, and a server.
#![no_main]

use std::borrow::Cow;
use std::net::{Ipv4Addr, SocketAddr};

use libfuzzer_sys::fuzz_target;
use wayhop_core::{
    Application, ApplicationCx, ApplicationEffect, ApplicationInput, Purpose, Time, TimerKey, stream,
};

/// One of the registry, with these parameters beside the defaults.
fn application(name: &str, own: &[(&str, serde_json::Value)]) -> Box<dyn Application> {
    let description = wayhop_applications::find(name).expect("the registry has it");
    let mut values = (description.defaults)();
    values.extend(own.iter().map(|(key, value)| ((*key).to_owned(), value.clone())));
    (description.read)(values).expect("parameters").application(None)
}

fuzz_target!(|octets: &[u8]| {
    let from = SocketAddr::from((Ipv4Addr::new(10, 0, 0, 2), 7_070));
    for own in [&[][..], &[("server", "10.0.0.2".into())]] {
        let mut engine = application("request", own);
        let (mut rng, mut effects) = (stream(1, Purpose::Applications, 0), Vec::new());
        let mut call = |at: u64, input| {
            let mut cx = ApplicationCx::new(
                Time::from_nanos(at * 1_000_000_000),
                Ipv4Addr::new(10, 0, 0, 1).into(),
                &mut rng,
                &mut effects,
            );
            engine.on_input(&mut cx, input);
        };
        call(0, ApplicationInput::Start);
        call(1, ApplicationInput::Timer(TimerKey(0)));
        let mut pieces = 0;
        for data in octets.chunks(20) {
            pieces += 1;
            call(2, ApplicationInput::Datagram { port: 7_070, from, data: Cow::Borrowed(data) });
        }
        let sent = effects.iter().filter_map(|e| match e {
            ApplicationEffect::Send(d) => Some(d),
            _ => None,
        });
        // One to each datagram at most, and the client's own request; no stranger has it send a long one.
        assert!(sent.clone().all(|d| d.data.len() <= 1_400));
        assert!(sent.count() <= pieces + 1);
    }
});
