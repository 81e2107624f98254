//! The formats of `wayhop_wire`, as tables. Numbers come from there; that the layouts agree is what the test
//! `a_dissector_shows_what_decode_says` of the command shows, over all captures.

use wayhop_wire::dsr::{LinkMetrics, Location, Probe, error_type, option_type};

use super::field::Bits;
use super::field::Field::{
    self, Address, Cases, Counted, Each, Named, Number, Octets, OptionalAddress, Rest, Scaled, Skip,
};

/// A message: which option it is, and what is in it.
pub(super) struct MessageLayout {
    /// The type of the option; `None` for the one that stands for all others.
    pub(super) kind: Option<u8>,
    /// Of an option that several share: the first octet of its data, and the octets of its data or of each entry.
    pub(super) subtype: Option<(u8, Size)>,
    /// What `wayhop decode` calls it.
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) fields: &'static [Field],
}

pub(super) enum Size {
    /// All of the data.
    Whole(usize),
    /// Of each entry, behind subtype and a reserved octet.
    Entry(usize),
}

const fn option(
    kind: u8,
    name: &'static str,
    title: &'static str,
    fields: &'static [Field],
) -> MessageLayout {
    MessageLayout { kind: Some(kind), subtype: None, name, title, fields }
}

const fn experiment(
    subtype: (u8, Size),
    name: &'static str,
    title: &'static str,
    fields: &'static [Field],
) -> MessageLayout {
    MessageLayout { kind: Some(option_type::EXPERIMENT), subtype: Some(subtype), name, title, fields }
}

const ADDRESSES: Field = Each(0, &[Address("addresses", "Address")]);

/// The fixed part of a DSR Options header (RFC 4728, section 6.1).
pub(super) const DSR_HEADER: &[Field] =
    &[Number("next_header", "Next Header", 1), Skip(1), Number("payload_len", "Payload Length", 2)];

/// The Flow State header (section 7.1).
pub(super) const FLOW_STATE: &[Field] = &[
    Number("next_header", "Next Header", 1),
    Field::Bits(1, &[Bits { key: "hop_count", title: "Hop Count", mask: 0x7f }]),
    Number("flow_id", "Flow Identifier", 2),
];

/// The options (sections 6.2 to 6.7 and 7.2), and those that no standard has.
pub(super) const DSR_OPTIONS: &[MessageLayout] = &[
    option(
        option_type::ROUTE_REQUEST,
        "rreq",
        "Route Request",
        &[Number("id", "Identification", 2), Address("target", "Target Address"), ADDRESSES],
    ),
    option(
        option_type::ROUTE_REPLY,
        "rrep",
        "Route Reply",
        &[
            Field::Bits(1, &[Bits { key: "last_hop_external", title: "Last Hop External", mask: 0x80 }]),
            ADDRESSES,
        ],
    ),
    option(
        option_type::ROUTE_ERROR,
        "rerr",
        "Route Error",
        &[
            Named("error_type", "Error Type", ERRORS),
            Field::Bits(1, &[Bits { key: "salvage", title: "Salvage", mask: 0x0f }]),
            Address("error_source", "Error Source Address"),
            Address("error_destination", "Error Destination Address"),
            Cases("error_type", ERROR_PARTS, &[Rest("info", "Type-Specific Information", 0)]),
        ],
    ),
    option(
        option_type::ACK_REQUEST,
        "ack_request",
        "Acknowledgement Request",
        &[Number("id", "Identification", 2), OptionalAddress("ack_source", "Source Address")],
    ),
    option(
        option_type::ACK,
        "ack",
        "Acknowledgement",
        &[
            Number("id", "Identification", 2),
            Address("ack_source", "Source Address"),
            Address("ack_destination", "Destination Address"),
        ],
    ),
    option(
        option_type::SOURCE_ROUTE,
        "source_route",
        "DSR Source Route",
        &[
            Field::Bits(
                2,
                &[
                    Bits { key: "first_hop_external", title: "First Hop External", mask: 0x8000 },
                    Bits { key: "last_hop_external", title: "Last Hop External", mask: 0x4000 },
                    Bits { key: "salvage", title: "Salvage", mask: 0x03c0 },
                    Bits { key: "segments_left", title: "Segments Left", mask: 0x003f },
                ],
            ),
            ADDRESSES,
        ],
    ),
    option(option_type::TIMEOUT, "timeout", "Timeout", &[Number("seconds", "Seconds", 2)]),
    option(
        option_type::FLOW_ID,
        "flow_id",
        "Destination and Flow ID",
        &[
            Number("flow_id", "New Flow Identifier", 2),
            Address("flow_destination", "New Destination Address"),
        ],
    ),
    experiment(
        (Location::SUBTYPE, Size::Whole(Location::OPTION_LEN - 2)),
        "location",
        "Location",
        &[
            Skip(2),
            Scaled("latitude_deg", "Latitude, degrees north", 8, true, "1e-9"),
            Scaled("longitude_deg", "Longitude, degrees east", 8, true, "1e-9"),
            Scaled("heading_deg", "Heading, degrees", 4, false, "1e-6"),
            Scaled("speed_m_per_s", "Speed, m/s", 4, false, "1e-3"),
            Skip(16),
        ],
    ),
    experiment(
        (Probe::SUBTYPE, Size::Entry(Probe::ENTRY_LEN)),
        "probe",
        "Probe",
        &[Skip(2), Each(0, &[Address("neighbour", "Neighbour"), Number("heard", "Probes heard of it", 1)])],
    ),
    experiment(
        (LinkMetrics::SUBTYPE, Size::Entry(LinkMetrics::COST_LEN)),
        "link_metrics",
        "Link Metrics",
        &[Skip(2), Each(0, &[Scaled("etx", "Expected transmissions", 4, false, "1 / 1024")])],
    ),
    MessageLayout {
        kind: None,
        subtype: None,
        name: "unknown",
        title: "Unknown option",
        fields: &[Number("option_type", "Option Type", 1), Skip(1), Rest("data", "Data", 0)],
    },
];

const ERRORS: &[(u8, &str)] = &[
    (error_type::NODE_UNREACHABLE, "NODE_UNREACHABLE"),
    (error_type::FLOW_STATE_NOT_SUPPORTED, "FLOW_STATE_NOT_SUPPORTED"),
    (error_type::OPTION_NOT_SUPPORTED, "OPTION_NOT_SUPPORTED"),
    (error_type::UNKNOWN_FLOW, "UNKNOWN_FLOW"),
    (error_type::DEFAULT_FLOW_UNKNOWN, "DEFAULT_FLOW_UNKNOWN"),
];

/// What follows the fixed part of a Route Error (sections 6.4 and 7.3).
const ERROR_PARTS: &[(u8, &[Field])] = &[
    (error_type::NODE_UNREACHABLE, &[Address("unreachable", "Unreachable Node Address")]),
    (error_type::FLOW_STATE_NOT_SUPPORTED, &[]),
    (error_type::OPTION_NOT_SUPPORTED, &[Number("option_type", "Unsupported Option", 1)]),
    (
        error_type::UNKNOWN_FLOW,
        &[Address("flow_destination", "Original IP Destination Address"), Number("flow_id", "Flow ID", 2)],
    ),
    (error_type::DEFAULT_FLOW_UNKNOWN, &[Address("flow_destination", "Original IP Destination Address")]),
];

/// An update of DSDV.
pub(super) const DSDV_UPDATE: &[MessageLayout] = &[MessageLayout {
    kind: None,
    subtype: None,
    name: "update",
    title: "Routing update",
    fields: &[Each(
        0,
        &[
            Address("destination", "Destination"),
            Number("hop_count", "Hop Count", 4),
            Number("seq", "Sequence Number", 4),
        ],
    )],
}];

/// The block of `docs/concepts/authentication.md`, behind type and length.
pub(super) const BLOCK: &[Field] = &[
    Number("key_id", "Key ID", 1),
    Named("kind", "Kind", &[(0, "message"), (1, "exchange")]),
    Address("transmitter", "Transmitter"),
    Octets("index", "Index of the transmitter's boot", 8),
    Number("counter", "Counter", 4),
    Cases("kind", &[(0, &[]), (1, EXCHANGE)], &[Rest("exchange", "Of an unknown kind", TAG)]),
    Octets("tag", "Tag", TAG as u8),
];

const TAG: usize = wayhop_wire::auth::TAG_LEN;

const EXCHANGE: &[Field] = &[
    Octets("nonce", "Nonce", 8),
    Number("count", "Challenged neighbours", 1),
    Counted("count", &[Address("challenges", "Challenged neighbour")]),
    Each(TAG, &[Address("to", "Answer to"), Octets("answer", "Its nonce", 8)]),
];

/// How long AODV's messages are without extensions (RFC 3561, sections 5.1, 5.2 and 5.4), by their type; a Route Error (5.3)
/// has 8 octets for each destination, whose number is its fourth octet.
pub(super) const AODV_LENGTHS: &str =
    "{ [1] = 24, [2] = 20, [3] = { head = 4, count = 3, entry = 8 }, [4] = 2 }";

/// Extensions of AODV (section 9), by their type; 0 stands for all others.
pub(super) const AODV_EXTENSIONS: &[(u8, &[Field])] = &[
    (1, &[Number("type", "Type", 1), Skip(1), Number("hello_interval_ms", "Hello Interval, ms", 4)]),
    (0, &[Number("type", "Type", 1), Skip(1), Rest("data", "Data", 0)]),
];
