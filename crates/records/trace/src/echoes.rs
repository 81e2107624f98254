//! Programs' pings: which answer belongs to which request, by the identifier and sequence number that both carry.

use wayhop_core::Addr;

use crate::{ConversationEnds, Echo, Identity, Recent};

/// Requests that are remembered until their answers come.
const MOST_WAITING: usize = 1 << 16;

/// The two ends of a request and its identifier and sequence number.
type Key = (ConversationEnds, u16);

/// Echo requests whose answers may still come.
#[derive(Debug)]
pub struct Echoes(Recent<Key, Option<EchoRequest>>);

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct EchoRequest {
    flow: u32,
    at_ns: i128,
}

/// An answer that came back.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct EchoReply {
    /// The flow of the request.
    pub flow: u32,
    /// From sending the request to receiving the answer, nanoseconds; 0 if clocks that are nearly right show less.
    pub round_trip_ns: u64,
}

impl Default for Echoes {
    fn default() -> Self {
        Self(Recent::of(MOST_WAITING))
    }
}

impl Echoes {
    /// A program sent a packet of this flow; only echo requests count.
    pub fn sent(&mut self, ends: ConversationEnds, packet: &Identity, flow: u32, at_ns: i128) {
        if let Some(Echo::Request(sequence)) = packet.echo {
            // Sequence numbers wrap: the last request counts.
            self.0.put((ends, sequence), Some(EchoRequest { flow, at_ns }));
        }
    }

    /// A packet was delivered: which request it answers. A second answer to one is none.
    pub fn delivered(
        &mut self,
        (from, to): (Addr, Addr),
        packet: &Identity,
        at_ns: i128,
    ) -> Option<EchoReply> {
        let Some(Echo::Reply(sequence)) = packet.echo else { return None };
        let key = (ConversationEnds::new(to, from, packet), sequence);
        let asked = self.0.get(&key).flatten()?;
        self.0.put(key, None);
        let round_trip_ns = u64::try_from(at_ns - asked.at_ns).unwrap_or(0);
        Some(EchoReply { flow: asked.flow, round_trip_ns })
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    fn echo(echo: Echo) -> Identity {
        let ports = Some((7, 7));
        Identity { frame: 0, end_to_end: 0, protocol: 1, ports, payload: 56, echo: Some(echo) }
    }

    #[test]
    fn each_answer_finds_its_own_request_once_in_any_order() {
        let [a, b] = [1, 2].map(|n| Addr::from(Ipv4Addr::new(10, 0, 0, n)));
        let mut echoes = Echoes::default();
        for (sequence, at_ns) in [(1, 100), (2, 200), (3, 300)] {
            let request = echo(Echo::Request(sequence));
            echoes.sent(ConversationEnds::new(a, b, &request), &request, 4, at_ns);
        }
        let mut back = |from, to, sequence, at_ns| {
            echoes
                .delivered((from, to), &echo(Echo::Reply(sequence)), at_ns)
                .map(|x| (x.flow, x.round_trip_ns))
        };
        assert_eq!(back(b, a, 3, 350), Some((4, 50)));
        assert_eq!(back(b, a, 1, 360), Some((4, 260)));
        assert_eq!(back(b, a, 1, 370), None);
        assert_eq!(back(a, b, 2, 380), None);
        assert_eq!(back(b, a, 9, 390), None);
    }
}
