//! A run in progress, played by a control socket with prepared answers.

use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use crate::asking::Server as Studio;
use serde_json::{Value, json};
use tungstenite::client::IntoClientRequest as _;
use tungstenite::http::HeaderName;
use tungstenite::{Error, Message, WebSocket};
use wayhop_control::{About, Call, ControlError, ErrorCode, Event, NodeAbout, Request, Server};

/// A run of two nodes, its studio, and what was asked of it.
struct OpenRun {
    server: Arc<Server>,
    name: String,
    studio: Arc<Studio>,
    asked: Arc<Mutex<Vec<Request>>>,
    ends: Arc<AtomicBool>,
    time_ms: Arc<AtomicU64>,
}

fn answer(call: Call, time_s: f64, asked: &Mutex<Vec<Request>>) {
    let request = call.request.clone();
    // As a lab does while one of its nodes is down.
    if call.node.is_none() && matches!(request, Request::Counters {}) {
        let down = ControlError::new(ErrorCode::Refused, "node 1 is down", "try again after its outage");
        return call.answer(Err(down));
    }
    let value = match &request {
        Request::Position {} => json!({"time_s": time_s, "nodes": [
            {"node": 0, "name": "a", "local": {"x": 10.0 * time_s, "y": 2.0, "z": 0.0}},
            {"node": 1, "name": "b", "earth": {"latitude_deg": 48.0, "longitude_deg": 11.0}, "overridden": true},
        ]}),
        Request::Counters {} => {
            json!({"time_s": time_s, "nodes": [{"node": 0, "name": "a", "counters": {"sent": 5}}]})
        }
        _ => {
            asked.lock().unwrap().push(request);
            Value::Null
        }
    };
    call.answer(Ok(value));
}

impl OpenRun {
    fn new(test: &str) -> Self {
        let name = format!("studio-{test}-{}", std::process::id());
        let nodes = ["a", "b"].iter().enumerate();
        let nodes = nodes.map(|(i, n)| NodeAbout::new(i as u32, n, [10, 0, 0, i as u8 + 1].into())).collect();
        let about = About { range_m: Some(250.0), ..About::new(&name, "emulation", "dsr", nodes) };
        let server = Arc::new(Server::for_run(&about).expect("a socket"));
        let asked = Arc::<Mutex<Vec<Request>>>::default();
        let (ends, time_ms) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(1)));
        thread::spawn({
            let (server, asked) = (Arc::clone(&server), Arc::clone(&asked));
            let (ends, time_ms) = (Arc::clone(&ends), Arc::clone(&time_ms));
            move || {
                while !ends.load(Ordering::Relaxed) {
                    let time_s = time_ms.fetch_add(1, Ordering::Relaxed) as f64 / 1e3;
                    while let Some(call) = server.next() {
                        answer(call, time_s, &asked);
                    }
                    thread::sleep(Duration::from_millis(1));
                }
            }
        });
        let (of_studio, at) = (name.clone(), "127.0.0.1:0".parse().expect("an address"));
        let studio = Studio::started(move |ready| {
            wayhop_studio::serve_live(Some(of_studio), "/nowhere".as_ref(), at, ready)
        });
        Self { server, name, studio: Arc::new(studio), asked, ends, time_ms }
    }

    /// A connection of the page, which goes on after a message.
    fn watch(&self, after: Option<(&str, u64)>) -> Viewer {
        let (at, cookie) = (self.studio.at, self.studio.cookie());
        let after = after.map_or_else(String::new, |(hub, n)| format!("&hub={hub}&after={n}"));
        let url = format!("ws://{at}/api/live/watch?run={}{after}", self.name);
        let mut request = url.into_client_request().expect("a request");
        for line in [format!("Origin: http://{at}"), cookie] {
            let (name, value) = line.split_once(": ").expect("a line of a head");
            let name = HeaderName::from_bytes(name.as_bytes()).expect("a name");
            request.headers_mut().insert(name, value.parse().expect("text"));
        }
        let stream = TcpStream::connect(at).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout");
        let (socket, _) = tungstenite::client(request, stream).expect("a WebSocket");
        Viewer { socket }
    }

    fn packet(&self, number: u64) {
        self.server.publish(&Event::Packet {
            time_s: self.time_ms.load(Ordering::Relaxed) as f64 / 1e3,
            node: 1,
            event: "forward".to_owned(),
            packet: number,
            flow: Some(2),
            seq: Some(number as u32),
            bytes: 64,
            // UDP from 10.0.0.1, port 5001, to 10.0.0.2, port 5201.
            head: "4500004000000000401100000a0000010a00000213891451002c0000".to_owned(),
            interface: None,
            peer: Some("10.0.0.1".parse().unwrap()),
            signal_dbm: None,
            reason: None,
        });
    }
}

impl Drop for OpenRun {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
    }
}

struct Viewer {
    socket: WebSocket<TcpStream>,
}

/// A message, and of a frame its head and the packets' numbers.
enum Heard {
    Said(Value),
    Packets(Value, Vec<f64>),
}

impl Viewer {
    /// The next message; none at the end.
    fn next(&mut self) -> Option<Heard> {
        loop {
            match self.socket.read() {
                Ok(Message::Text(text)) => {
                    return Some(Heard::Said(serde_json::from_str(&text).expect("JSON")));
                }
                Ok(Message::Binary(octets)) => return Some(frame(&octets)),
                Ok(Message::Close(_)) | Err(Error::ConnectionClosed | Error::AlreadyClosed) => return None,
                Ok(_) => {}
                Err(e) => panic!("{e}"),
            }
        }
    }

    fn said(&mut self, kind: &str) -> Value {
        loop {
            if let Some(Heard::Said(value)) = self.next()
                && value["kind"] == kind
            {
                return value;
            }
        }
    }

    fn ask(&mut self, request: &Value) -> Value {
        self.socket.send(Message::Text(request.to_string().into())).expect("it takes the request");
        self.said("answer")
    }
}

fn frame(octets: &[u8]) -> Heard {
    let length = u32::from_le_bytes(octets[4..8].try_into().unwrap()) as usize;
    let head: Value = serde_json::from_slice(&octets[8..8 + length]).expect("JSON");
    let rows = head["rows"].as_u64().unwrap() as usize;
    let columns = head["columns"].as_array().unwrap();
    let packet = columns.iter().find(|c| c["name"] == "packet").expect("the column");
    let at = 8 + length + packet["offset"].as_u64().unwrap() as usize;
    let numbers =
        octets[at..at + 8 * rows].chunks(8).map(|c| f64::from_le_bytes(c.try_into().unwrap())).collect();
    Heard::Packets(head, numbers)
}

#[test]
fn a_viewer_hears_who_runs_where_nodes_are_and_what_becomes_of_packets() {
    let run = OpenRun::new("hears");
    let mut viewer = run.watch(None);
    let about = viewer.said("run");
    assert_eq!((&about["names"], &about["range_m"]), (&json!(["a", "b"]), &json!(250.0)));
    let places = viewer.said("places");
    let x = places["at"][0][0].as_f64().unwrap();
    assert!((x - 10.0 * places["time_s"].as_f64().unwrap()).abs() < 1e-9, "{places}");
    // The only node whose place is known on the earth alone is the origin of the frame.
    assert_eq!((&places["at"][1], &places["moved"]), (&json!([0.0, 0.0, 0.0]), &json!([false, true])));
    let counters = viewer.said("counters");
    assert_eq!((&counters["of"]["0"]["sent"], &counters["up"]), (&json!(5), &json!([true, true])));
    run.packet(77);
    let flow = &viewer.said("flows")["flows"][0];
    let ends = (&flow["id"], &flow["kind"], &flow["src"], &flow["dst"], &flow["src_port"], &flow["dst_port"]);
    assert_eq!(ends, (&json!(2), &json!("udp"), &json!(0), &json!(1), &json!(5001), &json!(5201)));
    let head = loop {
        if let Some(Heard::Packets(head, numbers)) = viewer.next()
            && !numbers.is_empty()
        {
            assert_eq!(numbers, [77.0]);
            break head;
        }
    };
    assert_eq!(head["events"], json!(["forward"]));
    run.server.publish(&Event::Lost { count: 3 });
    assert_eq!(viewer.said("event")["event"]["count"], 3);
    // Who comes later hears of the flow at once.
    assert_eq!(run.watch(None).said("run")["flows"][0]["id"], 2);
}

#[test]
fn who_comes_back_misses_nothing_and_hears_nothing_twice() {
    let run = OpenRun::new("back");
    let mut viewer = run.watch(None);
    let hub = viewer.said("run")["hub"].as_str().unwrap().to_owned();
    let mut heard = Vec::new();
    let mut last = (0, 0);
    let mut published = 0;
    // The connection is dropped again and again, in the middle of what is said.
    for _ in 0..10 {
        for _ in 0..20 {
            run.packet(published);
            published += 1;
        }
        for _ in 0..7 {
            match viewer.next().expect("the run goes on") {
                Heard::Said(value) => last.0 = value["n"].as_u64().unwrap_or(last.0),
                Heard::Packets(head, numbers) => {
                    assert!(
                        last.1 == 0 || head["from_ns"].as_i64().unwrap() == last.1,
                        "a gap after {}",
                        last.1
                    );
                    (last.0, last.1) = (head["n"].as_u64().unwrap(), head["until_ns"].as_i64().unwrap());
                    heard.extend(numbers);
                }
            }
        }
        viewer = run.watch(Some((&hub, last.0)));
    }
    while heard.len() < published as usize {
        if let Some(Heard::Packets(_, numbers)) = viewer.next() {
            heard.extend(numbers);
        }
    }
    let all: Vec<f64> = (0..published).map(|n| n as f64).collect();
    assert_eq!(heard, all);
}

#[test]
fn a_viewer_moves_nodes_and_does_not_end_runs() {
    let run = OpenRun::new("moves");
    let mut viewer = run.watch(None);
    let place = json!({"wayhop": 1, "id": 4, "node": 1, "do": "set-position", "place": {"x": 5.0, "y": 6.0}});
    assert_eq!(viewer.ask(&place), json!({"kind": "answer", "id": 4, "ok": null}));
    for (n, wrong) in [
        json!({"wayhop": 1, "id": 5, "do": "quit"}),
        json!({"wayhop": 1, "id": 6, "do": "set-parameters", "values": {}}),
        json!({"wayhop": 1, "id": 7, "do": "capture", "node": 0}),
        json!({"wayhop": 1, "id": 8, "do": "set-position", "node": 99, "place": {"x": 0.0, "y": 0.0}}),
        json!({"wayhop": 1, "id": 9, "do": "dance"}),
    ]
    .into_iter()
    .enumerate()
    {
        let answer = viewer.ask(&wrong);
        assert!(answer["id"] == n + 5 && answer["error"].is_string(), "{answer}");
    }
    viewer.socket.send(Message::Text("no JSON".into())).unwrap();
    assert!(viewer.said("answer")["error"].is_string());
    let asked = run.asked.lock().unwrap().clone();
    assert!(matches!(asked[..], [Request::SetPosition { .. }]), "{asked:?}");
    // What is too long ends the connection, not the studio.
    let _ = viewer.socket.send(Message::Text("x".repeat(1 << 20).into()));
    while viewer.socket.read().is_ok() {}
    run.watch(None).said("places");
}

#[test]
fn viewers_are_told_when_the_run_ends_and_can_ask_for_it_again() {
    let run = OpenRun::new("ends");
    let mut viewers = [run.watch(None), run.watch(None)];
    for v in &mut viewers {
        v.said("places");
    }
    let (name, studio) = (run.name.clone(), Arc::clone(&run.studio));
    run.ends.store(true, Ordering::Relaxed);
    thread::sleep(Duration::from_millis(50));
    drop(run);
    for v in &mut viewers {
        assert!(v.said("end")["why"].is_string());
        assert!(v.next().is_none(), "nothing follows");
    }
    let answer = studio.get_with("/api/live", &[&format!("Host: {}", studio.at), &studio.cookie()]);
    assert_eq!(answer.json(), json!({"runs": []}), "{name}");
}

#[test]
fn nobody_without_the_token_follows_a_run() {
    let run = OpenRun::new("strangers");
    let at = run.studio.at;
    let upgrade = [
        format!("Host: {at}"),
        "Upgrade: websocket".to_owned(),
        "Sec-WebSocket-Version: 13".to_owned(),
        "Sec-WebSocket-Key: d2F5aG9wIHdheWhvcCB3YQ==".to_owned(),
    ];
    let (cookie, own) = (run.studio.cookie(), format!("Origin: http://{at}"));
    let path = format!("/api/live/watch?run={}", run.name);
    for lines in [
        vec![own.as_str()],
        vec![own.as_str(), "Cookie: wayhop-studio-1=00000000000000000000000000000000"],
        vec![cookie.as_str()],
        vec![cookie.as_str(), "Origin: http://rebound.example"],
        vec![cookie.as_str(), own.as_str(), "Sec-Fetch-Site: cross-site"],
    ] {
        let all: Vec<&str> = upgrade.iter().map(String::as_str).chain(lines.iter().copied()).collect();
        let answer = run.studio.get_with(&path, &all);
        assert_eq!(answer.status, 403, "{lines:?}");
        assert!(!String::from_utf8_lossy(&answer.body).contains(&run.name), "{lines:?}");
    }
    assert_eq!(run.studio.get_with("/api/live", &[&upgrade[0]]).status, 403);
}
