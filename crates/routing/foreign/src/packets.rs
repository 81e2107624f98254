//! The packets of one engine, by handle.

use wayhop_core::Packet;

/// Bits of a handle that number a place; the others count how often it was used.
const PLACE_BITS: u32 = 24;

/// The packets that an engine has. A handle is valid until its packet is taken out, and never again: the number of uses of its
/// place is a part of it.
#[derive(Default)]
pub(crate) struct Packets {
    places: Vec<Place>,
    free: Vec<u32>,
    /// Distinguishes the handles of engines.
    salt: u64,
}

#[derive(Default)]
struct Place {
    uses: u32,
    packet: Option<Packet>,
}

impl Packets {
    /// For the engine of this number.
    pub(crate) fn new(engine: u32) -> Self {
        Self { salt: u64::from(engine & 0xfff) << 52, ..Self::default() }
    }

    /// Takes a packet in.
    #[inline]
    pub(crate) fn add(&mut self, packet: Packet) -> u64 {
        let place = self.free.pop().unwrap_or_else(|| {
            self.places.push(Place::default());
            self.places.len() as u32 - 1
        });
        let of = &mut self.places[place as usize];
        of.uses = of.uses.wrapping_add(1) & 0x0fff_ffff;
        of.packet = Some(packet);
        self.handle(place, of_uses(self.places[place as usize].uses))
    }

    fn handle(&self, place: u32, uses: u64) -> u64 {
        // Place 0 is numbered 1, so that no handle is 0.
        self.salt | uses << PLACE_BITS | u64::from(place + 1)
    }

    /// The place of a valid handle.
    #[inline]
    pub(crate) fn place(&self, handle: u64) -> Option<usize> {
        let place = ((handle & ((1 << PLACE_BITS) - 1)) as usize).checked_sub(1)?;
        let of = self.places.get(place)?;
        (of.packet.is_some() && handle == self.handle(place as u32, of_uses(of.uses))).then_some(place)
    }

    /// The packet at the place of a valid handle, to look at or change.
    #[inline]
    pub(crate) fn at(&mut self, place: usize) -> &mut Packet {
        self.places[place].packet.as_mut().unwrap_or_else(|| unreachable!("the handle is valid"))
    }

    /// A packet, to look at.
    pub(crate) fn look(&self, handle: u64) -> Option<&Packet> {
        self.places[self.place(handle)?].packet.as_ref()
    }

    /// Takes a packet out.
    #[inline]
    pub(crate) fn take(&mut self, handle: u64) -> Option<Packet> {
        let place = self.place(handle)?;
        self.free.push(place as u32);
        self.places[place].packet.take()
    }

    /// Whether a handle was valid once.
    pub(crate) fn was_valid(&self, handle: u64) -> bool {
        let place = ((handle & ((1 << PLACE_BITS) - 1)) as usize).checked_sub(1);
        let uses = handle >> PLACE_BITS & 0x0fff_ffff;
        place.and_then(|p| self.places.get(p)).is_some_and(|p| (1..=of_uses(p.uses)).contains(&uses))
    }

    /// All packets with their handles.
    pub(crate) fn all(&self) -> impl Iterator<Item = (u64, &Packet)> {
        (0..)
            .zip(&self.places)
            .filter_map(|(place, of)| Some((self.handle(place, of_uses(of.uses)), of.packet.as_ref()?)))
    }
}

const fn of_uses(uses: u32) -> u64 {
    uses as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use wayhop_core::{PacketMeta, Pool};

    proptest! {
        /// Against a list of (handle, first octet): taken handles never work again, others always do.
        #[test]
        fn a_handle_is_valid_until_its_packet_is_taken(ops in proptest::collection::vec(any::<(bool, u8)>(), 1..200)) {
            let (mut pool, mut packets) = (Pool::new(), Packets::new(7));
            let (mut live, mut dead) = (Vec::new(), Vec::new());
            for (add, octet) in ops {
                if add || live.is_empty() {
                    live.push((packets.add(pool.packet(&[octet], PacketMeta::default())), octet));
                } else {
                    let (handle, octet) = live.swap_remove(usize::from(octet) % live.len());
                    prop_assert_eq!(packets.take(handle).map(|p| p.bytes()[0]), Some(octet));
                    dead.push(handle);
                }
                prop_assert_eq!(packets.all().count(), live.len());
                prop_assert!(live.iter().all(|(h, octet)| packets.look(*h).is_some_and(|p| p.bytes() == [*octet])));
                prop_assert!(dead.iter().all(|h| packets.look(*h).is_none() && packets.was_valid(*h)));
            }
        }

        #[test]
        fn invented_handles_are_nobodys(handle in any::<u64>()) {
            let mut packets = Packets::new(1);
            let own = packets.add(Pool::new().zeroed(1, PacketMeta::default()));
            prop_assert_eq!(packets.look(handle).is_some(), handle == own);
            prop_assert!(Packets::new(2).look(own).is_none());
        }
    }
}
