//! Macfilter files: rejected with the line and a fix, or read; a file survives writing and reading unchanged.
#![no_main]

use std::net::Ipv4Addr;

use libfuzzer_sys::fuzz_target;
use wayhop_scenario::MacFilter;

const NODES: usize = 5;

fuzz_target!(|text: &str| {
    let filter = match MacFilter::parse(text, NODES) {
        Ok(filter) => filter,
        Err(e) => {
            let (line, reason) = e.split_once(": ").expect("a line and a reason");
            let line: usize = line.parse().expect("the number of a line");
            return assert!(line >= 1 && line <= text.lines().count() && !reason.is_empty());
        }
    };
    let again = MacFilter::parse(&filter.to_string(), NODES).expect("what was written can be read");
    assert_eq!(again, filter);
    let addresses: Vec<Ipv4Addr> = (1..=NODES as u8).map(|i| Ipv4Addr::new(10, 0, 0, i)).collect();
    let steps = filter.steps(&addresses);
    assert!(steps.iter().all(|s| (s.node as usize) < NODES));
    assert!(steps.windows(2).all(|w| w[0].at <= w[1].at), "in order of time");
});
