//! What a Python interpreter answers, for a protocol and for an application: effects up to the first that is none, and no more.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wayhop_foreign::{application_wishes, wishes};

fuzz_target!(|answer: &[u8]| {
    check(answer, &wishes(answer).collect::<Vec<_>>());
    check(answer, &application_wishes(answer).collect::<Vec<_>>());
});

fn check<W>(answer: &[u8], all: &[Result<W, String>]) {
    let errors = all.iter().filter(|wish| wish.is_err()).count();
    assert!(errors == 0 || errors == 1 && all.last().is_some_and(Result::is_err));
    // Every effect takes octets: there cannot be more of them.
    assert!(all.len() <= answer.len());
}
