//! Seeds and axes of a command line: refused, or a plan that has a run for each.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wayhop_sweep::{Axis, Changes, Plan, Seeds};

fuzz_target!(|text: (&str, &str)| {
    let (Ok(seeds), Ok(axis)) = (Seeds::parse(text.0), Axis::parse(text.1)) else { return };
    let plan = Plan::from_text("scenario = \"s\"\n").expect("a plan");
    let values = axis.values.len();
    let changes = Changes { seeds: Some(seeds), axes: vec![axis], ..Changes::default() };
    let plan = plan.changed(&changes).expect("an axis that was read");
    if let Ok(runs) = plan.runs() {
        assert_eq!(runs.len() % values, 0);
    }
});
