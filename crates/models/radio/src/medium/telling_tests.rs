use wayhop_core::{Leg, Position, Span, Time};

use super::*;
use crate::config::RadioConfig;
use crate::host::{EVERYONE, FrameHead};
use crate::medium::Transmission;
use crate::phy::FrameKind;
use crate::radio::Radio;

/// Stations in a row, 200 m apart: each is decoded by its neighbours, and sensed two stations away.
struct Row;

impl Motions for Row {
    fn leg(&mut self, station: u32, _: Time) -> Leg {
        Leg::at_rest(Position::new(200.0 * f64::from(station), 0.0, 0.0))
    }
    fn settled_until(&mut self, _: Time, _: f64) -> Time {
        Time::NEVER
    }
}

const AIRTIME: Span = Span::from_micros(500);

fn us(t: u64) -> Time {
    Time::from_nanos(t * 1_000)
}

fn radio(stations: usize) -> Radio {
    Radio::new(&RadioConfig::preset("wavelan-914-ns2").unwrap(), stations, 1)
}

/// Returns the slot.
fn start(radio: &mut Radio, at: Time, sender: u32) -> u32 {
    let head = FrameHead::new(FrameKind::Broadcast, sender, EVERYONE, 1.0);
    let (medium, mut stations) = radio.split();
    medium.start(at, AIRTIME, Transmission::new(head, 1, 100, 1.0, None), &mut stations, &mut Row)
}

fn end(radio: &mut Radio, slot: u32) {
    let t = radio.medium.take(slot);
    radio.medium.give_back(slot, t);
}

fn told(radio: &Radio, sender: u32) -> Vec<u32> {
    radio.medium.heard_from(sender).map(|(_, station)| station).collect()
}

fn catch_up(radio: &mut Radio, now: Time, station: u32) {
    let (medium, mut stations) = radio.split();
    medium.catch_up(now, station, &mut stations, &mut Row);
}

#[test]
fn stations_that_only_sense_a_frame_are_told_when_they_ask_or_when_another_one_meets_it() {
    let mut radio = radio(8);
    let slot = start(&mut radio, us(0), 2);
    assert_eq!(told(&radio, 2), [1, 3]);
    catch_up(&mut radio, us(100), 0);
    assert_eq!(told(&radio, 2), [1, 3, 0]);
    assert_eq!(radio.phy_states[0].locked, slot);
    assert_eq!(radio.phy_states[4].locked, NONE, "it has not asked");
    // Station 4 decodes the frame of 5 and senses that of 2, and station 3 the other way round. All that sense the later frame
    // are notified at once, and of the earlier one before; 3 ignores the later one.
    let other = start(&mut radio, us(200), 5);
    assert_eq!(told(&radio, 5), [4, 6, 7]);
    assert_eq!(told(&radio, 2), [1, 3, 0, 4]);
    let [three, four, six, seven] = [3, 4, 6, 7].map(|i: usize| &radio.phy_states[i]);
    assert_eq!((four.locked, four.collided), (other, true));
    // The frame of 2 is 16 times as strong there: the other one only occupies the medium.
    assert_eq!((three.locked, three.collided), (slot, false));
    assert!(three.nav > us(700));
    assert_eq!((six.locked, six.collided, seven.locked), (other, false, other));
}

#[test]
fn a_frame_that_is_over_keeps_who_asks_from_sending_until_its_eifs_is_over() {
    let mut radio = radio(3);
    let slot = start(&mut radio, us(0), 0);
    end(&mut radio, slot);
    catch_up(&mut radio, us(510), 2);
    let phy_state = &radio.phy_states[2];
    // 400 m are 1333 ns.
    assert_eq!(phy_state.nav, Time::from_nanos(500_000 + 1_333) + radio.times.eifs);
    assert_eq!((phy_state.locked, phy_state.busy_until), (NONE, Time::from_nanos(501_333)));
}

#[test]
fn numbers_may_run_out() {
    let mut radio = radio(5);
    let slot = start(&mut radio, us(0), 0);
    end(&mut radio, slot);
    radio.medium.deferred.as_mut().unwrap().next = NONE - 1;
    for s in &mut radio.phy_states {
        s.told = NONE - 1;
    }
    start(&mut radio, us(10_000), 0);
    assert_eq!(told(&radio, 0), [1]);
    start(&mut radio, us(10_100), 4);
    // Everybody had to be notified of what was before.
    assert_eq!(told(&radio, 0), [1, 2]);
    // Until the frame of before is over, everybody is told at once.
    assert_eq!(told(&radio, 4), [2, 3]);
    assert!(radio.phy_states[2].collided);
    assert_eq!(radio.medium.deferred.as_ref().unwrap().next, 2);
    assert!(radio.phy_states.iter().all(|s| s.told <= 2));
}
