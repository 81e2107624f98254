//! Figures 3 and 4 from a transfer made by hand: in-order data and acknowledged data are distinguished.

use wayhop_core::{NodeId, PacketId};
use wayhop_report::{Figure, Series};
use wayhop_trace::{FlowSummary, HopEvent, HopKind, Observer as _, Summary, TcpEvent};

use super::ftp::Ftp;
use super::{paper, tcp};
use crate::testing::{self, at};

const SOURCE: u32 = 0;
const DESTINATION: u32 = 2;
/// Octets of payload in a segment.
const LEN: u64 = 1_000;

fn remark(ms: u64, event: &'static str, octet: u64, bytes: u64, acked: u64) -> TcpEvent {
    TcpEvent { time: at(ms), octet, bytes: bytes as u32, acked, ..testing::tcp(event) }
}

fn hop(ms: u64, kind: HopKind, node: u32, packet: u64, payload: u64) -> HopEvent {
    let bytes = 40 + payload as u32;
    HopEvent { time: at(ms), packet: PacketId(packet), node: NodeId(node), bytes, ..testing::hop(kind) }
}

/// The source sends a segment as packet number `packet`.
fn send(f: &mut Ftp, ms: u64, event: &'static str, octet: u64, packet: u64) {
    f.tcp(&remark(ms, event, octet, LEN, 0));
    for kind in [HopKind::Originate, HopKind::Send] {
        f.hop(&hop(ms, kind, SOURCE, packet, LEN));
    }
}

fn deliver(f: &mut Ftp, ms: u64, packet: u64) {
    f.hop(&hop(ms, HopKind::Deliver, DESTINATION, packet, LEN));
}

fn figures(f: Ftp) -> Vec<Figure> {
    tcp::section(&[vec![], vec![f], vec![], vec![]], 7).figures
}

fn series<'a>(figure: &'a Figure, name: &str) -> &'a Series {
    figure.panels[0].plot.series.iter().find(|s| s.name == name).expect("a series of this name")
}

#[test]
fn figure_3_shows_what_arrived_in_order_and_not_what_was_acknowledged() {
    let mut f = Ftp::new(2);
    // The handshake: packets without data, for which TCP announces nothing.
    f.hop(&hop(10_000, HopKind::Originate, SOURCE, 100, 0));
    for n in 0..4 {
        send(&mut f, 10_000, "send", n * LEN, n);
        // A packet without data does not take the place of a segment.
        f.hop(&hop(10_000, HopKind::Originate, SOURCE, 200 + n, 0));
    }
    deliver(&mut f, 11_000, 0);
    // The second is lost; the third and the fourth wait for it.
    deliver(&mut f, 12_500, 2);
    deliver(&mut f, 13_500, 3);
    send(&mut f, 14_000, "resend", LEN, 4);
    deliver(&mut f, 15_000, 4);
    // A copy of what is there adds nothing; what the source learns of it comes later.
    send(&mut f, 15_500, "resend", 2 * LEN, 5);
    deliver(&mut f, 17_000, 5);
    f.tcp(&remark(18_000, "ack", 4 * LEN, 0, 4 * LEN));
    let figures = figures(f.closed(&Summary::default()));
    assert_eq!(figures[0].name, "Figure 3");
    assert_eq!(series(&figures[0], "2 hops").points, [[1.0, 0.001], [5.0, 0.004]]);
    assert!(figures[0].caption.ends_with("seed 7."), "{}", figures[0].caption);
    assert_eq!(figures[0].panels[0].plot.y.label, "received in order (MB)");
}

#[test]
fn the_last_octets_are_on_figure_3_however_soon_they_follow() {
    let mut f = Ftp::new(2);
    for n in 0..3 {
        send(&mut f, 10_000 + n, "send", n * LEN, n);
        deliver(&mut f, 10_100 + 300 * n, n);
    }
    let figures = figures(f.closed(&Summary::default()));
    let ms: Vec<[f64; 2]> =
        series(&figures[0], "2 hops").points.iter().map(|p| p.map(|v| (v * 1e3).round())).collect();
    assert_eq!(ms, [[100.0, 1.0], [700.0, 3.0]]);
}

#[test]
fn figure_4_shows_data_and_acknowledgements_between_2_and_2_025_mb_at_the_source() {
    let mut f = Ftp::new(2);
    for (packet, octet) in [1_999_999, 2_000_000, 2_010_000, 2_025_000, 2_025_001].into_iter().enumerate() {
        send(&mut f, 20_000 + 500 * packet as u64, "send", octet, packet as u64);
    }
    send(&mut f, 23_000, "resend", 2_010_000, 9);
    for acked in [1_999_999, 2_000_000, 2_010_000, 2_025_001] {
        f.tcp(&remark(24_000, "ack", acked, 0, acked));
    }
    f.tcp(&remark(24_500, "duplicate", 2_010_000, 0, 2_010_000));
    let figures = figures(f);
    let blowup = &figures[1];
    assert_eq!((blowup.name.as_str(), blowup.panels[0].title.as_str()), ("Figure 4", "2 hops"));
    assert_eq!(series(blowup, "data sent").points, [[10.5, 2.0], [11.0, 2.01], [11.5, 2.025]]);
    assert_eq!(series(blowup, "data sent again").points, [[13.0, 2.01]]);
    assert_eq!(series(blowup, "acknowledgement received").points, [[14.0, 2.0], [14.0, 2.01]]);
    assert_eq!(series(blowup, "duplicate acknowledgement received").points, [[14.5, 2.01]]);
    assert_eq!(blowup.panels[0].plot.y.range, Some([2.0, 2.025]));
}

#[test]
fn ftp_is_set_beside_the_papers_by_hops() {
    let none = tcp::section(&Default::default(), 1);
    assert_eq!(none.rows.iter().filter_map(|r| r.paper).collect::<Vec<_>>(), [210.0, 70.0, 47.0, 18.0]);
    assert_eq!(none.rows.len() + 1, paper::FTP.lines().count());
    assert!(none.rows.iter().all(|r| r.ours.is_none()) && none.figures.is_empty());
    let flows = vec![FlowSummary { goodput_bps: Some(8e5), ..FlowSummary::default() }];
    let ftp = Ftp::new(2).closed(&Summary { flows, ..Summary::default() });
    let rows = tcp::section(&[vec![], vec![ftp], vec![], vec![]], 1).rows;
    assert_eq!(rows.iter().map(|r| r.ours).collect::<Vec<_>>(), [None, Some(100.0), None, None]);
    assert_eq!(rows[1].row, "2 hops");
}
