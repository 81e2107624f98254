//! Stations on the air: medium access and reception, each against a formula or a rule of ns-2 or IEEE 802.11.
#![allow(clippy::disallowed_methods, reason = "oracles may compute as the textbook does")]

mod air;
mod card;
mod dcf;
mod deferred;
mod fates;
mod ofdm;
mod power;
mod reception;
mod slots;
