//! Route Maintenance over radios that acknowledge nothing: RFC 4728 sections 8.3.2 and 8.3.3, and sections 6.2 and 8.2 of
//! Maltz, Broch and Johnson 1999.

use crate::common::{
    ACK, ACK_REQUEST, Ip, RERR, SOURCE_ROUTE, UDP, addrs, at, full_mesh, line_of, net, option, option_of,
    options, packet, profile, reasons, source_route, teach, unreported, unreported_line,
};
use wayhop_core::{Decision, DropReason, Span};
use wayhop_dsr::{Maintenance, Params};
use wayhop_testkit::{EventKind, Link, Net, addr};

/// The frames with data that a node sent: (seconds, whether each asks for an acknowledgement).
fn data_frames(net: &Net, n: usize) -> Vec<(f64, bool)> {
    net.of(n)
        .filter_map(|r| match &r.what {
            EventKind::Sent { flow: Some(_), bytes, .. } => {
                Some((r.at.as_secs_f64(), option_of(bytes, ACK_REQUEST).is_some()))
            }
            _ => None,
        })
        .collect()
}

fn asked(net: &Net, n: usize) -> Vec<bool> {
    data_frames(net, n).iter().map(|f| f.1).collect()
}

/// How many packets with an option of this kind a node sent.
fn count(net: &Net, n: usize, kind: u8) -> usize {
    net.sent_by(n).filter(|(_, _, p)| option_of(p, kind).is_some()).count()
}

/// An Acknowledgement option (6.6).
fn ack(id: u16, from: usize, to: usize) -> Vec<u8> {
    option(ACK, &[id.to_be_bytes().to_vec(), addrs(&[from, to])].concat())
}

/// An Acknowledgement Request option (6.5).
fn ack_request(id: u16) -> Vec<u8> {
    option(ACK_REQUEST, &id.to_be_bytes())
}

#[test]
fn hearing_the_next_hop_pass_a_packet_on_is_acknowledgement_enough() {
    for name in ["rfc", "cmu"] {
        let mut net = unreported_line(3, &profile(name));
        net.send_at(at(1.0), 0, 2, 1);
        net.run_until(at(3.0));
        assert_eq!(net.delivered(1), [0]);
        assert_eq!(asked(&net, 0), [false], "{name}: sent once, without asking");
        assert_eq!(count(&net, 1, ACK), 0, "{name}: nobody answers what nobody asked");
        assert_eq!(net.notes("passive_ack").len(), 1);
        net.assert_conserved();
    }
}

#[test]
fn what_still_waits_in_the_interface_queue_is_not_confirmed_by_what_went_before() {
    // Section 4.5: a packet is in the Maintenance Buffer from its first transmission on.
    let mut net = unreported_line(3, &profile("rfc"));
    net.config.airtime = Span::from_millis(20);
    for _ in 0..4 {
        net.send_at(at(1.0), 0, 2, 1);
    }
    // The first gets to node 1, which passes it on at once; then node 1 hears nothing for half a second.
    net.set_link_at(at(1.03), 0, 1, Link::DOWN);
    net.set_link_at(at(1.5), 0, 1, Link::UP);
    net.run_until(at(5.0));
    let noted = |r: &&wayhop_testkit::Record| matches!(r.what, EventKind::Note(n) if n.what == "passive_ack");
    let heard = net.of(0).find(noted).unwrap().at;
    assert!(heard < at(1.06), "while the last of the four still waits: {heard:?}");
    assert!(net.delivered(1).contains(&3), "{:?}", net.delivered(1));
    net.assert_conserved();
}

#[test]
fn the_last_hop_asks_at_once_and_the_answer_has_the_octets_of_figure_6_6() {
    for name in ["rfc", "cmu"] {
        let mut net = unreported_line(2, &profile(name));
        net.send_at(at(1.0), 0, 1, 1);
        net.run_until(at(3.0));
        assert_eq!(asked(&net, 0), [true], "{name}");
        let (_, _, question) = net.sent_by(0).last().unwrap();
        let id = option_of(question, ACK_REQUEST).unwrap();
        assert_eq!(id.len(), 2);
        let id = u16::from_be_bytes([id[0], id[1]]);
        let answers: Vec<_> = net.sent_by(1).map(|(_, to, p)| (to, p.to_vec())).collect();
        assert_eq!(answers.len(), 1);
        assert_eq!(answers[0].0, addr(0));
        let ip_id = u16::from_be_bytes([answers[0].1[4], answers[0].1[5]]);
        let header = Ip { from: addr(1), to: addr(0), ttl: 255, id: ip_id };
        let mut expected = packet(&header, &[ack(id, 1, 0)], &[]);
        if name == "cmu" {
            // Control packets ask for low delay; one octet of the IP header and its checksum.
            expected[1] = 0x10;
            let sum = u16::from_be_bytes([expected[10], expected[11]]);
            expected[10..12].copy_from_slice(&(sum - 0x10).to_be_bytes());
        }
        assert_eq!(answers[0].1, expected, "{name}");
        net.assert_conserved();
    }
}

#[test]
fn a_lost_passive_acknowledgement_is_asked_for_explicitly() {
    // RFC: once more without asking (TryPassiveAcks), each time for 100 ms (PassiveAckTimeout).
    for (name, expected) in [("rfc", vec![false, false, true]), ("cmu", vec![false, true])] {
        let mut net = unreported_line(3, &profile(name));
        net.send_at(at(1.0), 0, 2, 1);
        net.set_link_at(at(1.0), 1, 0, Link::DOWN);
        net.set_link_at(at(1.02), 1, 0, Link::UP);
        net.run_until(at(3.0));
        assert_eq!(asked(&net, 0), expected, "{name}");
        if name == "rfc" {
            let when: Vec<_> = data_frames(&net, 0).iter().map(|f| (f.0 * 1e3).round() as u64).collect();
            assert_eq!(when, [1000, 1101, 1202], "1 ms on the air, then 100 ms");
        }
        let answers = net.sent_by(1).filter(|(_, to, p)| *to == addr(0) && option_of(p, ACK).is_some());
        assert_eq!(answers.count(), 1, "{name}");
        assert_eq!(net.delivered(1), [0], "{name}: delivered once");
        assert!(net.notes("link_broken").is_empty());
        net.assert_conserved();
    }
}

#[test]
fn after_three_transmissions_the_source_is_told_and_the_packet_salvaged() {
    let mut net = unreported(5, &Params { salvage: true, ..profile("cmu") });
    net.up(0, 1);
    net.up(1, 4);
    net.up(4, 3);
    net.run_until(at(0.9));
    teach(&mut net, 1, &[4, 3]);
    // Node 0 sends to node 3 by 1 and 2, which is away.
    net.inject(1, addr(0), false, &packet(&Ip::new(0, 3), &[source_route(0, 0, 2, &[1, 2])], &UDP));
    net.run_until(at(2.0));
    let sent: Vec<_> = net.sent_by(1).map(|(_, to, p)| (to, p.to_vec())).collect();
    let to: Vec<_> = sent.iter().map(|s| s.0).take(4).collect();
    assert_eq!(to, [addr(2), addr(2), addr(2), addr(0)]);
    let asks = |p: &[u8]| option_of(p, ACK_REQUEST).is_some();
    assert_eq!([asks(&sent[0].1), asks(&sent[1].1), asks(&sent[2].1)], [false, true, true]);
    assert_eq!(option_of(&sent[3].1, RERR).unwrap(), [vec![1, 0], addrs(&[1, 0, 2])].concat());
    let (_, salvaged) = sent.iter().find(|s| s.0 == addr(4)).unwrap();
    assert_eq!(option_of(salvaged, SOURCE_ROUTE).unwrap(), [vec![0, 0x41], addrs(&[1, 4])].concat());
    let decisions: Vec<_> = net.states(1).iter().map(|s| (s.decision, s.attempt)).take(3).collect();
    let again = Decision::Retransmitted;
    assert_eq!(decisions, [(Decision::Forwarded, 1), (again, 2), (again, 3)]);
    net.assert_conserved();
}

#[test]
fn the_rfc_asks_twice_more_after_the_silent_attempts() {
    let mut net = unreported_line(3, &profile("rfc"));
    net.down(0, 1);
    net.send_at(at(1.0), 0, 2, 1);
    net.run_until(at(3.0));
    assert_eq!(asked(&net, 0), [false, false, true, true]);
    assert_eq!(net.notes("link_broken").iter().map(|n| n.1.value).collect::<Vec<_>>(), [4]);
    net.assert_conserved();
}

#[test]
fn the_testbeds_sources_take_packets_back_and_its_forwarders_do_not_salvage() {
    let mut net = unreported_line(3, &profile("cmu"));
    net.down(0, 1);
    net.send_at(at(1.0), 0, 2, 1);
    net.run_until(at(1.5));
    assert_eq!(net.inspect(0).held.len(), 1, "it waits for another route");
    net.up(0, 1);
    net.run_until(at(5.0));
    assert_eq!(net.delivered(1), [0]);

    let mut net = unreported(4, &profile("cmu"));
    net.up(0, 1);
    net.up(1, 3);
    net.up(3, 2);
    // Node 1 has another route to node 2 when its link to it breaks.
    net.send_at(at(1.0), 1, 2, 1);
    net.run_until(at(2.0));
    let p = packet(&Ip::new(0, 2), &[source_route(0, 0, 1, &[1])], &UDP);
    net.inject(1, addr(0), false, &p);
    net.run_until(at(4.0));
    assert_eq!(reasons(&net), [DropReason::NoOtherRoute]);
}

#[test]
fn other_packets_that_wait_for_the_broken_link_fail_with_it() {
    let mut net = unreported_line(3, &profile("cmu"));
    net.down(0, 1);
    net.send_every(at(1.0), Span::from_millis(10), 4, 0, 2, 1);
    net.run_until(at(1.9));
    assert_eq!(net.notes("link_broken").len(), 1, "once for all four");
    assert!(!net.inspect(0).held.iter().any(|h| h.0 == "maintenance_buffer"));
    assert_eq!(net.inspect(0).held.len(), 4, "they wait for another route");
    net.assert_conserved();
}

#[test]
fn a_retransmission_whose_acknowledgement_was_lost_is_answered_and_not_passed_on_again() {
    let mut net = unreported_line(3, &Params { try_passive_acks: 0, ..profile("rfc") });
    net.send_at(at(1.0), 0, 2, 1);
    // Neither the passive nor the first explicit acknowledgement gets back.
    net.set_link_at(at(1.0), 1, 0, Link::DOWN);
    net.set_link_at(at(1.15), 1, 0, Link::UP);
    net.run_until(at(3.0));
    assert_eq!(asked(&net, 0), [false, true, true]);
    let answers = net.sent_by(1).filter(|(_, to, p)| *to == addr(0) && option_of(p, ACK).is_some()).count();
    assert_eq!(answers, 2, "each request is answered");
    assert_eq!(data_frames(&net, 1).len(), 1, "passed on once");
    assert_eq!(net.delivered(1), [0]);
    assert_eq!(net.drops().iter().filter(|d| d.1 == DropReason::Duplicate).count(), 2);
    net.assert_conserved();
}

#[test]
fn a_retransmission_to_the_destination_is_delivered_once() {
    for name in ["rfc", "cmu"] {
        let mut net = unreported_line(2, &profile(name));
        net.send_at(at(1.0), 0, 1, 1);
        net.set_link_at(at(1.0), 1, 0, Link::DOWN);
        net.set_link_at(at(1.05), 1, 0, Link::UP);
        net.run_until(at(3.0));
        assert_eq!(net.delivered(1), [0], "{name}");
        assert_eq!(asked(&net, 0), [true, true], "{name}");
        assert_eq!(count(&net, 1, ACK), 2, "{name}");
        assert!(net.notes("link_broken").is_empty());
        net.assert_conserved();
    }
}

#[test]
fn in_the_cmu_profile_a_copy_of_what_still_waits_here_is_dropped() {
    // Node 1 cannot reach node 2, so the packet waits in its buffer while node 0, which hears nothing, sends it again.
    let mut net = unreported_line(4, &profile("cmu"));
    net.down(1, 2);
    net.send_at(at(1.0), 0, 3, 1);
    net.set_link_at(at(1.0), 1, 0, Link::DOWN);
    net.set_link_at(at(1.02), 1, 0, Link::UP);
    net.run_until(at(1.12));
    assert_eq!(asked(&net, 0), [false, true]);
    assert_eq!(reasons(&net), [DropReason::Duplicate]);
    net.assert_conserved();
}

#[test]
fn after_a_confirmation_nothing_is_asked_for_250_ms() {
    let mut net = unreported_line(2, &profile("rfc"));
    for t in [1.0, 1.1, 1.24, 1.26, 1.6] {
        net.send_at(at(t), 0, 1, 1);
    }
    net.run_until(at(3.0));
    assert_eq!(asked(&net, 0), [true, false, false, true, true]);
    let mut cmu = unreported_line(2, &profile("cmu"));
    cmu.send_every(at(1.0), Span::from_millis(50), 4, 0, 1, 1);
    cmu.run_until(at(3.0));
    assert_eq!(asked(&cmu, 0), [true; 4], "the testbed had each packet acknowledged");
}

#[test]
fn over_a_one_way_link_the_acknowledgement_takes_another_way() {
    for name in ["rfc", "cmu"] {
        let mut net = unreported(3, &profile(name));
        // 0 reaches 1, and 1 reaches 0 by 2 only.
        net.set_link(0, 1, Link::UP);
        net.up(1, 2);
        net.up(2, 0);
        net.run_until(at(0.9));
        teach(&mut net, 0, &[1]);
        teach(&mut net, 1, &[2, 0]);
        net.send_at(at(1.0), 0, 1, 1);
        net.run_until(at(3.0));
        assert_eq!(net.delivered(1), [0]);
        assert!(net.notes("link_broken").is_empty(), "{name}");
        let by_two = net.sent_by(2).find(|(_, _, p)| option_of(p, ACK).is_some());
        let (_, to, p) = by_two.expect("an acknowledgement by node 2");
        assert_eq!(to, addr(0));
        assert_eq!(option_of(p, ACK).unwrap()[2..], addrs(&[1, 0]), "ACK Source and Destination");
        assert!(option_of(p, ACK_REQUEST).is_none(), "acknowledgements are not acknowledged");
        net.assert_conserved();
    }
}

#[test]
fn an_acknowledgement_request_is_answered_over_links_that_acknowledge_too() {
    for name in ["rfc", "ns2", "cmu"] {
        let mut net = line_of(3, &profile(name));
        let p = packet(&Ip::new(0, 2), &[ack_request(0x1234), source_route(0, 0, 1, &[1])], &UDP);
        net.inject(1, addr(0), false, &p);
        net.run_until(at(1.1));
        // The profile `ns2` learns no way back from the request, and looks for one.
        let answer = net.sent_by(1).find(|(_, to, _)| *to == addr(0)).and_then(|(_, _, p)| option_of(p, ACK));
        assert_eq!(answer, Some([vec![0x12, 0x34], addrs(&[1, 0])].concat()), "{name}");
        let passed_on = net.sent_by(1).find(|(_, to, _)| *to == addr(2)).expect("it goes on");
        assert_ne!(option_of(passed_on.2, ACK_REQUEST), Some(vec![0x12, 0x34]), "{name}: for one hop only");
        net.assert_conserved();
    }
}

#[test]
fn a_request_is_answered_by_its_next_hop_only() {
    let mut net = full_mesh(4, &profile("rfc"));
    // The source route means node 2, and the frame of the second packet comes from somebody else than node 0.
    let elsewhere = packet(&Ip::new(0, 3), &[ack_request(7), source_route(0, 0, 1, &[2])], &UDP);
    net.inject(1, addr(0), false, &elsewhere);
    let not_from_there = packet(&Ip::new(0, 3), &[ack_request(7), source_route(0, 0, 1, &[1])], &UDP);
    net.inject(1, addr(2), false, &not_from_there);
    net.run_until(at(1.5));
    assert_eq!(count(&net, 1, ACK), 0);
}

#[test]
fn a_request_beside_an_acknowledgement_is_answered_straight_by_the_one_acknowledged() {
    let mut net = unreported(3, &profile("rfc"));
    net.full();
    net.run_until(at(1.0));
    // Section 8.3.3: only node 1, for which the Acknowledgement is, answers.
    let both = |to: usize| packet(&Ip::new(0, to), &[ack(5, 0, to), ack_request(9)], &[]);
    net.inject(1, addr(0), false, &both(1));
    net.inject(2, addr(0), false, &both(1));
    net.run_until(at(1.5));
    let (_, to, p) = net.sent_by(1).next().expect("an answer");
    assert_eq!(to, addr(0));
    assert_eq!(options(p), [(ACK, [vec![0, 9], addrs(&[1, 0])].concat())], "and no request in it");
    assert_eq!(net.sent_by(1).count(), 1);
    assert_eq!(count(&net, 2, ACK), 0);
    net.assert_conserved();
}

#[test]
fn two_requests_in_one_header_contradict_section_6_5() {
    let mut net = unreported(2, &profile("rfc"));
    net.full();
    net.run_until(at(1.0));
    net.inject(1, addr(0), false, &packet(&Ip::new(0, 1), &[ack_request(1), ack_request(2)], &UDP));
    net.run_until(at(1.1));
    assert_eq!(reasons(&net), [DropReason::Malformed]);
}

#[test]
fn forged_acknowledgements_confirm_nothing() {
    let mut net = unreported_line(2, &profile("rfc"));
    net.down(0, 1);
    net.send_at(at(1.0), 0, 1, 1);
    net.run_until(at(1.01));
    let question = net.sent_by(0).last().and_then(|(_, _, p)| option_of(p, ACK_REQUEST)).unwrap();
    let id = u16::from_be_bytes([question[0], question[1]]);
    let forged = [ack(id.wrapping_add(1), 1, 0), ack(id, 3, 0), ack(id, 1, 3)];
    for o in forged {
        net.inject(0, addr(1), false, &packet(&Ip::new(1, 0), &[o], &[]));
    }
    net.run_until(at(3.0));
    assert_eq!(asked(&net, 0), [true; 3]);
    assert_eq!(net.notes("link_broken").len(), 1);
    let mut net = unreported_line(2, &profile("rfc"));
    net.send_at(at(1.0), 0, 1, 1);
    net.run_until(at(3.0));
    assert_eq!(asked(&net, 0), [true], "the true one does");
}

#[test]
fn the_maintenance_buffer_is_bounded_and_what_has_no_room_is_sent_without_it() {
    let mut net = unreported_line(2, &Params { rexmt_buffer_packets: 50, ..profile("cmu") });
    net.config.queue_limit = 1_000;
    net.down(0, 1);
    for _ in 0..500 {
        net.send_at(at(1.0), 0, 1, 1);
    }
    net.run_until(at(1.01));
    let held = |net: &Net| net.inspect(0).held.iter().filter(|h| h.0 == "maintenance_buffer").count();
    assert_eq!(held(&net), 50);
    net.run_until(at(30.0));
    assert_eq!(held(&net), 0);
    net.assert_conserved();
}

#[test]
fn links_that_acknowledge_are_left_alone() {
    for name in ["rfc", "ns2"] {
        let mut net = net(4, &profile(name));
        net.line();
        net.send_every(at(1.0), Span::from_millis(100), 20, 0, 3, 1);
        net.run_until(at(5.0));
        assert_eq!(net.delivered(1).len(), 20);
        let on_air = (0..4).map(|n| count(&net, n, ACK) + count(&net, n, ACK_REQUEST)).sum::<usize>();
        assert_eq!(on_air, 0, "{name}");
        assert!(net.states(0).iter().all(|s| s.timer == Span::ZERO));
    }
    let params = Params { maintenance: Maintenance::Link, ..profile("rfc") };
    let mut silent = unreported_line(2, &params);
    silent.down(0, 1);
    silent.send_at(at(1.0), 0, 1, 1);
    silent.run_until(at(3.0));
    assert!(silent.notes("link_broken").is_empty(), "`link` notices nothing where links report nothing");
}

#[test]
fn a_broken_chain_is_noticed_and_mended() {
    for name in ["rfc", "cmu"] {
        let mut net = unreported(5, &profile(name));
        net.line();
        net.up(1, 4);
        net.up(4, 3);
        net.send_every(at(1.0), Span::from_millis(300), 40, 0, 3, 1);
        net.down_at(at(4.05), 1, 2);
        net.down_at(at(4.05), 2, 3);
        net.run_until(at(20.0));
        let got = net.delivered(1);
        assert!(got.len() >= 38, "{name}: {got:?}");
        net.assert_conserved();
    }
}
