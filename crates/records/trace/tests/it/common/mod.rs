//! Runs and packets for the tests of this crate.

use std::fs::File;
use std::net::Ipv4Addr;
use std::path::Path;

use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::Row;
use wayhop_core::{FlowTag, IfaceId, NodeId, PacketId, Time};
use wayhop_trace::{Direction, FrameEvent, HopEvent, HopKind, Manifest, Messages, NodeInfo, PacketClass};

/// Nodes `n0`, `n1`, ... with their default addresses.
pub(crate) fn nodes(n: u32) -> Vec<NodeInfo> {
    (0..n).map(|i| NodeInfo::with_radio(format!("n{i}"), NodeId(i).default_addr())).collect()
}

pub(crate) fn manifest() -> Manifest {
    Manifest::new("[nodes]\ncount = 3\n", 7, vec!["wayhop".into(), "run".into()], 1_795_292_745)
}

/// The `i`th event of a made-up run.
pub(crate) fn hop(i: u64) -> HopEvent {
    HopEvent {
        iface: if i.is_multiple_of(2) { IfaceId(0) } else { IfaceId::ANY },
        time: Time::from_nanos(i * 1_000),
        packet: PacketId(i / 4),
        flow: (!i.is_multiple_of(5)).then_some(FlowTag { flow: (i % 3) as u32, seq: (i / 12) as u32 }),
        node: NodeId((i % 3) as u32),
        bytes: 92,
        source: Ipv4Addr::new(10, 0, 0, 1).into(),
        destination: Ipv4Addr::new(10, 0, 0, 3).into(),
        peer: if i.is_multiple_of(2) {
            Ipv4Addr::new(10, 0, 0, 2).into()
        } else {
            Ipv4Addr::UNSPECIFIED.into()
        },
        signal_dbm: if i.is_multiple_of(2) { -61.5 } else { f32::NAN },
        kind: HopKind::ALL[(i % 8) as usize],
        class: PacketClass::Cbr,
        messages: Messages::NONE,
        ttl: 63,
        reason: None,
    }
}

/// All rows of a table.
pub(crate) fn rows(dir: &Path, table: &str) -> Vec<Row> {
    let file = File::open(dir.join(format!("{table}.parquet"))).expect("the table is there");
    let reader = SerializedFileReader::new(file).expect("a Parquet file");
    let rows = reader.get_row_iter(None).expect("rows");
    rows.collect::<Result<_, _>>().expect("every row is readable")
}

/// A frame that was sent, in the capture of node 0.
pub(crate) fn sent(time_ns: u64, bytes: &[u8]) -> FrameEvent<'_> {
    FrameEvent {
        iface: IfaceId(0),
        time: Time::from_nanos(time_ns),
        node: NodeId(0),
        direction: Direction::Tx,
        bytes,
        original_len: bytes.len() as u32,
        signal_dbm: f32::NAN,
        noise_dbm: f32::NAN,
        rate_100kbps: 20,
        channel_mhz: 2412,
        retries: 2,
        bad_fcs: false,
        comment: "",
    }
}
