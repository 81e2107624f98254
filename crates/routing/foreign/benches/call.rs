//! What the C interface costs: nanoseconds per call of a library's functions, of the same in Rust and in Python, and of a
//! message to another process and back. `cargo bench -p wayhop-foreign`; needs `cc`, `python3` and `cat`.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "a bench measures time")]

use std::fs::File;
use std::hint::black_box;
use std::io::{Read as _, Write as _};
use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Instant;

use serde_json::Map;
use wayhop_core::{
    Cx, DataPlane, Effect, Inspect, Interests, Interface, Packet, PacketMeta, Pool, Protocol, Purpose, Rng,
    RxMeta, Time, TimerKey, TxReport, stream,
};
use wayhop_foreign::progress::{FILE_BYTES, report_to};

const CALLS: u32 = 2_000_000;
const MESSAGES: u32 = 100_000;

/// A timer does nothing; a frame is read and consumed.
const SOURCE: &str = r#"
#include <stdlib.h>
#include "wayhop.h"
static void *create(void *r, const wayhop_node *n, char *p, size_t s) { (void)r, (void)n, (void)p, (void)s; return malloc(1); }
static void start(void *e, const wayhop_cx *cx) { (void)e, (void)cx; }
static void timer(void *e, const wayhop_cx *cx, uint64_t k) { (void)e, (void)cx, (void)k; }
static void packet(void *e, const wayhop_cx *cx, wayhop_packet p) { (void)e; wayhop_consume(cx, p); }
static void frame(void *e, const wayhop_cx *cx, wayhop_packet p, const wayhop_rx *rx) {
    size_t length; (void)e, (void)rx;
    if (wayhop_bytes(cx, p, &length)[0] != 0) wayhop_consume(cx, p);
}
static void status(void *e, const wayhop_cx *cx, const wayhop_tx_report *r) { (void)e, (void)cx, (void)r; }
static const wayhop_protocol_library library = {
    .abi_version = 1, .size = sizeof library, .name = "bench", .carrier_number = 7000,
    .create = create, .destroy = free, .start = start, .outbound = packet, .frame = frame,
    .tx_status = status, .timer = timer,
};
const wayhop_protocol_library *wayhop_protocol(uint32_t v) { (void)v; return &library; }
"#;

/// The same in Python.
const MODULE: &str = "
import wayhop
class Bench(wayhop.Protocol):
    carrier = wayhop.udp(7001)
    def on_frame(self, cx, packet, rx):
        if packet.data[0] != 0:
            cx.consume(packet)
";

/// The same in Rust.
struct Native;

impl Protocol for Native {
    fn data_plane(&self) -> DataPlane {
        DataPlane::PerPacket
    }
    fn interests(&self) -> Interests {
        Interests::default()
    }
    fn start(&mut self, _: &mut Cx<'_>) {}
    fn on_outbound(&mut self, cx: &mut Cx<'_>, p: Packet) {
        cx.consume(p);
    }
    fn on_frame(&mut self, cx: &mut Cx<'_>, p: Packet, _: &RxMeta) {
        if p.bytes()[0] != 0 {
            cx.consume(p);
        }
    }
    fn on_tx_status(&mut self, _: &mut Cx<'_>, _: TxReport) {}
    fn on_timer(&mut self, _: &mut Cx<'_>, _: TimerKey) {}
    fn inspect(&self, _: Time, _: &mut dyn Inspect) {}
}

fn library(folder: &Path) -> PathBuf {
    let (source, out) = (folder.join("bench.c"), folder.join("libbench.so"));
    std::fs::write(&source, SOURCE).expect("a file");
    let status = Command::new("cc")
        .args(["-O2", "-shared", "-fPIC", "-I", concat!(env!("CARGO_MANIFEST_DIR"), "/include"), "-o"])
        .args([&out, &source])
        .status()
        .expect("a C compiler");
    assert!(status.success());
    out
}

/// The host's side of calls.
struct Host {
    rng: Rng,
    pool: Pool,
    next_id: u64,
    effects: Vec<Effect>,
}

impl Host {
    fn call(&mut self, engine: &mut dyn Protocol, f: impl FnOnce(&mut dyn Protocol, &mut Cx<'_>)) {
        let own = Ipv4Addr::new(10, 0, 0, 1);
        let (rng, pool, id) = (&mut self.rng, &mut self.pool, &mut self.next_id);
        let mut cx = Cx::new(Time::ZERO, own, Interface::default(), rng, pool, id, &mut self.effects);
        f(engine, &mut cx);
        for effect in self.effects.drain(..) {
            if let Effect::Consume(p) = effect {
                self.pool.recycle(p);
            }
        }
    }

    fn measure(&mut self, name: &str, engine: &mut dyn Protocol) {
        let begun = Instant::now();
        for i in 0..CALLS {
            self.call(engine, |e, cx| e.on_timer(cx, TimerKey(black_box(u64::from(i)))));
        }
        let timer = begun.elapsed().as_nanos() as f64 / f64::from(CALLS);
        let frame = self.frames(engine, CALLS);
        println!("{name:10} timer {timer:6.1} ns   frame (2 functions of cx) {frame:6.1} ns");
    }

    /// Nanoseconds per frame.
    fn frames(&mut self, engine: &mut dyn Protocol, count: u32) -> f64 {
        let rx = RxMeta::from(Ipv4Addr::new(10, 0, 0, 2), true);
        let begun = Instant::now();
        for _ in 0..count {
            let p = self.pool.packet(black_box(&[0x45; 64]), PacketMeta::default());
            self.call(engine, |e, cx| e.on_frame(cx, p, &rx));
        }
        begun.elapsed().as_nanos() as f64 / f64::from(count)
    }
}

/// A message of 64 bytes to another process, and its answer.
fn round_trip() -> f64 {
    let (mut own, other) = UnixStream::pair().expect("a socket pair");
    let input = OwnedFd::from(other.try_clone().expect("a second descriptor"));
    let mut child = Command::new("cat")
        .stdin(Stdio::from(input))
        .stdout(Stdio::from(OwnedFd::from(other)))
        .spawn()
        .expect("cat");
    let mut message = [7; 64];
    let begun = Instant::now();
    for _ in 0..MESSAGES {
        own.write_all(&message).expect("sent");
        own.read_exact(&mut message).expect("received");
    }
    let each = begun.elapsed().as_nanos() as f64 / f64::from(MESSAGES);
    drop(own);
    let _ = child.wait();
    each
}

fn main() {
    let folder = std::env::temp_dir().join(format!("wayhop-call-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a directory");
    let shared = folder.join("shared");
    let file =
        File::options().read(true).write(true).create(true).truncate(true).open(shared).expect("a file");
    file.set_len(FILE_BYTES).expect("room");
    let module = folder.join("module.py");
    std::fs::write(&module, MODULE).expect("a file");
    let [mut engine, mut in_python] = [library(&folder), module].map(|file| {
        let description = wayhop_foreign::load(&file).expect("a protocol");
        let parameters = (description.read)(Map::new()).expect("defaults");
        Arc::clone(&parameters).engine()
    });
    let rng = stream(1, Purpose::Protocol, 0);
    let mut host = Host { rng, pool: Pool::new(), next_id: 0, effects: Vec::new() };
    for e in [&mut engine, &mut in_python] {
        host.call(&mut **e, |e, cx| e.start(cx));
    }
    host.measure("rust", &mut Native);
    host.measure("c", &mut *engine);
    report_to(file).expect("a page");
    host.measure("supervised", &mut *engine);
    println!("python     frame (2 functions of cx) {:.0} ns", host.frames(&mut *in_python, MESSAGES));
    println!("another process and back {:.0} ns", round_trip());
    std::fs::remove_dir_all(&folder).expect("the bench's own directory");
}
