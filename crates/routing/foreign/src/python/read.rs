//! The effects of a handler, as an interpreter writes them.

use core::net::Ipv4Addr;

use super::cursor::{Cursor, each};

/// What a handler wants, unchecked. Packets are handles, with their new bytes if they changed; handle 0 is a new packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wish<'a> {
    /// Put the packet into the interface queue.
    Send {
        /// The neighbour, or the broadcast address.
        next_hop: Ipv4Addr,
        /// The interface.
        iface: u8,
        /// Its place in the queue.
        priority: u8,
        /// The wait before, nanoseconds.
        delay_ns: u64,
        /// The number under which its end is reported.
        report: Option<u64>,
        /// The packet.
        packet: Given<'a>,
    },
    /// Hand it to the local stack.
    Deliver(Given<'a>),
    /// End it, with the number of a reason.
    Drop(u8, Given<'a>),
    /// End it.
    Consume(Given<'a>),
    /// Set a timer: key, time in nanoseconds.
    SetTimer(u64, u64),
    /// Forget a timer.
    ClearTimer(u64),
    /// Listen: to UDP (0) or an IP protocol (1), with this number.
    Open(u8, u16),
    /// Add a route.
    Install {
        /// Where to.
        destination: Ipv4Addr,
        /// Length of the prefix.
        prefix_len: u8,
        /// By which neighbour.
        next_hop: Ipv4Addr,
        /// By which interface.
        iface: u8,
        /// Its cost.
        metric: u32,
    },
    /// Remove the route to a prefix.
    Uninstall(Ipv4Addr, u8),
    /// Take back what waits for a neighbour.
    Recall(Ipv4Addr),
    /// A remark: its name, whom it is about, a number.
    Note(&'a str, Ipv4Addr, u64),
    /// Copy a packet: its handle, and that of the copy.
    Copy(u64, u64),
}

/// A packet of an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Given<'a> {
    /// Its handle; 0 for a new one.
    pub handle: u64,
    /// Its bytes, unless they are those that Wayhop has.
    pub octets: Option<&'a [u8]>,
}

/// Stands for the length of a packet that did not change.
const UNCHANGED: u32 = u32::MAX;

/// The effects in an answer, in order. After an error, which describes it, there are none.
pub fn wishes(answer: &[u8]) -> impl Iterator<Item = Result<Wish<'_>, String>> {
    each(answer, wish)
}

fn packet<'a>(c: &mut Cursor<'a>) -> Option<Given<'a>> {
    let (handle, length) = (c.u64()?, c.u32()?);
    let octets = if length == UNCHANGED { None } else { Some(c.bytes(length as usize)?) };
    Some(Given { handle, octets })
}

fn wish<'a>(c: &mut Cursor<'a>, kind: u8) -> Option<Wish<'a>> {
    Some(match kind {
        1 => send(c)?,
        2 => Wish::Deliver(packet(c)?),
        3 => Wish::Drop(c.u8()?, packet(c)?),
        4 => Wish::Consume(packet(c)?),
        5 => Wish::SetTimer(c.u64()?, c.u64()?),
        6 => Wish::ClearTimer(c.u64()?),
        7 => Wish::Open(c.u8()?, c.u16()?),
        8 => Wish::Install {
            destination: c.ipv4()?,
            prefix_len: c.u8()?,
            next_hop: c.ipv4()?,
            iface: c.u8()?,
            metric: c.u32()?,
        },
        9 => Wish::Uninstall(c.ipv4()?, c.u8()?),
        10 => Wish::Recall(c.ipv4()?),
        11 => {
            let length = c.u16()?;
            let (about, value) = (c.ipv4()?, c.u64()?);
            Wish::Note(c.text(length.into())?, about, value)
        }
        12 => Wish::Copy(c.u64()?, c.u64()?),
        _ => return None,
    })
}

fn send<'a>(c: &mut Cursor<'a>) -> Option<Wish<'a>> {
    let (next_hop, iface, priority) = (c.ipv4()?, c.u8()?, c.u8()?);
    let delay_ns = c.u64()?;
    let (has_report, report) = (c.u8()? != 0, c.u64()?);
    let report = has_report.then_some(report);
    Some(Wish::Send { next_hop, iface, priority, delay_ns, report, packet: packet(c)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn given() -> impl Strategy<Value = (u64, Option<Vec<u8>>)> {
        (any::<u64>(), proptest::option::of(proptest::collection::vec(any::<u8>(), 0..40)))
    }

    fn write_packet(out: &mut Vec<u8>, (handle, octets): &(u64, Option<Vec<u8>>)) {
        out.extend(handle.to_le_bytes());
        out.extend(octets.as_ref().map_or(UNCHANGED, |o| o.len() as u32).to_le_bytes());
        out.extend(octets.iter().flatten());
    }

    proptest! {
        /// Whatever comes: no panic, and an error is the last thing.
        #[test]
        fn any_bytes_are_read(bytes in proptest::collection::vec(0_u8..14, 0..200)) {
            let all: Vec<_> = wishes(&bytes).collect();
            let errors = all.iter().filter(|w| w.is_err()).count();
            prop_assert!(errors == 0 || errors == 1 && all.last().is_some_and(Result::is_err));
        }

        #[test]
        fn what_was_written_is_read(packets in proptest::collection::vec(given(), 0..6), cut in any::<prop::sample::Index>()) {
            let mut bytes = Vec::new();
            for p in &packets {
                bytes.extend([3, 12]);
                write_packet(&mut bytes, p);
            }
            let read: Vec<_> = wishes(&bytes).collect::<Result<_, _>>().unwrap();
            let written: Vec<_> = packets
                .iter()
                .map(|(handle, octets)| Wish::Drop(12, Given { handle: *handle, octets: octets.as_deref() }))
                .collect();
            prop_assert_eq!(&read, &written);
            // Cut short, it gives the effects before the cut, and an error unless the cut is between two.
            let short = &bytes[..cut.index(bytes.len() + 1)];
            for (i, wish) in wishes(short).enumerate() {
                prop_assert!(!wish.is_ok_and(|w| w != written[i]));
            }
        }
    }
}
