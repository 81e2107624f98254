//! gpsd's protocol, both ends, and against gpsd's own client (Debian package gpsd-clients).

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use proptest::prelude::*;
use serde_json::Value;
use wayhop_control::gpsd::{Client, Report, Server, parse_commands, parse_report};
use wayhop_core::{Fix, FixStatus};

fn here() -> SocketAddr {
    "127.0.0.1:0".parse().expect("an address")
}

fn schenley() -> Fix {
    Fix { latitude_deg: 40.44, longitude_deg: -79.9425, heading_deg: 90.5, speed_m_per_s: 10.25 }
}

fn noon() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000)
}

struct Raw(TcpStream, BufReader<TcpStream>);

impl Raw {
    fn new(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout");
        Self(stream.try_clone().expect("a copy"), BufReader::new(stream))
    }
    fn say(&mut self, line: &str) {
        self.0.write_all(line.as_bytes()).expect("a write");
    }
    fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.1.read_line(&mut line).expect("a line");
        serde_json::from_str(&line).expect("JSON")
    }
    fn hear_class(&mut self, class: &str) -> Value {
        let v = self.hear();
        assert_eq!(v["class"], class, "{v}");
        v
    }
}

#[test]
fn a_client_that_watches_is_answered_and_gets_reports_as_they_are_set() {
    let server = Server::bind(here()).expect("a socket");
    let mut c = Raw::new(server.addresses()[0]);
    assert_eq!(c.hear_class("VERSION")["proto_major"], 3);
    c.say("?WATCH={\"enable\":true,\"json\":true};\n");
    assert_eq!(c.hear_class("DEVICES")["devices"][0]["class"], "DEVICE");
    let watch = c.hear_class("WATCH");
    assert_eq!((&watch["enable"], &watch["json"]), (&true.into(), &true.into()));
    assert_eq!(c.hear_class("TPV")["mode"], 1, "nothing is known yet");
    server.set(&[Some(schenley())], noon());
    let tpv = c.hear_class("TPV");
    assert_eq!(tpv["time"], "2023-11-14T22:13:20.000Z");
    assert_eq!((&tpv["mode"], &tpv["lat"], &tpv["lon"]), (&2.into(), &40.44.into(), &(-79.9425).into()));
    assert_eq!((&tpv["track"], &tpv["speed"]), (&90.5.into(), &10.25.into()));
    c.say("?POLL;\r\n");
    assert_eq!(c.hear_class("POLL")["tpv"][0]["lat"], 40.44);
    c.say("?WATCH={\"enable\":false}\n");
    c.hear_class("DEVICES");
    assert_eq!(c.hear_class("WATCH")["enable"], false);
    server.set(&[None], noon());
    c.say("?VERSION;");
    c.hear_class("VERSION");
}

#[test]
fn each_socket_of_a_server_has_a_receiver_of_its_own() {
    let sockets = (0..3).map(|_| TcpListener::bind(here()).expect("a socket")).collect();
    let server = Server::serve(sockets).expect("a server");
    server.set(&[0.0, 1.0, 2.0].map(|latitude_deg| Some(Fix { latitude_deg, ..schenley() })), noon());
    for n in [2, 0, 1] {
        let mut c = Raw::new(server.addresses()[n]);
        c.hear_class("VERSION");
        c.say("?POLL;");
        assert_eq!(c.hear_class("POLL")["tpv"][0]["lat"], n as f64);
    }
}

#[test]
fn garbage_gets_an_error_and_a_flood_is_cut_off() {
    let server = Server::bind(here()).expect("a socket");
    let mut c = Raw::new(server.addresses()[0]);
    c.hear_class("VERSION");
    for bad in
        ["hello\n", "?WATCH={\"enable\":;\n", "?WATCH={\"enable\":7};\n", "?NONSENSE;", "?WATCH=[1];\n"]
    {
        c.say(bad);
        c.hear_class("ERROR");
    }
    let mut flood = TcpStream::connect(server.addresses()[0]).expect("a connection");
    let mut sent = 0;
    while flood.write_all(&[b'x'; 4096]).is_ok() {
        sent += 4096;
        assert!(sent < 64 * 1024 * 1024, "it reads without end");
    }
    c.say("?VERSION;\n");
    c.hear_class("VERSION");
}

#[test]
fn our_client_follows_our_server_and_finds_it_again_after_a_restart() {
    let wait_for = |what: &dyn Fn() -> bool| {
        while !what() {
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    let server = Server::bind(here()).expect("a socket");
    let address = server.addresses()[0];
    let client = Client::start(&address.to_string()).expect("a thread");
    server.set(&[Some(schenley())], noon());
    wait_for(&|| client.latest().is_some_and(|r| r.fix == schenley()));
    server.set(&[None], noon());
    wait_for(&|| client.latest().is_none());
    drop(server);
    wait_for(&|| client.trouble().is_some());
    let server = Server::bind(address).expect("the same address");
    server.set(&[Some(schenley())], noon());
    wait_for(&|| client.latest().is_some_and(|r| r.fix == schenley()));
    assert_eq!(client.trouble(), None);
}

#[test]
fn gpsds_own_client_understands_us() {
    let server = Server::bind(here()).expect("a socket");
    server.set(&[Some(schenley())], noon());
    let port = server.addresses()[0].port();
    let run = Command::new("gpspipe")
        .args(["-w", "-n", "4", &format!("127.0.0.1:{port}")])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .output();
    let Ok(run) = run else {
        assert!(std::env::var_os("CI").is_none(), "gpspipe is missing: install gpsd-clients");
        eprintln!("skipped: gpspipe is missing (Debian package gpsd-clients)");
        return;
    };
    let text = String::from_utf8_lossy(&run.stdout).into_owned();
    let classes: Vec<String> = text
        .lines()
        .map(|l| {
            serde_json::from_str::<Value>(l).expect("JSON")["class"].as_str().expect("a class").to_owned()
        })
        .collect();
    assert_eq!(classes, ["VERSION", "DEVICES", "WATCH", "TPV"], "{}", String::from_utf8_lossy(&run.stderr));
    assert!(text.contains("40.44") && text.contains("-79.9425"), "{text}");
}

#[test]
fn a_receivers_reports_become_fixes() {
    // As a real receiver's gpsd 3.22 writes them.
    let line = r#"{"class":"TPV","device":"/dev/ttyUSB0","status":2,"mode":3,"time":"2026-03-01T12:00:00.000Z","ept":0.005,
        "lat":52.123456789,"lon":-0.5,"altHAE":98.1,"track":359.99999999,"speed":1.5,"climb":0.1}"#;
    let fix = Fix { latitude_deg: 52.123_456_789, longitude_deg: -0.5, heading_deg: 0.0, speed_m_per_s: 1.5 };
    let Some(Report::Fix(read, quality)) = parse_report(line) else { panic!("no fix") };
    assert_eq!(read, fix);
    assert_eq!((quality.status, quality.mode, quality.altitude_m), (FixStatus::Dgps, 3, Some(98.1)));
    assert_eq!(quality.accuracy_m, None, "nobody told one");
    assert_eq!(parse_report(r#"{"class":"TPV","mode":1}"#), Some(Report::NoFix));
    assert_eq!(parse_report(r#"{"class":"TPV","mode":3,"lat":91.0,"lon":0.0}"#), Some(Report::NoFix));
    assert_eq!(parse_report(r#"{"class":"SKY","hdop":1.2}"#), Some(Report::Other));
    let satellites = r#"{"class":"SKY","satellites":[{"PRN":1,"used":true},{"PRN":2,"used":false}]}"#;
    assert_eq!(parse_report(satellites), Some(Report::Satellites(1)));
    for bad in ["", "TPV", "[]", "{}", r#"{"class":5}"#, r#"{"class":"TPV","mode":"3"}"#] {
        assert_eq!(parse_report(bad), None, "{bad}");
    }
}

proptest! {
    #[test]
    fn any_line_from_a_gpsd_is_read_or_left_and_fixes_are_on_the_earth(
        lat in proptest::num::f64::ANY, lon in proptest::num::f64::ANY, speed in proptest::num::f64::ANY,
        track in proptest::num::f64::ANY, noise in ".{0,80}",
    ) {
        let line = serde_json::json!({"class": "TPV", "mode": 3, "lat": lat, "lon": lon, "track": track, "speed": speed});
        if let Some(Report::Fix(f, _)) = parse_report(&line.to_string()) {
            prop_assert!(f.latitude_deg.abs() <= 90.0 && f.longitude_deg.abs() <= 180.0);
            prop_assert!((0.0..360.0).contains(&f.heading_deg) && f.speed_m_per_s >= 0.0);
        }
        parse_report(&noise);
        parse_report(&format!("{{\"class\":\"TPV\",{noise}}}"));
    }

    #[test]
    fn any_commands_are_understood_or_refused(noise in ".{0,80}") {
        parse_commands(&noise);
        let (understood, refused) = parse_commands(&format!("?POLL;?{noise}"));
        prop_assert!(understood + refused >= 1);
        parse_commands(&format!("?WATCH={noise};?POLL"));
    }
}
