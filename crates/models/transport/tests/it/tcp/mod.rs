//! TCP connections, scripted packet by packet, and at random.

mod lab;
mod mechanisms;
mod recovery;
mod streams;
mod wireshark;
