//! The foreign agent, by sections of RFC 5944 and RFC 3024.

use std::net::{Ipv4Addr, SocketAddrV4};

use wayhop_mobile_ip::{ALL_SYSTEMS, ForeignAgent, Replay};
use wayhop_wire::mobile_ip::{AgentFlags, AuthKind, Code, Discovery, Message, Reply, Request, RequestFlags};
use wayhop_wire::{ip_in_ip, ipv4};

use crate::common::*;

fn accepted(request: &Request) -> Reply {
    answer(request, Code::ACCEPTED)
}

/// The mobile node visits by the mesh.
fn visited(fa: &mut Subject<ForeignAgent>, t: Clock) {
    let r = visit(t, 60);
    say(fa, t, FA_MESH_LINK, MESH, &signed_visit(&r));
    say(fa, t, FA_UPLINK, HA, &reply_signed(&accepted(&r)));
    assert_eq!(fa.visitors().collect::<Vec<_>>(), [(HOME, MESH)]);
}

#[test]
fn a_request_is_relayed_without_its_extensions_and_the_reply_returned_section_3_7() {
    let mut fa = foreign_agent(4);
    let (t, r) = (clock(1.0), visit(clock(1.0), 60));
    let input = signed_visit(&r);
    let out = say_from(&mut fa, t, FA_MESH_LINK, SocketAddrV4::new(MESH, 5_000), &input);
    // What the home agent's authenticator covers, and no more (section 3.7.2.2).
    assert_eq!(datagrams(&out), [(HA, signed(&r))]);
    let (link, packet) = sent(&out)[0];
    assert_eq!((link, ipv4::Packet::new_checked(packet).unwrap().src()), (None, FA));
    assert_eq!((fa.pending(), fa.visitors().count()), (1, 0), "it waits");
    let answer = reply_signed(&accepted(&r));
    let out = say(&mut fa, clock(1.2), FA_UPLINK, HA, &answer);
    assert_eq!(datagrams(&out), [(MESH, answer.clone())]);
    let (link, ip) = first_packet(&out);
    assert_eq!((link, ip.src(), &ip.payload()[2..4]), (Some(0), FA_MESH, &5_000_u16.to_be_bytes()[..]));
    assert_eq!(noted(&out, "mip_visits", HOME), Some(60));
    assert_eq!((fa.pending(), fa.visitors().collect::<Vec<_>>()), (0, vec![(HOME, MESH)]));
    // The same reply again answers nothing.
    assert_eq!(datagrams(&say(&mut fa, clock(1.3), FA_UPLINK, HA, &answer)), []);
}

#[test]
fn a_visit_ends_by_a_request_for_no_lifetime_or_with_its_lifetime_section_3_7_3() {
    let mut fa = foreign_agent(4);
    visited(&mut fa, clock(1.0));
    let r = visit(clock(2.0), 0);
    say(&mut fa, clock(2.0), FA_MESH_LINK, MESH, &signed_visit(&r));
    say(&mut fa, clock(2.0), FA_UPLINK, HA, &reply_signed(&accepted(&r)));
    assert_eq!(fa.visitors().count(), 0);
    visited(&mut fa, clock(3.0));
    wake(&mut fa, clock(62.9));
    assert_eq!(fa.visitors().count(), 1);
    let out = wake(&mut fa, clock(63.0));
    assert_eq!(noted(&out, "mip_expired", HOME), Some(0));
    assert_eq!(fa.visitors().count(), 0);
}

#[test]
fn what_the_agent_cannot_do_is_refused_with_its_code_section_3_7_2_1() {
    let mut fa = foreign_agent(4);
    let base = visit(clock(0.0), 60);
    let with = |flag| Request { flags: base.flags | flag, ..base };
    let cases = [
        (Request { care_of: CELL, ..base }, 77),
        (with(RequestFlags::GRE), 72),
        (with(RequestFlags::MINIMAL_ENCAPSULATION), 72),
        (Request { flags: RequestFlags::default(), ..base }, 75),
        (Request { lifetime_s: 301, ..base }, 69),
        (Request { home: FA_MESH, ..base }, 70),
        (Request { home_agent: FA, ..base }, 70),
        (Request { home_agent: Ipv4Addr::BROADCAST, ..base }, 70),
        (Request { home: Ipv4Addr::new(224, 0, 0, 5), ..base }, 70),
    ];
    for (i, (r, expected)) in (1..).zip(cases) {
        let t = clock(f64::from(i));
        let out = say(&mut fa, t, FA_MESH_LINK, MESH, &signed_visit(&Request { identification: t.ntp, ..r }));
        assert_eq!(code(&out), expected, "{r:?}");
        assert_eq!(datagrams(&out)[0].0, MESH);
        if expected == 69 {
            assert_eq!(replies(&out)[0].lifetime_s, 300, "the longest that would do");
        }
    }
    // Without the delivery style (RFC 3024, section 4.2), and without any authenticator.
    assert_eq!(code(&say(&mut fa, clock(20.0), FA_MESH_LINK, MESH, &signed(&base))), 79);
    let mut bare = signed_visit(&base)[..24].to_vec();
    encapsulating(&mut bare);
    assert_eq!(code(&say(&mut fa, clock(21.0), FA_MESH_LINK, MESH, &bare)), 70);
    // A link that is not for visitors.
    assert_eq!(say(&mut fa, clock(22.0), FA_UPLINK, MESH, &signed_visit(&base)), []);
    assert_eq!(fa.pending(), 0);
}

#[test]
fn a_home_agent_that_does_not_answer_is_78_section_3_7_2_3() {
    let mut fa = foreign_agent(4);
    say(&mut fa, clock(1.0), FA_MESH_LINK, MESH, &signed_visit(&visit(clock(1.0), 60)));
    wake(&mut fa, clock(7.9));
    assert_eq!(fa.pending(), 1);
    let out = wake(&mut fa, clock(8.0));
    assert_eq!((code(&out), fa.pending()), (78, 0));
}

#[test]
fn forged_and_poor_replies_make_no_visitor_section_3_7_3_1() {
    let mut fa = foreign_agent(4);
    let r = visit(clock(1.0), 60);
    say(&mut fa, clock(1.0), FA_MESH_LINK, MESH, &signed_visit(&r));
    let good = accepted(&r);
    let wrong = [
        (STRANGER, good),
        (HA, Reply { identification: good.identification ^ 1, ..good }),
        (HA, Reply { home: PEER, ..good }),
    ];
    for (from, reply) in wrong {
        let out = say(&mut fa, clock(1.1), FA_UPLINK, from, &reply_signed(&reply));
        assert!(is_disbelief(&out), "{out:?}");
        assert_eq!((datagrams(&out).len(), fa.pending(), fa.visitors().count()), (0, 1, 0));
    }
    // One without the home agent's authenticator is told as what it is.
    let out = say(&mut fa, clock(1.2), FA_UPLINK, HA, &reply_signed(&good)[..20]);
    assert_eq!((code(&out), fa.visitors().count()), (71, 0));
}

#[test]
fn keys_with_mobile_nodes_and_home_agents_must_be_used_sections_3_7_2_1_and_3_7_3_1() {
    let (of_mobile, of_home) = (key(700, Replay::Timestamps), key(701, Replay::Timestamps));
    let mut fa = foreign_agent_with(4, vec![(HOME, of_mobile.clone())], vec![(HA, of_home.clone())]);
    let r = visit(clock(1.0), 60);
    let mut message = signed_visit(&r);
    assert_eq!(code(&say(&mut fa, clock(1.0), FA_MESH_LINK, MESH, &message)), 67);
    sign(&mut message, AuthKind::MobileForeign, &of_home);
    assert_eq!(code(&say(&mut fa, clock(2.0), FA_MESH_LINK, MESH, &message)), 67, "another's key");
    let mut message = signed_visit(&r);
    sign(&mut message, AuthKind::MobileForeign, &of_mobile);
    let out = say(&mut fa, clock(3.0), FA_MESH_LINK, MESH, &message);
    let mut expected = signed(&r);
    sign(&mut expected, AuthKind::ForeignHome, &of_home);
    assert_eq!(datagrams(&out), [(HA, expected)]);
    // The reply of somebody who has not the home agent's key is passed over; the true one may come yet.
    let mut answer = reply_signed(&accepted(&r));
    let out = say(&mut fa, clock(3.1), FA_UPLINK, HA, &answer);
    assert_eq!((datagrams(&out).len(), fa.pending()), (0, 1));
    sign(&mut answer, AuthKind::ForeignHome, &of_home);
    let out = say(&mut fa, clock(3.2), FA_UPLINK, HA, &answer);
    let mut expected = reply_signed(&accepted(&r));
    sign(&mut expected, AuthKind::MobileForeign, &of_mobile);
    assert_eq!(datagrams(&out), [(MESH, expected)]);
    assert_eq!(fa.visitors().count(), 1);
}

#[test]
fn a_full_list_is_66_and_advertised_and_visitors_stay_section_2_1_1() {
    let mut fa = foreign_agent(1);
    visited(&mut fa, clock(1.0));
    let other = Request { home: PEER, ..visit(clock(2.0), 60) };
    assert_eq!(code(&say(&mut fa, clock(2.0), FA_MESH_LINK, CELL, &signed_visit(&other))), 66);
    let out = say(&mut fa, clock(3.0), FA_MESH_LINK, MESH, &signed_visit(&visit(clock(3.0), 60)));
    assert_eq!(datagrams(&out)[0].0, HA, "who visits may stay");
    let out = wake(&mut fa, clock(4.0));
    let (_, ip) = first_packet(&out);
    let Ok(Discovery::Advertisement(a)) = Discovery::parse(ip.payload()) else { panic!("one") };
    assert!(a.agent.unwrap().flags.has(AgentFlags::BUSY));
}

#[test]
fn tunnels_lead_to_visitors_and_back_and_nowhere_else_section_4_2_2_and_rfc_3024() {
    let mut fa = foreign_agent(4);
    let (to, from) = (packet(PEER, HOME), packet(HOME, PEER));
    let through = |fa: &mut Subject<ForeignAgent>, link, src, dst, inner: &[u8]| {
        give(fa, clock(2.0), tunnelled(link, &in_tunnel(src, dst, inner)))
    };
    assert_eq!(sent(&through(&mut fa, FA_UPLINK, HA, FA, &to)), [], "nobody visits");
    visited(&mut fa, clock(1.0));
    // In a mesh, which does not know home addresses: a tunnel to the mobile node's address there.
    let out = through(&mut fa, FA_UPLINK, HA, FA, &to);
    let (link, outer) = first_packet(&out);
    let inner = ip_in_ip::inner(&outer).unwrap();
    assert_eq!((link, outer.src(), outer.dst()), (Some(0), FA_MESH, MESH));
    assert_eq!((inner.src(), inner.dst(), inner.ttl()), (PEER, HOME, 63));
    // And back by the reverse tunnel.
    let out = through(&mut fa, FA_MESH_LINK, MESH, FA_MESH, &from);
    let (link, outer) = first_packet(&out);
    assert_eq!((link, outer.src(), outer.dst()), (None, FA, HA));
    assert_eq!(ip_in_ip::inner(&outer).unwrap().src(), HOME);
    // What is for the agent itself stays there.
    for own in [FA_MESH, FA] {
        let out = through(&mut fa, FA_MESH_LINK, MESH, FA_MESH, &packet(HOME, own));
        let (link, ip) = first_packet(&out);
        assert_eq!((link, ip.src(), ip.dst(), ip.checksum_is_valid()), (None, HOME, own, true));
    }
    for (link, src, dst, inner) in [
        (FA_UPLINK, STRANGER, FA, &to),
        (FA_UPLINK, HA, FA, &packet(PEER, STRANGER)),
        (FA_MESH_LINK, STRANGER, FA_MESH, &from),
        (FA_MESH_LINK, MESH, FA_MESH, &packet(STRANGER, PEER)),
        (FA_LAN_LINK, MESH, FA_LAN, &from),
    ] {
        let out = through(&mut fa, link, src, dst, inner);
        assert!(is_disbelief(&out), "{src} {dst}: {out:?}");
    }
}

#[test]
fn on_a_lan_a_visitor_gets_its_packets_as_they_are_section_3_7_1() {
    let mut fa = foreign_agent(4);
    let r = visit(clock(1.0), 60);
    say(&mut fa, clock(1.0), FA_LAN_LINK, HOME, &signed_visit(&r));
    say(&mut fa, clock(1.0), FA_UPLINK, HA, &reply_signed(&accepted(&r)));
    let outer = in_tunnel(HA, FA, &packet(PEER, HOME));
    let out = give(&mut fa, clock(2.0), tunnelled(FA_UPLINK, &outer));
    let (link, ip) = first_packet(&out);
    assert_eq!(
        (link, ip.src(), ip.dst(), ip.ttl(), ip.checksum_is_valid()),
        (Some(FA_LAN_LINK), PEER, HOME, 63, true)
    );
}

#[test]
fn strangers_requests_are_bounded_and_push_out_nobody_elses() {
    let mut fa = foreign_agent(4);
    let own = visit(clock(1.0), 60);
    say(&mut fa, clock(1.0), FA_MESH_LINK, MESH, &signed_visit(&own));
    // One address makes up identifications.
    let mut passed_on = 0;
    for i in 0..10_000_u32 {
        let t = clock(1.0 + f64::from(i) / 10_000.0);
        let r = Request { home: STRANGER, identification: u64::from(i), ..own };
        passed_on += datagrams(&say(&mut fa, t, FA_MESH_LINK, STRANGER, &signed_visit(&r))).len();
    }
    // 50 at once and 50 a second.
    assert!((50..=100).contains(&passed_on), "{passed_on}");
    assert_eq!(fa.pending(), 1 + 4);
    let out = say(&mut fa, clock(2.1), FA_UPLINK, HA, &reply_signed(&accepted(&own)));
    assert_eq!((datagrams(&out).len(), fa.visitors().count()), (1, 1), "the mobile node is served");
    // Many addresses.
    for i in 0..10_000_u32 {
        let t = clock(3.0 + f64::from(i) / 100.0);
        let from = Ipv4Addr::from(0x0a09_0100 + i);
        say(&mut fa, t, FA_MESH_LINK, from, &signed_visit(&Request { identification: u64::from(i), ..own }));
        assert!(fa.pending() <= 64);
    }
}

#[test]
fn in_a_mesh_it_answers_who_asks_and_on_a_lan_it_advertises_unasked_section_2_3() {
    let mut fa = foreign_agent(4);
    let out = wake(&mut fa, clock(1.0));
    let all: Vec<_> =
        sent(&out).into_iter().map(|(l, p)| (l, ipv4::Packet::new_checked(p).unwrap())).collect();
    assert_eq!(all.len(), 1, "none in the mesh");
    assert_eq!((all[0].0, all[0].1.dst(), all[0].1.ttl()), (Some(FA_LAN_LINK), ALL_SYSTEMS, 1));
    let mut solicitation = [0; 8];
    Discovery::Solicitation.emit(&mut solicitation);
    let ask =
        |fa: &mut Subject<ForeignAgent>, at, link, src| give(fa, clock(at), icmp(link, src, &solicitation));
    let out = ask(&mut fa, 1.5, 0, MESH);
    let (link, ip) = first_packet(&out);
    assert_eq!((link, ip.src(), ip.dst(), ip.ttl()), (Some(0), FA_MESH, MESH, 64));
    let Ok(Discovery::Advertisement(a)) = Discovery::parse(ip.payload()) else { panic!("one") };
    let agent = a.agent.unwrap();
    assert!(agent.flags.has(AgentFlags::FOREIGN_AGENT | AgentFlags::REVERSE_TUNNEL));
    assert!(!agent.flags.has(AgentFlags::HOME_AGENT));
    assert_eq!(agent.care_of().collect::<Vec<_>>(), [FA]);
    // A flood is answered twenty times at once and twenty times a second.
    let many: usize =
        (0..2_000).map(|i| sent(&ask(&mut fa, 2.0 + f64::from(i) / 2_000.0, 0, STRANGER)).len()).sum();
    assert!((20..=40).contains(&many), "{many}");
    assert_eq!(
        sent(&ask(&mut fa, 9.0, FA_UPLINK, STRANGER)).len(),
        0,
        "the world outside is no link of visitors"
    );
}

#[test]
fn octets_changed_anywhere_do_no_harm() {
    let mut fa = foreign_agent(4);
    let r = visit(clock(1.0), 60);
    let good = signed_visit(&r);
    for octet in 0..good.len() {
        let mut m = good.clone();
        m[octet] ^= 0x55;
        let t = clock(2.0 + octet as f64 * 10.0);
        wake(&mut fa, t);
        for (_, d) in datagrams(&say(&mut fa, t, FA_MESH_LINK, MESH, &m)) {
            assert!(Message::parse(&d).is_ok(), "octet {octet}");
        }
    }
    assert_eq!(fa.visitors().count(), 0);
}
