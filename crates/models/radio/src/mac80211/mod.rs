//! The IEEE 802.11 distributed coordination function (10.3), one station's state machine.
//!
//! * `access`: when a station may begin: DIFS, backoff, NAV.
//! * `exchange`: RTS, CTS, DATA, ACK: sending them and answering them.
//! * `rates`: the rate of a frame.
//! * `retry`: what happens without an answer.
//!
//! Where ns-2.35's `Mac802_11` departs from the standard, [`crate::RadioConfig`] has a switch named by the behaviour:
//! `immediate_access`, `backoff_includes_cw`, `eifs_replaces_difs`. Not modelled: power save, fragmentation, QoS.

mod access;
mod exchange;
mod rates;
mod retry;
