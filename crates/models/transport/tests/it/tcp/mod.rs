//! TCP connections, scripted packet by packet, and at random.

mod host;
mod lab;
mod mechanisms;
mod recovery;
mod streams;
mod wireshark;
