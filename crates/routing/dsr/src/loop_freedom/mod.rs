//! No source route visits a node twice and no packet travels for ever, by visiting every state that a few shipping engines can get into
//! (`docs/concepts/loop-freedom.md`).
//!
//! `checked.rs` adapts the engine to the explorer, `rules.rs` has the invariants, `faults.rs`
//! breaks the engine in known ways, `bounds.rs` bounds the search. The tests: `holds.rs` (the
//! shipping engine breaks no rule), `finds.rs` (each faulty one does).

mod bounds;
mod checked;
mod faults;
mod finds;
mod holds;
mod rules;
