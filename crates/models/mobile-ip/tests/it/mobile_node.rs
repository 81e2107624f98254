//! The mobile node, by sections of RFC 5944.

use std::net::Ipv4Addr;

use wayhop_core::{ApplicationEffect, LinkState, Mac, NetworkEffect, NetworkInput, Span};
use wayhop_mobile_ip::{ALL_ROUTERS, MESH_AGENTS, MobileNode, MobileNodeParams, Replay};
use wayhop_wire::mobile_ip::{AgentFlags, AuthKind, Code, Extension, Message, Reply, Request, RequestFlags};
use wayhop_wire::{ip_in_ip, ipv4};

use crate::common::*;

const FOREIGN: Place = Place::Foreign(FA);
const CELLULAR: Place = Place::CoLocated(CELL);
const AT_HOME: Place = Place::Home;

fn up(mn: &mut Subject<MobileNode>, t: Clock, link: u8, addr: Option<Ipv4Addr>) -> Vec<ApplicationEffect> {
    let mac = (link == WLAN_LINK).then_some(MAC_MOBILE);
    give(mn, t, NetworkInput::Link { link, state: LinkState { is_up: true, addr, mac } })
}
fn down(mn: &mut Subject<MobileNode>, t: Clock, link: u8) -> Vec<ApplicationEffect> {
    give(mn, t, NetworkInput::Link { link, state: LinkState::default() })
}
fn hears(
    mn: &mut Subject<MobileNode>,
    t: Clock,
    link: u8,
    src: Ipv4Addr,
    message: &[u8],
) -> Vec<ApplicationEffect> {
    give(mn, t, icmp(link, src, message))
}
fn of_home_agent(sequence: u16) -> Vec<u8> {
    advertisement(HA, 3, sequence, AgentFlags::HOME_AGENT | AgentFlags::REVERSE_TUNNEL, &[])
}
fn of_foreign_agent(sequence: u16) -> Vec<u8> {
    advertisement(FA_MESH, 3, sequence, AgentFlags::FOREIGN_AGENT | AgentFlags::REVERSE_TUNNEL, &[FA])
}
fn only_request(out: &[ApplicationEffect]) -> (Ipv4Addr, Request) {
    let all = requests(out);
    assert_eq!(all.len(), 1, "{out:?}");
    all[0]
}
fn granted(
    mn: &mut Subject<MobileNode>,
    t: Clock,
    link: u8,
    from: Ipv4Addr,
    r: &Request,
) -> Vec<ApplicationEffect> {
    say(mn, t, link, from, &reply_signed(&answer(r, Code::ACCEPTED)))
}

/// Attached at the cellular network, from one second on.
fn at_cell(mn: &mut Subject<MobileNode>) {
    let out = up(mn, clock(1.0), CELL_LINK, Some(CELL));
    let (_, r) = only_request(&out);
    let out = granted(mn, clock(1.1), CELL_LINK, HA, &r);
    assert!(places(&out).contains(&CELLULAR));
}
/// Attached in the mesh.
fn in_mesh(mn: &mut Subject<MobileNode>, s: f64) {
    up(mn, clock(s), MESH_LINK, Some(MESH));
    let out = hears(mn, clock(s), MESH_LINK, FA_MESH, &of_foreign_agent(7));
    let (_, r) = only_request(&out);
    let out = granted(mn, clock(s + 0.1), MESH_LINK, FA_MESH, &r);
    assert!(places(&out).contains(&FOREIGN));
}

#[test]
fn it_solicits_until_it_hears_something_ever_more_seldom_section_2_4() {
    let mut mn = mobile_node(Replay::Timestamps);
    up(&mut mn, clock(0.0), WLAN_LINK, None);
    let out = up(&mut mn, clock(0.0), MESH_LINK, Some(MESH));
    let (link, ip) = first_packet(&out);
    assert_eq!((link, ip.src(), ip.dst(), ip.ttl()), (Some(MESH_LINK), MESH, MESH_AGENTS, 64));
    assert_eq!(ip.payload()[0], 10, "RFC 1256: a router solicitation");
    let (mut lan, mut mesh) = (Vec::new(), Vec::new());
    let mut s = 0.0;
    while let Some(at) = mn.next().map(wayhop_core::Time::as_secs_f64).filter(|at| *at < 200.0) {
        assert!(at >= s);
        s = at;
        for (link, p) in sent(&wake(&mut mn, clock(s))) {
            let ip = ipv4::Packet::new_checked(p).unwrap();
            if link == Some(WLAN_LINK) {
                assert_eq!((ip.src(), ip.dst(), ip.ttl()), (HOME, ALL_ROUTERS, 1));
                lan.push(s);
            } else {
                mesh.push(s);
            }
        }
    }
    // The first three a second apart, then the pause doubles, up to a minute.
    assert_eq!(lan, [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 124.0, 184.0]);
    assert_eq!(mesh[..5], [1.0, 2.0, 4.0, 8.0, 12.0], "in a mesh agents do not speak unasked");
    hears(&mut mn, clock(200.0), WLAN_LINK, HA, &of_home_agent(0));
    let out = wake(&mut mn, clock(201.0));
    assert!(sent(&out).iter().all(|(link, p)| *link != Some(WLAN_LINK) || p[9] != 1), "it asks no more");
}

#[test]
fn in_a_mesh_that_floods_nothing_agents_are_asked_by_their_addresses() {
    let mut params = mobile_params(Replay::Timestamps);
    params.links[usize::from(MESH_LINK)].agents = vec![FA_MESH];
    let mut mn = mobile_node_with(params);
    let out = up(&mut mn, clock(0.0), MESH_LINK, Some(MESH));
    let to: Vec<_> = sent(&out).iter().map(|(_, p)| ipv4::Packet::new_checked(p).unwrap().dst()).collect();
    assert_eq!(to, [MESH_AGENTS, FA_MESH]);
}

#[test]
fn at_home_it_ends_its_bindings_and_tells_the_link_sections_3_6_1_and_4_6() {
    let mut mn = mobile_node(Replay::Timestamps);
    up(&mut mn, clock(0.0), WLAN_LINK, None);
    let out = hears(&mut mn, clock(1.0), WLAN_LINK, HA, &of_home_agent(3));
    assert!(places(&out).contains(&AT_HOME));
    let message = asks_for_home(MAC_MOBILE, HOME);
    assert!(out.contains(&sent_arp(WLAN_LINK, Mac([0xff; 6]), message)));
    let (to, r) = only_request(&out);
    assert_eq!((to, r.care_of, r.lifetime_s, r.flags), (HA, HOME, 0, RequestFlags::default()));
    granted(&mut mn, clock(1.1), WLAN_LINK, HA, &r);
    assert_eq!(mn.attachment(), AT_HOME);
    // Done: what comes next is the end of what is known of the agent, which has just answered.
    assert_eq!(mn.next(), Some(clock(4.1).at));
}

#[test]
fn in_a_mesh_it_registers_by_the_foreign_agent_section_3_6_1_1_and_rfc_3024() {
    let mut mn = mobile_node(Replay::Timestamps);
    up(&mut mn, clock(0.0), MESH_LINK, Some(MESH));
    let out = hears(&mut mn, clock(1.0), MESH_LINK, FA_MESH, &of_foreign_agent(0));
    assert!(noted(&out, "mip_agent_found", FA_MESH).is_some());
    let (to, r) = only_request(&out);
    assert_eq!((to, r.care_of, r.home_agent, r.lifetime_s), (FA_MESH, FA, HA, 60));
    assert_eq!(r.flags, RequestFlags::REVERSE_TUNNEL);
    let (_, message) = datagrams(&out).remove(0);
    let Ok(Message::Request(_, e)) = Message::parse(&message) else { panic!("a request") };
    let kinds: Vec<_> = e.iter().collect();
    assert!(
        matches!(kinds[..], [Extension::Authentication(a), Extension::EncapsulatingDelivery] if a.kind == AuthKind::MobileHome),
        "{kinds:?}"
    );
    assert_eq!(mn.attachment(), Place::Nowhere, "not before the reply");
    let out = granted(&mut mn, clock(1.5), MESH_LINK, FA_MESH, &r);
    assert!(places(&out).contains(&FOREIGN));
    let moved = noted(&out, "mip_by_foreign_agent", FA).map(Span::from_nanos);
    assert_eq!(moved, Some(Span::from_millis(500)));
    // Half of the lifetime later it asks again (it hears the agent meanwhile).
    for s in 2..31 {
        hears(&mut mn, clock(f64::from(s)), MESH_LINK, FA_MESH, &of_foreign_agent(s as u16));
    }
    let out = wake(&mut mn, clock(31.5));
    let (_, again) = only_request(&out);
    assert_ne!(again.identification, r.identification);
}

#[test]
fn with_an_address_of_its_own_it_registers_itself_section_3_6_1_1() {
    let mut mn = mobile_node(Replay::Timestamps);
    let out = up(&mut mn, clock(1.0), CELL_LINK, Some(CELL));
    let (to, r) = only_request(&out);
    assert_eq!((to, r.care_of), (HA, CELL));
    assert_eq!(r.flags, RequestFlags::CO_LOCATED | RequestFlags::REVERSE_TUNNEL);
    let (link, p) = sent(&out)[0];
    assert_eq!((link, ipv4::Packet::new_checked(p).unwrap().src()), (Some(CELL_LINK), CELL));
    granted(&mut mn, clock(1.1), CELL_LINK, HA, &r);
    assert_eq!(mn.attachment(), CELLULAR);
    // The network gives it another address.
    let other = Ipv4Addr::new(10, 5, 0, 77);
    let out = up(&mut mn, clock(2.0), CELL_LINK, Some(other));
    assert_eq!(only_request(&out).1.care_of, other);
}

#[test]
fn it_goes_to_the_best_link_and_falls_back_when_that_is_silent_section_2_4_2() {
    let mut mn = mobile_node(Replay::Timestamps);
    at_cell(&mut mn);
    in_mesh(&mut mn, 2.0);
    up(&mut mn, clock(3.0), WLAN_LINK, None);
    let out = hears(&mut mn, clock(3.0), WLAN_LINK, HA, &of_home_agent(9));
    // The mesh works: it stays there until the home agent itself says that this is home.
    assert_eq!(mn.attachment(), FOREIGN);
    let out = granted(&mut mn, clock(3.1), WLAN_LINK, HA, &only_request(&out).1);
    assert!(places(&out).contains(&AT_HOME));
    // The mesh's agent says that it is there yet, the home agent is not heard again.
    hears(&mut mn, clock(5.0), MESH_LINK, FA_MESH, &of_foreign_agent(8));
    let out = wake(&mut mn, clock(6.1));
    assert!(noted(&out, "mip_agent_lost", HA).is_some());
    let (to, r) = only_request(&out);
    assert_eq!(to, FA_MESH);
    granted(&mut mn, clock(6.2), MESH_LINK, FA_MESH, &r);
    assert_eq!(mn.attachment(), FOREIGN);
    // The mesh's interface goes down: that is known at once.
    let out = down(&mut mn, clock(6.5), MESH_LINK);
    let (to, r) = only_request(&out);
    assert_eq!((to, r.care_of), (HA, CELL));
    granted(&mut mn, clock(6.6), CELL_LINK, HA, &r);
    let out = down(&mut mn, clock(7.0), CELL_LINK);
    assert!(places(&out).contains(&Place::Nowhere));
}

#[test]
fn a_link_that_is_back_before_another_place_has_answered_gets_its_routes_again() {
    let mut mn = mobile_node(Replay::Timestamps);
    up(&mut mn, clock(0.0), WLAN_LINK, None);
    let out = hears(&mut mn, clock(0.1), WLAN_LINK, HA, &of_home_agent(3));
    let (_, r) = only_request(&out);
    granted(&mut mn, clock(0.2), WLAN_LINK, HA, &r);
    assert_eq!(mn.attachment(), AT_HOME);
    up(&mut mn, clock(1.0), CELL_LINK, Some(CELL));
    // By the other link it asks; the answer is on its way when the interface is there again.
    let out = down(&mut mn, clock(2.0), WLAN_LINK);
    assert_eq!(only_request(&out).1.care_of, CELL);
    assert!(places(&out).contains(&Place::Nowhere));
    up(&mut mn, clock(2.02), WLAN_LINK, None);
    let mut out = hears(&mut mn, clock(2.08), WLAN_LINK, HA, &of_home_agent(4));
    let (_, r) = only_request(&out);
    out.extend(granted(&mut mn, clock(2.1), WLAN_LINK, HA, &r));
    assert!(places(&out).contains(&AT_HOME), "{out:?}");
}

#[test]
fn without_an_answer_it_asks_ever_more_seldom_and_tries_elsewhere_section_3_6_3() {
    let mut mn = mobile_node(Replay::Timestamps);
    up(&mut mn, clock(0.0), CELL_LINK, Some(CELL));
    let mut times = Vec::new();
    let mut identifications = std::collections::BTreeSet::new();
    while let Some(at) = mn.next().filter(|at| *at < clock(120.0).at) {
        let now = Clock { at, ntp: ntp(at) };
        for (_, r) in requests(&wake(&mut mn, now)) {
            times.push(at.as_secs_f64());
            assert!(identifications.insert(r.identification), "each has its own");
        }
    }
    assert_eq!(times, [1.0, 3.0, 7.0, 15.0, 31.0, 63.0, 95.0]);
    // With another place the mobile node does not wait so long.
    let mut mn = mobile_node(Replay::Timestamps);
    up(&mut mn, clock(0.0), CELL_LINK, Some(CELL));
    up(&mut mn, clock(0.0), MESH_LINK, Some(MESH));
    let mut to = Vec::new();
    for s in 0..20 {
        let t = clock(f64::from(s));
        to.extend(requests(&hears(&mut mn, t, MESH_LINK, FA_MESH, &of_foreign_agent(s))));
        to.extend(requests(&wake(&mut mn, t)));
    }
    let to: Vec<Ipv4Addr> = to.into_iter().map(|(to, _)| to).collect();
    assert_eq!(
        to[..5],
        [FA_MESH, FA_MESH, FA_MESH, FA_MESH, HA],
        "the agent does not relay: by the cellular network"
    );
}

#[test]
fn a_foreign_agent_that_refuses_is_left_and_a_home_agent_is_asked_again() {
    let mut mn = mobile_node(Replay::Timestamps);
    up(&mut mn, clock(1.0), CELL_LINK, Some(CELL));
    up(&mut mn, clock(1.0), MESH_LINK, Some(MESH));
    let out = hears(&mut mn, clock(1.0), MESH_LINK, FA_MESH, &of_foreign_agent(0));
    let (_, r) = only_request(&out);
    // What a foreign agent itself says has no authenticator where there is no key.
    let refusal = answer(&r, Code::FOREIGN_RESOURCES);
    let mut message = vec![0; Reply::LEN];
    refusal.emit(&mut message);
    let out = say(&mut mn, clock(1.1), MESH_LINK, FA_MESH, &message);
    let (to, r) = only_request(&out);
    assert_eq!(to, HA);
    let out = say(&mut mn, clock(1.2), CELL_LINK, HA, &reply_signed(&answer(&r, Code::HOME_PROHIBITED)));
    assert_eq!(requests(&out), []);
    assert_eq!(only_request(&wake(&mut mn, clock(2.1))).0, HA);
}

#[test]
fn a_home_agent_with_another_clock_is_believed_once_section_5_7_1() {
    let mut mn = mobile_node(Replay::Timestamps);
    let out = up(&mut mn, clock(1.0), CELL_LINK, Some(CELL));
    let (_, r) = only_request(&out);
    let ahead = |r: &Request| Reply {
        identification: (r.identification & 0xffff_ffff) | (clock(101.0).ntp & !0xffff_ffff),
        ..answer(r, Code::HOME_IDENTIFICATION)
    };
    let out = say(&mut mn, clock(1.1), CELL_LINK, HA, &reply_signed(&ahead(&r)));
    let (_, r) = only_request(&out);
    assert_eq!(r.identification >> 32, clock(101.0).ntp >> 32, "by the home agent's clock");
    let out = say(&mut mn, clock(1.2), CELL_LINK, HA, &reply_signed(&ahead(&r)));
    assert_eq!(requests(&out), [], "not at once a second time");
    // A stranger cannot set the clock.
    let mut mn = mobile_node(Replay::Timestamps);
    let (_, r) = only_request(&up(&mut mn, clock(1.0), CELL_LINK, Some(CELL)));
    let mut forged = reply_signed(&ahead(&r));
    *forged.last_mut().unwrap() ^= 1;
    let out = say(&mut mn, clock(1.1), CELL_LINK, HA, &forged);
    assert!(is_disbelief(&out));
}

#[test]
fn replies_with_changed_octets_or_of_others_or_late_move_nothing_section_3_6_2_1() {
    let mut mn = mobile_node(Replay::Timestamps);
    let (_, r) = only_request(&up(&mut mn, clock(1.0), CELL_LINK, Some(CELL)));
    let good = reply_signed(&answer(&r, Code::ACCEPTED));
    for octet in 0..good.len() {
        let mut m = good.clone();
        m[octet] ^= 0x80;
        let out = say(&mut mn, clock(1.1), CELL_LINK, HA, &m);
        assert!(places(&out).is_empty(), "octet {octet}");
    }
    say(&mut mn, clock(1.1), CELL_LINK, HA, &good[..Reply::LEN]);
    assert_eq!(mn.attachment(), Place::Nowhere);
    // The answer to an earlier request does not count for a later one.
    let (_, later) = only_request(&wake(&mut mn, clock(2.0)));
    assert_ne!(later.identification, r.identification);
    say(&mut mn, clock(2.1), CELL_LINK, HA, &good);
    assert_eq!(mn.attachment(), Place::Nowhere);
    granted(&mut mn, clock(2.2), CELL_LINK, HA, &later);
    assert_eq!(mn.attachment(), CELLULAR);
    // By a foreign agent, only that agent's packets count.
    let mut mn = mobile_node(Replay::Timestamps);
    up(&mut mn, clock(1.0), MESH_LINK, Some(MESH));
    let (_, r) = only_request(&hears(&mut mn, clock(1.0), MESH_LINK, FA_MESH, &of_foreign_agent(0)));
    granted(&mut mn, clock(1.1), MESH_LINK, STRANGER, &r);
    assert_eq!(mn.attachment(), Place::Nowhere);
}

#[test]
fn outsiders_advertisements_fill_no_memory_and_move_nobody_who_has_an_agent() {
    let mut mn = mobile_node(Replay::Timestamps);
    in_mesh(&mut mn, 1.0);
    for i in 0..10_000_u32 {
        let from = Ipv4Addr::from(0xc633_6401 + i);
        let flags = AgentFlags::FOREIGN_AGENT | AgentFlags::REVERSE_TUNNEL;
        let message = advertisement(from, u16::MAX, 9, flags, &[from]);
        let out = hears(&mut mn, clock(2.0), MESH_LINK, from, &message);
        assert_eq!(requests(&out), []);
        assert!(mn.agents() <= 8);
    }
    assert_eq!(mn.attachment(), FOREIGN);
    // Under another's address (RFC 1256, section 5.2), or without an agent: passed over.
    let mut mn = mobile_node(Replay::Timestamps);
    up(&mut mn, clock(1.0), MESH_LINK, Some(MESH));
    hears(&mut mn, clock(1.0), MESH_LINK, STRANGER, &of_foreign_agent(0));
    hears(&mut mn, clock(1.0), MESH_LINK, HOME, &of_foreign_agent(0));
    assert_eq!(mn.agents(), 0);
}

#[test]
fn a_false_home_agent_holds_the_node_for_seconds_only() {
    let mut mn = mobile_node(Replay::Timestamps);
    at_cell(&mut mn);
    up(&mut mn, clock(5.0), WLAN_LINK, None);
    // An outsider on this link says each second that it is the home agent, and cannot answer as it.
    let mut back = None;
    for s in 5..40 {
        let t = clock(f64::from(s));
        let mut out = hears(&mut mn, t, WLAN_LINK, HA, &of_home_agent(s));
        out.extend(wake(&mut mn, t));
        for (to, r) in requests(&out) {
            if r.care_of == CELL {
                assert_eq!(to, HA);
                granted(&mut mn, t, CELL_LINK, HA, &r);
                back.get_or_insert(s);
            }
        }
    }
    // After requests at 5, 6, 8 and 12 s.
    assert_eq!(back, Some(12));
    assert_eq!(mn.attachment(), CELLULAR);
}

#[test]
fn with_known_agents_only_others_are_not_taken() {
    let foreign_agents = vec![peer((FA_MESH, key(700, Replay::Timestamps)))];
    let params =
        MobileNodeParams { foreign_agents, only_known_agents: true, ..mobile_params(Replay::Timestamps) };
    let mut mn = mobile_node_with(params);
    up(&mut mn, clock(1.0), MESH_LINK, Some(MESH));
    let flags = AgentFlags::FOREIGN_AGENT | AgentFlags::REVERSE_TUNNEL;
    let out =
        hears(&mut mn, clock(1.0), MESH_LINK, STRANGER, &advertisement(STRANGER, 3, 0, flags, &[STRANGER]));
    assert!(is_disbelief(&out));
    assert_eq!(mn.agents(), 0);
    let out = hears(&mut mn, clock(2.0), MESH_LINK, FA_MESH, &of_foreign_agent(0));
    let (_, message) = datagrams(&out).remove(0);
    let Ok(Message::Request(r, e)) = Message::parse(&message) else { panic!("a request") };
    assert!(e.authentication(AuthKind::MobileForeign).is_some());
    // Its replies need its authenticator, too.
    granted(&mut mn, clock(2.1), MESH_LINK, FA_MESH, &r);
    assert_eq!(mn.attachment(), Place::Nowhere);
    let mut m = reply_signed(&answer(&r, Code::ACCEPTED));
    sign(&mut m, AuthKind::MobileForeign, &key(700, Replay::Timestamps));
    say(&mut mn, clock(2.2), MESH_LINK, FA_MESH, &m);
    assert_eq!(mn.attachment(), FOREIGN);
}

#[test]
fn an_agent_that_began_anew_is_asked_again_section_2_4_3() {
    let mut mn = mobile_node(Replay::Timestamps);
    in_mesh(&mut mn, 1.0);
    let out = hears(&mut mn, clock(2.0), MESH_LINK, FA_MESH, &of_foreign_agent(8));
    assert_eq!(requests(&out), []);
    let out = hears(&mut mn, clock(3.0), MESH_LINK, FA_MESH, &of_foreign_agent(0));
    assert_eq!(only_request(&out).0, FA_MESH, "it has forgotten its visitors");
}

#[test]
fn what_was_granted_ends_with_its_lifetime_section_3_6_1() {
    let mut mn = mobile_node(Replay::Timestamps);
    at_cell(&mut mn);
    let mut nowhere = None;
    while nowhere.is_none() {
        let at = mn.next().expect("it asks again");
        let out = wake(&mut mn, Clock { at, ntp: ntp(at) });
        if places(&out).contains(&Place::Nowhere) {
            nowhere = Some(at.as_secs_f64());
        }
    }
    assert_eq!(nowhere, Some(61.1), "granted at 1.1 s for 60 s, and never again");
}

#[test]
fn tunnels_lead_to_where_it_is_and_only_their_packets_are_taken() {
    let mut mn = mobile_node(Replay::Timestamps);
    let (own, others) = (packet(HOME, PEER), packet(PEER, HOME));
    assert_eq!(give(&mut mn, clock(0.0), outbound(&own)), [], "it is nowhere");
    at_cell(&mut mn);
    let out = give(&mut mn, clock(1.5), outbound(&own));
    let (link, outer) = first_packet(&out);
    assert_eq!((link, outer.src(), outer.dst()), (Some(CELL_LINK), CELL, HA));
    assert_eq!(ip_in_ip::inner(&outer).unwrap().start(100), own);
    assert_eq!(
        give(&mut mn, clock(1.5), outbound(&packet(CELL, PEER))),
        [],
        "only the home address' packets"
    );
    in_mesh(&mut mn, 2.0);
    let out = give(&mut mn, clock(2.5), outbound(&own));
    let outer = ipv4::Packet::new_checked(sent(&out)[0].1).unwrap();
    assert_eq!((outer.src(), outer.dst()), (MESH, FA_MESH));
    // By this tunnel, and by the one before: packets may be on their way yet.
    for (link, src, dst) in [(MESH_LINK, FA_MESH, MESH), (CELL_LINK, HA, CELL)] {
        let out = give(&mut mn, clock(3.0), tunnelled(link, &in_tunnel(src, dst, &others)));
        assert_eq!(out, [ApplicationEffect::Network(NetworkEffect::Deliver(others.clone()))]);
    }
    for (src, dst, inner) in
        [(STRANGER, MESH, &others), (FA_MESH, CELL, &others), (FA_MESH, MESH, &packet(PEER, STRANGER))]
    {
        let out = give(&mut mn, clock(3.0), tunnelled(MESH_LINK, &in_tunnel(src, dst, inner)));
        assert!(is_disbelief(&out), "{out:?}");
    }
}

/// Forged advertisements, one a second for a minute, of all kinds that could lead a node away from an agent that works.
#[test]
fn an_agent_that_works_is_kept_whatever_others_advertise_in_its_name_section_2_4() {
    let foreign = AgentFlags::FOREIGN_AGENT | AgentFlags::REVERSE_TUNNEL;
    let kinds: [(&str, Vec<u8>); 6] = [
        ("another care-of address", advertisement(FA_MESH, 3, 900, foreign, &[STRANGER])),
        ("gone", advertisement(FA_MESH, 0, 900, foreign, &[FA])),
        ("no foreign agent", advertisement(FA_MESH, 3, 900, AgentFlags::REVERSE_TUNNEL, &[])),
        ("full", advertisement(FA_MESH, 3, 900, foreign | AgentFlags::BUSY, &[FA])),
        ("a number far ahead", advertisement(FA_MESH, 3, 65_535, foreign, &[FA])),
        ("the home agent", of_home_agent(900)),
    ];
    for (kind, forged) in kinds {
        let mut mn = mobile_node(Replay::Timestamps);
        in_mesh(&mut mn, 1.0);
        up(&mut mn, clock(1.5), WLAN_LINK, None);
        let (mut moved, mut asked) = (0, 0);
        for s in 2..62_u16 {
            let t = clock(f64::from(s));
            let (link, from) = if kind == "the home agent" { (WLAN_LINK, HA) } else { (MESH_LINK, FA_MESH) };
            let mut out = hears(&mut mn, t, link, from, &forged);
            out.extend(hears(&mut mn, t, MESH_LINK, FA_MESH, &of_foreign_agent(s)));
            out.extend(wake(&mut mn, t));
            moved += places(&out).len();
            for (to, r) in requests(&out) {
                asked += 1;
                // The agent serves who asks it for its own care-of address.
                if (to, r.care_of) == (FA_MESH, FA) {
                    granted(&mut mn, t, MESH_LINK, FA_MESH, &r);
                }
            }
        }
        assert_eq!((moved, mn.attachment()), (0, FOREIGN), "{kind}");
        assert!(asked <= 62, "{kind}: {asked} requests in 60 s");
    }
}

/// What says so is no longer believed to be gone, but silence and registrations without an answer are.
#[test]
fn an_agent_that_is_really_gone_is_left_when_it_is_silent_section_2_4_2_1() {
    let mut mn = mobile_node(Replay::Timestamps);
    in_mesh(&mut mn, 1.0);
    up(&mut mn, clock(1.5), CELL_LINK, Some(CELL));
    let gone = advertisement(FA_MESH, 0, 8, AgentFlags::FOREIGN_AGENT, &[FA]);
    let out = hears(&mut mn, clock(2.0), MESH_LINK, FA_MESH, &gone);
    let (to, r) = only_request(&out);
    assert_eq!((to, r.care_of), (FA_MESH, FA), "it is asked");
    // It answered the registration at 1.1 s, and its advertisements hold for three.
    let out = wake(&mut mn, clock(4.1));
    assert_eq!(only_request(&out).1.care_of, CELL);
}

/// A better link on which nobody ever answers: what is granted is renewed meanwhile.
#[test]
fn silent_candidates_do_not_keep_it_from_renewing_its_registration_section_3_6() {
    let mut mn = mobile_node(Replay::Timestamps);
    in_mesh(&mut mn, 1.0);
    up(&mut mn, clock(1.5), WLAN_LINK, None);
    let (mut last, mut longest) = (1.1, 0.0_f64);
    for s in 2..600_u16 {
        let t = clock(f64::from(s));
        // Each second another stranger.
        let from = Ipv4Addr::new(198, 51, 100, (s % 250) as u8 + 1);
        let flags = AgentFlags::FOREIGN_AGENT | AgentFlags::REVERSE_TUNNEL;
        let mut out = hears(&mut mn, t, WLAN_LINK, from, &advertisement(from, u16::MAX, 9, flags, &[from]));
        out.extend(hears(&mut mn, t, MESH_LINK, FA_MESH, &of_foreign_agent(s)));
        out.extend(wake(&mut mn, t));
        for (to, r) in requests(&out) {
            if to == FA_MESH {
                granted(&mut mn, t, MESH_LINK, FA_MESH, &r);
                longest = longest.max(f64::from(s) - last);
                last = f64::from(s);
            }
        }
        assert_eq!(mn.attachment(), FOREIGN, "at {s} s");
    }
    assert!(longest <= 31.0, "half of the 60 s that were granted: {longest}");
}

/// While it asks whether this is home, the home agent must find it there; nobody else does (section 4.6).
#[test]
fn it_answers_the_home_agents_arp_where_it_asks_whether_this_is_home() {
    let mut mn = mobile_node(Replay::Timestamps);
    in_mesh(&mut mn, 1.0);
    up(&mut mn, clock(1.5), WLAN_LINK, None);
    let asks = |sender| heard_arp(WLAN_LINK, asks_for_home(MAC_HA, sender));
    let arp = |mn: &mut Subject<MobileNode>, sender| give(mn, clock(2.5), asks(sender));
    assert_eq!(arp(&mut mn, HA), []);
    hears(&mut mn, clock(2.0), WLAN_LINK, HA, &of_home_agent(9));
    assert_eq!(arp(&mut mn, PEER), []);
    let message = answers_for_home(MAC_MOBILE, MAC_HA, HA);
    assert_eq!(arp(&mut mn, HA), [sent_arp(WLAN_LINK, MAC_HA, message)]);
}

/// Behind 65535 comes 256.
#[test]
fn sequence_numbers_roll_over_without_a_loss_section_2_3_2() {
    let mut mn = mobile_node(Replay::Timestamps);
    in_mesh(&mut mn, 1.0);
    for (s, sequence) in [(2.0, 65_535), (4.0, 256), (6.0, 257)] {
        let out = hears(&mut mn, clock(s), MESH_LINK, FA_MESH, &of_foreign_agent(sequence));
        assert_eq!(requests(&out), [], "{sequence}");
    }
    wake(&mut mn, clock(8.9));
    assert_eq!(mn.attachment(), FOREIGN);
}
