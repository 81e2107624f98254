//! The home agent, by sections of RFC 5944.

use std::net::Ipv4Addr;

use wayhop_core::{ApplicationEffect, Mac, NetworkEffect};
use wayhop_mobile_ip::{HomeAgent, KnownMobile, Replay};
use wayhop_wire::arp;
use wayhop_wire::mobile_ip::{AuthKind, Code, Discovery, Message, Request, RequestFlags};
use wayhop_wire::{ip_in_ip, ipv4};

use crate::common::*;

#[test]
fn a_binding_is_made_renewed_and_expires_sections_3_8_2_and_4_6() {
    let mut ha = home_agent(Replay::Timestamps);
    let t = clock(10.0);
    let out = say(&mut ha, t, 1, CELL, &signed(&request(t, CELL, 60)));
    assert_eq!(code(&out), 0);
    assert!(out.contains(&intercept()));
    assert_eq!(noted(&out, "mip_bound", HOME), Some(60));
    // The reply has the mobile node's authenticator, and goes to where the request came from.
    let (to, message) = datagrams(&out).remove(0);
    let Ok(Message::Reply(reply, extensions)) = Message::parse(&message) else { panic!("a reply") };
    assert_eq!((to, reply.identification, reply.lifetime_s), (CELL, t.ntp, 60));
    let a = extensions.authentication(AuthKind::MobileHome).unwrap();
    let right = wayhop_mobile_ip::authenticator(&key(256, Replay::Timestamps).key, a.protects);
    assert_eq!((a.spi, a.authenticator), (256, &right[..]));
    // The home link learns at once that the packets go to the agent now.
    let gratuitous = asks_for_home(MAC_HA, HOME);
    assert!(out.contains(&sent_arp(0, Mac([0xff; 6]), gratuitous)));
    assert_eq!(ha.bindings(HOME).collect::<Vec<_>>(), [CELL]);
    let t = clock(50.0);
    assert_eq!(code(&say(&mut ha, t, 1, CELL, &signed(&request(t, CELL, 60)))), 0);
    let out = wake(&mut ha, clock(71.0));
    assert!(!out.contains(&release()), "it was renewed");
    let out = wake(&mut ha, clock(110.5));
    assert!(out.contains(&release()));
    assert_eq!(ha.bindings(HOME).count(), 0);
}

#[test]
fn no_lifetime_is_longer_than_the_agent_allows_section_3_8_2_2() {
    let mut ha = home_agent(Replay::Timestamps);
    let t = clock(10.0);
    let out = say(&mut ha, t, 1, CELL, &signed(&request(t, CELL, u16::MAX)));
    assert_eq!(replies(&out)[0].lifetime_s, 300);
}

#[test]
fn a_mobile_node_that_comes_home_ends_all_bindings_section_3_8_2_2() {
    let mut ha = home_agent(Replay::Timestamps);
    let t = clock(10.0);
    say(&mut ha, t, 1, CELL, &signed(&request(t, CELL, 60)));
    // It announces itself by ARP first (section 4.6), so that the agent knows its link address.
    let out = give(&mut ha, t, heard_arp(0, asks_for_home(MAC_MOBILE, HOME)));
    assert_eq!(out, [], "the agent does not claim the address against its owner");
    let t = clock(20.0);
    let out = say(&mut ha, t, 0, HOME, &signed(&request(t, HOME, 0)));
    assert_eq!(code(&out), 0);
    assert!(out.contains(&release()));
    let said = out.iter().find_map(|e| match e {
        ApplicationEffect::Network(NetworkEffect::Arp { message, .. }) => arp::Repr::parse(message).ok(),
        _ => None,
    });
    assert_eq!(said.map(|m| (m.sender, m.sender_mac)), Some((HOME, MAC_MOBILE)), "on its behalf");
    assert_eq!(ha.bindings(HOME).count(), 0);
    assert_eq!(sent(&out)[0].0, Some(0), "the reply goes to the home link, not into a tunnel");
}

#[test]
fn a_wrong_or_missing_authenticator_is_131_section_3_8_2_1() {
    let mut ha = home_agent(Replay::Timestamps);
    let mut t = clock(10.0);
    for octet in 0..signed(&request(t, CELL, 60)).len() {
        t = clock(10.0 + octet as f64);
        let mut m = signed(&request(t, CELL, 60));
        m[octet] ^= 1;
        let out = say(&mut ha, t, 1, CELL, &m);
        assert!(!out.contains(&intercept()), "octet {octet}");
        assert!(replies(&out).iter().all(|r| !r.code.is_accepted()), "octet {octet}");
        // Flags, lifetime, home agent, care-of address and identification are all covered; of another home address (octets 4 to 7)
        // nothing is known.
        if (1..24).contains(&octet) {
            assert_eq!(code(&out), if (4..8).contains(&octet) { 129 } else { 131 }, "octet {octet}");
        }
    }
    assert_eq!(code(&say(&mut ha, clock(100.0), 1, CELL, &signed(&request(t, CELL, 60))[..24])), 131);
    assert_eq!(ha.bindings(HOME).count(), 0);
}

#[test]
fn a_replayed_request_is_133_and_changes_nothing_section_5_7() {
    for replay in [Replay::Timestamps, Replay::Nonces] {
        let mut ha = home_agent(replay);
        let with = key(256, replay);
        let mut r = request(clock(10.0), CELL, 60);
        if replay == Replay::Nonces {
            // Not knowing the nonce, the first one is refused, with the nonce to take.
            let out = say(&mut ha, clock(9.0), 1, CELL, &signed_by(&r, &with));
            assert_eq!(code(&out), 133);
            r.identification = replies(&out)[0].identification;
        }
        let message = signed_by(&r, &with);
        assert_eq!(code(&say(&mut ha, clock(10.0), 1, CELL, &message)), 0, "{replay:?}");
        // The mobile node goes elsewhere; somebody who recorded the first request sends it again.
        r.care_of = FA;
        r.identification = match replay {
            Replay::Timestamps => clock(12.0).ntp,
            Replay::Nonces => {
                let out = say(&mut ha, clock(11.0), 1, CELL, &message);
                assert_eq!(code(&out), 133);
                replies(&out)[0].identification
            }
        };
        assert_eq!(code(&say(&mut ha, clock(12.0), 1, FA, &signed_by(&r, &with))), 0, "{replay:?}");
        let out = say(&mut ha, clock(13.0), 1, STRANGER, &message);
        assert_eq!(code(&out), 133, "{replay:?}");
        assert_eq!(ha.bindings(HOME).collect::<Vec<_>>(), [FA], "{replay:?}");
    }
}

#[test]
fn what_cannot_be_granted_is_refused_with_its_code_section_3_8_2_1() {
    let mut ha = home_agent(Replay::Timestamps);
    let elsewhere = Ipv4Addr::new(10, 1, 0, 8);
    let base = request(clock(0.0), CELL, 60);
    let cases = [
        (Request { home_agent: elsewhere, ..base }, Code::HOME_UNKNOWN_AGENT),
        (Request { care_of: Ipv4Addr::BROADCAST, ..base }, Code::HOME_POOR_REQUEST),
        (Request { care_of: HA, ..base }, Code::HOME_POOR_REQUEST),
        (Request { care_of: HOME, ..base }, Code::HOME_POOR_REQUEST),
        (Request { flags: RequestFlags::GRE, ..base }, Code::HOME_ENCAPSULATION),
        (Request { flags: RequestFlags::MINIMAL_ENCAPSULATION, ..base }, Code::HOME_ENCAPSULATION),
        (Request { home: elsewhere, ..base }, Code::HOME_PROHIBITED),
    ];
    for (i, (r, expected)) in (1..).zip(cases) {
        let t = clock(f64::from(i));
        let out = say(&mut ha, t, 1, CELL, &signed(&Request { identification: t.ntp, ..r }));
        assert_eq!(code(&out), expected.0, "{r:?}");
    }
    assert_eq!(ha.bindings(HOME).count(), 0);
}

#[test]
fn simultaneous_bindings_get_a_copy_each_and_have_a_limit_section_3_8_3() {
    let mut ha = home_agent(Replay::Timestamps);
    let places: Vec<Ipv4Addr> = (1..=5).map(|i| Ipv4Addr::new(192, 0, 2, i)).collect();
    for (i, care_of) in places.iter().enumerate() {
        let t = clock(1.0 + i as f64);
        let mut r = request(t, *care_of, 60);
        r.flags = r.flags | RequestFlags::SIMULTANEOUS;
        let expected = if i < 4 { Code::ACCEPTED } else { Code::HOME_TOO_MANY };
        assert_eq!(code(&say(&mut ha, t, 1, *care_of, &signed(&r))), expected.0);
    }
    let inner = packet(PEER, HOME);
    let out = give(&mut ha, clock(9.0), outbound(&inner));
    let to: Vec<_> = sent(&out).iter().map(|(_, p)| ipv4::Packet::new_checked(p).unwrap().dst()).collect();
    assert_eq!(to, places[..4]);
    // One without the flag is the only one from then on.
    let t = clock(10.0);
    say(&mut ha, t, 1, CELL, &signed(&request(t, CELL, 60)));
    assert_eq!(ha.bindings(HOME).collect::<Vec<_>>(), [CELL]);
}

#[test]
fn packets_enter_the_tunnel_and_only_its_own_come_out_rfc_2003_and_3024() {
    let mut ha = home_agent(Replay::Timestamps);
    let inner = packet(PEER, HOME);
    assert_eq!(give(&mut ha, clock(1.0), outbound(&inner)), [], "it is at home");
    let t = clock(2.0);
    say(&mut ha, t, 1, CELL, &signed(&request(t, CELL, 60)));
    let out = give(&mut ha, t, outbound(&inner));
    let (link, outer) = first_packet(&out);
    assert_eq!((link, outer.src(), outer.dst()), (None, HA, CELL));
    assert_eq!(ip_in_ip::inner(&outer).unwrap().start(100), inner);
    // What it sends by the reverse tunnel goes on, one hop older.
    let own = packet(HOME, PEER);
    let out = give(&mut ha, t, tunnelled(1, &in_tunnel(CELL, HA, &own)));
    let octets = delivered(&out).unwrap();
    let p = ipv4::Packet::new_checked(octets).unwrap();
    assert_eq!((p.src(), p.dst(), p.ttl(), p.checksum_is_valid()), (HOME, PEER, 63, true));
    // From elsewhere, or of somebody else, nothing does.
    for outer in [
        in_tunnel(STRANGER, HA, &own),
        in_tunnel(CELL, HA, &packet(STRANGER, PEER)),
        in_tunnel(CELL, CELL, &own),
    ] {
        let out = give(&mut ha, t, tunnelled(1, &outer));
        assert!(delivered(&out).is_none(), "{out:?}");
    }
}

#[test]
fn the_agent_answers_arp_for_who_is_away_only_section_4_6() {
    let mut ha = home_agent(Replay::Timestamps);
    let asks = asks_for_home(Mac([2, 0, 0, 0, 0, 2]), PEER);
    assert_eq!(give(&mut ha, clock(1.0), heard_arp(0, asks)), []);
    let t = clock(2.0);
    say(&mut ha, t, 1, CELL, &signed(&request(t, CELL, 60)));
    let answer = answers_for_home(MAC_HA, asks.sender_mac, PEER);
    let out = give(&mut ha, t, heard_arp(0, asks));
    assert_eq!(out, [sent_arp(0, asks.sender_mac, answer)]);
    assert_eq!(give(&mut ha, t, heard_arp(1, asks)), [], "on the home link only");
}

#[test]
fn a_foreign_agent_with_a_key_must_use_it_section_3_8_2_1() {
    let shared = key(700, Replay::Timestamps);
    let mut ha = home_agent_with(Replay::Timestamps, vec![(FA, shared.clone())]);
    let t = clock(1.0);
    let mut message = signed(&request(t, FA, 60));
    assert_eq!(code(&say(&mut ha, t, 1, FA, &message)), 132);
    sign(&mut message, AuthKind::ForeignHome, &shared);
    let out = say(&mut ha, t, 1, FA, &message);
    assert_eq!(code(&out), 0, "the first one has not used the identification");
    let (_, reply) = datagrams(&out).remove(0);
    let Ok(Message::Reply(_, e)) = Message::parse(&reply) else { panic!("a reply") };
    assert!(e.authentication(AuthKind::ForeignHome).is_some());
}

#[test]
fn a_flood_of_forged_requests_gets_ten_answers_a_second() {
    let mut ha = home_agent(Replay::Timestamps);
    let mut answered = 0;
    for i in 0..10_000 {
        let t = clock(5.0 + f64::from(i) / 10_000.0);
        let mut m = signed(&request(t, CELL, 60));
        *m.last_mut().unwrap() ^= 1;
        answered += sent(&say(&mut ha, t, 1, STRANGER, &m)).len();
    }
    assert!((10..=20).contains(&answered), "{answered}");
    // The mobile node is served meanwhile.
    let t = clock(6.1);
    assert_eq!(code(&say(&mut ha, t, 1, CELL, &signed(&request(t, CELL, 60)))), 0);
}

#[test]
fn it_advertises_each_second_and_when_asked_section_2_3() {
    let mut ha = home_agent(Replay::Timestamps);
    let mut sequence = Vec::new();
    for s in 0..4 {
        let out = wake(&mut ha, clock(f64::from(s)));
        let (link, ip) = first_packet(&out);
        assert_eq!((link, ip.ttl(), ip.dst()), (Some(0), 1, wayhop_mobile_ip::ALL_SYSTEMS));
        let Ok(Discovery::Advertisement(a)) = Discovery::parse(ip.payload()) else { panic!("one") };
        sequence.push(a.agent.unwrap().sequence);
    }
    assert_eq!(sequence, [0, 1, 2, 3]);
    assert_eq!(ha.next(), Some(clock(4.0).at));
    let mut solicitation = [0; 8];
    Discovery::Solicitation.emit(&mut solicitation);
    let ask = |ha: &mut Subject<HomeAgent>, s| sent(&give(ha, clock(s), icmp(0, HOME, &solicitation))).len();
    assert_eq!(ask(&mut ha, 3.5), 1);
    // A flood of them is answered ten times a second.
    let many: usize = (0..1_000).map(|i| ask(&mut ha, 3.6 + f64::from(i) / 1_000.0)).sum();
    assert!(many <= 11, "{many}");
}

/// What a home agent asks to have remembered last.
fn remembered(out: &[ApplicationEffect]) -> KnownMobile {
    let value = out.iter().rev().find_map(kept).expect("something is remembered");
    serde_json::from_value(value.clone()).unwrap()
}
/// The clocks of a program started `day_s` seconds of the day after the beginning.
fn restarted(day_s: f64) -> Clock {
    Clock { ntp: clock(day_s).ntp, ..clock(0.0) }
}

#[test]
fn a_restarted_home_agent_keeps_its_bindings_for_their_lifetimes_section_3_8() {
    let mut ha = home_agent(Replay::Timestamps);
    let first = signed(&request(clock(10.0), CELL, 60));
    let out = say(&mut ha, clock(10.0), 1, CELL, &first);
    // Before the answer: what is answered is remembered whatever happens then.
    let place = |wanted: fn(&ApplicationEffect) -> bool| out.iter().position(wanted).unwrap();
    let is_kept = place(|o| kept(o).is_some());
    assert!(is_kept < place(|o| matches!(o, ApplicationEffect::Network(NetworkEffect::Send { .. }))));
    let known = remembered(&out);
    let begin = |day_s| home_agent_at(restarted(day_s), Replay::Timestamps, Vec::new(), vec![known.clone()]);

    let mut ha = begin(40.0);
    assert_eq!(ha.bindings(HOME).collect::<Vec<_>>(), [CELL]);
    let out = wake(&mut ha, restarted(40.0));
    assert!(out.contains(&intercept()));
    assert_eq!(noted(&out, "mip_resumed", HOME).map(|ns| ns.div_ceil(1_000)), Some(30_000_000));
    let to = give(&mut ha, restarted(40.0), outbound(&packet(PEER, HOME)));
    assert_eq!(sent(&to).len(), 1, "into the tunnel, without a new registration");
    let at = |own_s: f64, day_s| Clock { ntp: clock(day_s).ntp, ..clock(own_s) };
    assert!(!wake(&mut ha, at(29.0, 69.0)).contains(&release()));
    assert!(wake(&mut ha, at(30.1, 70.1)).contains(&release()));

    // It has ended meanwhile; and a clock that stepped back extends nothing beyond what was granted.
    assert_eq!(begin(70.5).bindings(HOME).count(), 0);
    let mut ha = begin(3.0);
    wake(&mut ha, restarted(3.0));
    assert!(wake(&mut ha, at(60.1, 63.1)).contains(&release()));

    // A request that was answered before does not count a second time, one that is later does.
    let mut ha = begin(12.0);
    assert_eq!(code(&say(&mut ha, restarted(12.0), 1, STRANGER, &first)), 133);
    let next = signed(&request(clock(10.5), FA, 60));
    assert_eq!(
        code(&say(&mut ha, restarted(12.0), 1, FA, &next)),
        0,
        "sent before the restart, come after it"
    );
    assert_eq!(ha.bindings(HOME).collect::<Vec<_>>(), [FA]);
}

#[test]
fn with_nonces_a_home_agent_that_is_started_anew_asks_for_a_new_one_section_5_7_2() {
    let with = key(256, Replay::Nonces);
    let mut ha = home_agent(Replay::Nonces);
    let mut r = request(clock(10.0), CELL, 60);
    let out = say(&mut ha, clock(10.0), 1, CELL, &signed_by(&r, &with));
    r.identification = replies(&out)[0].identification;
    let message = signed_by(&r, &with);
    let out = say(&mut ha, clock(10.1), 1, CELL, &message);
    assert_eq!(code(&out), 0);
    let mut ha = home_agent_at(restarted(12.0), Replay::Nonces, Vec::new(), vec![remembered(&out)]);
    assert_eq!(ha.bindings(HOME).collect::<Vec<_>>(), [CELL]);
    let out = say(&mut ha, restarted(12.0), 1, STRANGER, &message);
    assert_eq!(code(&out), 133, "the old nonce is invalid");
    assert_eq!(ha.bindings(HOME).collect::<Vec<_>>(), [CELL]);
}

#[test]
fn who_comes_home_is_forgotten_also_by_the_next_life() {
    let mut ha = home_agent(Replay::Timestamps);
    say(&mut ha, clock(10.0), 1, CELL, &signed(&request(clock(10.0), CELL, 60)));
    let out = say(&mut ha, clock(11.0), 0, HOME, &signed(&request(clock(11.0), HOME, 0)));
    assert_eq!(remembered(&out).bindings, []);
    // One that asks for what cannot be granted has used its identification, too.
    let out = say(&mut ha, clock(12.0), 1, CELL, &signed(&request(clock(12.0), HA, 60)));
    assert_eq!(code(&out), Code::HOME_POOR_REQUEST.0);
    assert_eq!(remembered(&out).identification, Some(clock(12.0).ntp));
}
