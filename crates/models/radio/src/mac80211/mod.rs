//! The IEEE 802.11 distributed coordination function (10.3), one station's state machine.
//!
//! * `access`: when a station may begin: DIFS, backoff, NAV.
//! * `exchange`: RTS, CTS, DATA, ACK: sending them and answering them.
//! * `rates`: at which rate a frame goes.
//! * `retry`: what happens when no answer comes.
//!
//! Where ns-2.35's `Mac802_11` departs from the standard, [`crate::RadioConfig`] has a switch named by the behaviour:
//! `immediate_access`, `backoff_includes_cw`, `eifs_replaces_difs`. Not modelled: power save, fragmentation, QoS.

mod access;
mod exchange;
mod rates;
mod retry;
