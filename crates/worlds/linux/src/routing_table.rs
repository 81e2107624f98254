//! Tables of the kernel's routes.

use netlink_packet_route::route::{RouteAttribute, RouteHeader, RouteMessage};

/// Tables of this program begin here; the number of the interface that they belong to is added.
const FIRST_OWN: u32 = 0x5944_0000;
const FIRST_OUTSIDE: u32 = 0x5945_0000;
const INTERFACE: u32 = 0xffff;

/// A table of the kernel's routes.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Table {
    /// That of all packets.
    Main,
    /// That of packets from one address, which belongs to the interface of this number.
    Own(u32),
    /// That of packets to what is outside of a mesh; the number of the mesh's TUN.
    Outside(u32),
}

impl Table {
    pub(crate) const fn number(self) -> u32 {
        match self {
            Self::Main => RouteHeader::RT_TABLE_MAIN as u32,
            Self::Own(ifindex) => FIRST_OWN | (ifindex & INTERFACE),
            Self::Outside(ifindex) => FIRST_OUTSIDE | (ifindex & INTERFACE),
        }
    }

    /// The table that a route is in; `None` for those of other programs.
    pub(crate) fn holding(m: &RouteMessage) -> Option<Self> {
        // A number of more than eight bits is in an attribute.
        let given = m.attributes.iter().find_map(|a| match a {
            RouteAttribute::Table(number) => Some(*number),
            _ => None,
        });
        let number = given.unwrap_or_else(|| m.header.table.into());
        let ifindex = number & INTERFACE;
        [Self::Main, Self::Own(ifindex), Self::Outside(ifindex)].into_iter().find(|t| t.number() == number)
    }

    /// Puts a route there.
    pub(crate) fn of(self, mut m: RouteMessage) -> RouteMessage {
        m.header.table = u8::try_from(self.number()).unwrap_or_default();
        m.attributes.push(RouteAttribute::Table(self.number()));
        m
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_is_found_in_the_table_where_it_was_put() {
        for table in [Table::Main, Table::Own(7), Table::Outside(7), Table::Outside(0xffff)] {
            assert_eq!(Table::holding(&table.of(RouteMessage::default())), Some(table));
        }
        let mut other = RouteMessage::default();
        other.header.table = 100;
        assert_eq!(Table::holding(&other), None);
        // The kernel names the main table in the header, too.
        other.header.table = RouteHeader::RT_TABLE_MAIN;
        assert_eq!(Table::holding(&other), Some(Table::Main));
    }
}
