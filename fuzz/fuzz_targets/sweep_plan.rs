//! Plans of many runs, and tables of chain throughputs: read or refused, and what is read is a list of runs.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wayhop_sweep::Plan;
use wayhop_topology::ChainThroughput;

fuzz_target!(|text: &str| {
    if let Ok(chains) = ChainThroughput::parse(text) {
        assert_eq!(ChainThroughput::parse(&chains.to_csv()), Ok(chains));
    }
    let Ok(plan) = Plan::from_text(text) else { return };
    // Files of the machine that fuzzes are none of its business, and a long list takes its time rightly.
    if plan.sweep.axes.iter().any(|a| !a.files.is_empty()) {
        return;
    }
    if let Ok(runs) = plan.runs() {
        assert!(!runs.is_empty());
        assert!(runs.iter().all(|r| r.labels.len() == plan.sweep.axes.len()));
    }
});
