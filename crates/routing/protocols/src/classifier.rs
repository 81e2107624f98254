//! The registry's functions for packets.

use wayhop_core::{Class, Classifier, DecodedMessage, Description, Messages};
use wayhop_wire::ipv4;

use crate::packet::without_authentication;
use crate::{class, classify, decode, foreign, messages, route_header};

/// Knows the packets of all protocols of the registry.
pub const CLASSIFIER: &dyn Classifier = &Registry;

#[derive(Debug)]
struct Registry;

impl Classifier for Registry {
    fn class(&self, protocol: &str, name: &str) -> Option<Class> {
        class(protocol, name)
    }
    fn messages(&self, protocol: &str, types: &[&str]) -> Option<Messages> {
        messages(protocol, types)
    }
    fn learn(&self, protocol: &str, classes: &[String], types: &[(u8, String)]) -> Result<(), String> {
        foreign::learn(protocol, classes, types)
    }
    fn classify(&self, ip_packet: &[u8]) -> (Option<Class>, Messages) {
        classify(ip_packet)
    }
    fn decode(&self, ip_packet: &[u8]) -> Option<(&'static Description, Vec<DecodedMessage>)> {
        decode(ip_packet)
    }
    fn without_authentication(&self, ip_packet: &[u8]) -> Option<Vec<u8>> {
        without_authentication(ip_packet)
    }
    fn route_header<'a>(&self, ip_packet: &'a [u8]) -> Option<Option<&'a [u8]>> {
        route_header(&ipv4::Packet::new_snapped(ip_packet).ok()?)
    }
}
