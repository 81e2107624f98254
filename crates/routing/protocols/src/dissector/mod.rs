//! A dissector for Wireshark, generated from the formats.
//!
//! `formats` describes the packets, `field` writes the description in Lua, and `engine.lua` reads
//! packets by it.

mod field;
mod formats;

use std::fmt::Write as _;

use field::List;
use formats::{MessageLayout, Size};
use wayhop_core::Authentication;
use wayhop_wire::dsr::option_type;
use wayhop_wire::ipv4::protocol;
use wayhop_wire::{aodv, auth, dsdv, dsr};

/// What reads packets by the tables.
const ENGINE: &str = include_str!("engine.lua");

/// The options that Wireshark's own dissector of DSR reads.
const BUILTIN: &[u8] = &[
    option_type::PAD_N,
    option_type::ROUTE_REQUEST,
    option_type::ROUTE_REPLY,
    option_type::ROUTE_ERROR,
    option_type::ACK,
    option_type::SOURCE_ROUTE,
    option_type::TIMEOUT,
    option_type::FLOW_ID,
    option_type::ACK_REQUEST,
    option_type::PAD_1,
];

/// The text of a Lua plugin for Wireshark and tshark that shows every routing packet that this program can send.
pub fn dissector() -> String {
    let version = env!("CARGO_PKG_VERSION");
    let mut lua = format!(
        "-- Routing packets of Wayhop {version} for Wireshark and tshark: options of DSR that no standard has, DSDV, authentication.\n\
         -- Written by `wayhop export dissector`; do not edit. How to install it: docs/concepts/wireshark.md.\n\
         -- Or once: tshark -X lua_script:wayhop.lua -r CAPTURE\n\n\
         set_plugin_info({{ version = \"{version}\", author = \"The Wayhop developers\", description = \"Routing packets of Wayhop\" }})\n\n"
    );
    authentication(&mut lua);
    lua.push_str("local protocols = {}\n\n");
    dsr_options(&mut lua);
    datagrams(&mut lua, &dsdv::AUTHENTICATION, dsdv::PORT, "wayhop_dsdv", "DSDV", formats::DSDV_UPDATE, "");
    // Wireshark reads AODV: what is left are extensions other than RFC 3561's, the block among them.
    let extensions = aodv_extensions();
    datagrams(&mut lua, &aodv::AUTHENTICATION, aodv::PORT, "wayhop_aodv", "AODV", &[], &extensions);
    lua + ENGINE
}

/// Writing to a string does not fail.
macro_rules! put {
    ($lua:expr, $($text:tt)*) => { let _ = write!($lua, $($text)*); };
}

fn authentication(lua: &mut String) {
    let message = auth::LEN;
    put!(
        lua,
        "local authentication = {{\n  filter = \"wayhop_auth\", title = \"Authentication\", shortest = {message},\n"
    );
    let block = List(formats::BLOCK);
    put!(
        lua,
        "  messages = {{\n    {{ name = \"block\", title = \"Authentication\", fields = {block} }},\n  }},\n}}\n\n"
    );
}

fn dsr_options(lua: &mut String) {
    let (number, nothing) = (protocol::DSR, protocol::NO_NEXT_HEADER);
    put!(lua, "protocols[#protocols + 1] = {{\n  over = \"ip\", number = {number}, nothing = {nothing},\n");
    put!(lua, "  filter = \"wayhop_dsr\", title = \"DSR\",\n");
    carrier(lua, &dsr::AUTHENTICATION);
    put!(
        lua,
        "  padding_of_one = {}, padding = {},\n",
        option_type::PAD_1,
        set(&[option_type::PAD_1, option_type::PAD_N])
    );
    put!(lua, "  builtin = {},\n", set(BUILTIN));
    put!(lua, "  header = {},\n", List(formats::DSR_HEADER));
    let state = List(formats::FLOW_STATE);
    put!(
        lua,
        "  state = {{ name = \"flow_state\", title = \"DSR Flow State header\", fields = {state} }},\n"
    );
    messages(lua, formats::DSR_OPTIONS);
    lua.push_str("}\n\n");
}

fn datagrams(
    lua: &mut String,
    of: &Authentication,
    port: u16,
    filter: &str,
    title: &str,
    list: &[MessageLayout],
    more: &str,
) {
    put!(
        lua,
        "protocols[#protocols + 1] = {{\n  over = \"udp\", number = {port}, filter = \"{filter}\", title = \"{title}\",\n"
    );
    carrier(lua, of);
    lua.push_str(more);
    messages(lua, list);
    lua.push_str("}\n\n");
}

fn aodv_extensions() -> String {
    let mut lua = format!("  lengths = {},\n  extensions = {{\n", formats::AODV_LENGTHS);
    for (kind, fields) in formats::AODV_EXTENSIONS {
        let fields = List(fields);
        put!(lua, "    [{kind}] = {{ name = \"extensions\", title = \"Extension\", fields = {fields} }},\n");
    }
    lua + "  },\n"
}

/// How blocks are found in packets of the protocol.
fn carrier(lua: &mut String, carrier: &Authentication) {
    let mark: Vec<String> = carrier.mark.iter().map(ToString::to_string).collect();
    put!(lua, "  block = {}, mark = {{ {} }},\n", carrier.block_type, mark.join(", "));
}

fn messages(lua: &mut String, list: &[MessageLayout]) {
    lua.push_str("  messages = {\n");
    for m in list {
        let kind = m.kind.map_or_else(String::new, |kind| format!("kind = {kind}, "));
        let subtype = match m.subtype {
            Some((subtype, Size::Whole(n))) => format!("subtype = {subtype}, length = {n}, "),
            Some((subtype, Size::Entry(n))) => format!("subtype = {subtype}, entry = {n}, "),
            None => String::new(),
        };
        let (name, title, fields) = (m.name, m.title, List(m.fields));
        put!(lua, "    {{ {kind}{subtype}name = \"{name}\", title = \"{title}\", fields = {fields} }},\n");
    }
    lua.push_str("  },\n");
}

/// A set of numbers.
fn set(numbers: &[u8]) -> String {
    let entries: Vec<String> = numbers.iter().map(|n| format!("[{n}] = true")).collect();
    format!("{{ {} }}", entries.join(", "))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// An option that is added to the formats has to be shown, too.
    #[test]
    fn every_option_of_dsr_has_a_table() {
        let shown: BTreeSet<u8> = formats::DSR_OPTIONS.iter().filter_map(|m| m.kind).collect();
        let known = (0..=u8::MAX).filter(|kind| {
            // Octets that are right for some option of each type.
            let of_length = |n: u8| [&[*kind, n][..], &vec![0; usize::from(n)]].concat();
            let reads = |n| {
                let octets = of_length(n);
                let read = wayhop_wire::dsr::options(&octets).next();
                !matches!(read, Some(Ok(wayhop_wire::dsr::DsrOption::Unknown { .. })) | None)
            };
            (0..60).any(reads)
        });
        let padding = [option_type::PAD_1, option_type::PAD_N];
        let missing: Vec<u8> = known.filter(|k| !shown.contains(k) && !padding.contains(k)).collect();
        assert_eq!(missing, Vec::<u8>::new());
    }

    #[test]
    fn brackets_of_the_plugin_are_balanced() {
        let lua = dissector();
        for (open, close) in [('{', '}'), ('(', ')')] {
            assert_eq!(lua.matches(open).count(), lua.matches(close).count());
        }
    }
}
