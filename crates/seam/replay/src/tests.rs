//! Logs of a small protocol: written, read, cut, changed, replayed.

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use wayhop_core::{
    Addr, BROADCAST, Carrier, Classified, Configured, Cx, DataPlane, Description, Effect, HostNeeds,
    HostRules, Input, Inspect, Interests, Interface, MessageFormat, Ns2Format, Packet, PacketMeta,
    Parameters, Pool, Profile, Protocol, Purpose, RxMeta, Span, Time, TimerKey, TxReport, TxSpec, ends,
    stream,
};
use wayhop_node::InputContext;

use crate::{
    EffectDifference, End, Engines, Header, LogError, Logs, Pace, Reader, Replay, ReplayReport, ReplayVerdict,
};

/// On each timer it sends a packet of random octets after a random delay, and one more every `period`-th time; what it
/// receives it keeps, and sends on with the next timer.
struct Toy {
    parameters: Arc<Settings>,
    timers: u64,
    kept: Vec<Packet>,
}

#[derive(Debug)]
struct Settings {
    period: u64,
}

impl Parameters for Settings {
    fn engine(self: Arc<Self>) -> Box<dyn Protocol> {
        Box::new(Toy { parameters: self, timers: 0, kept: Vec::new() })
    }
    fn values(&self) -> Map<String, Value> {
        Map::from_iter([("period".to_owned(), self.period.into())])
    }
}

static TOY: Description = Description {
    name: "toy",
    full_name: "Toy",
    specification: "none",
    profiles: &[Profile { name: "plain", about: "as it is", host: HostRules::Standard }],
    schema: || json!({}),
    profile: |_| Some(Map::from_iter([("period".to_owned(), 3.into())])),
    read: |values| {
        let period = values.get("period").and_then(Value::as_u64).ok_or("period: give a number")?;
        Ok(Arc::new(Settings { period }))
    },
    messages: MessageFormat {
        carrier: Carrier::IpProtocol(253),
        classes: &[],
        limited: 0,
        types: &[],
        classify: |_| Classified::default(),
        decode: |_| Vec::new(),
        hop: ends,
        route_header: None,
        authentication: None,
        ns2: Ns2Format { tag: "TOY", tail: |_, _| {} },
    },
    host: HostNeeds::NONE,
    forger: None,
};

impl Protocol for Toy {
    fn data_plane(&self) -> DataPlane {
        DataPlane::PerPacket
    }
    fn interests(&self) -> Interests {
        Interests::default()
    }
    fn start(&mut self, cx: &mut Cx<'_>) {
        cx.set_timer(TimerKey(u64::MAX), Time::from_nanos(5));
    }
    fn on_outbound(&mut self, _: &mut Cx<'_>, p: Packet) {
        self.kept.push(p);
    }
    fn on_frame(&mut self, _: &mut Cx<'_>, p: Packet, _: &RxMeta) {
        self.kept.push(p);
    }
    fn on_tx_status(&mut self, cx: &mut Cx<'_>, report: TxReport) {
        report.packet.into_iter().for_each(|p| cx.consume(p));
    }
    fn on_timer(&mut self, cx: &mut Cx<'_>, key: TimerKey) {
        assert!(key != TimerKey(13), "thirteen");
        self.timers += 1;
        let more = u64::from(self.timers.is_multiple_of(self.parameters.period));
        for _ in 0..=more {
            let mut p = cx.alloc(4);
            p.bytes_mut()[0] = cx.rng().bits() as u8;
            let delay = cx.rng().jitter(Span::from_millis(10));
            cx.send(p, TxSpec::unicast(BROADCAST).after(delay));
        }
        for p in self.kept.drain(..) {
            cx.send(p, TxSpec::broadcast());
        }
        let queued = u64::from(cx.queue_len());
        cx.note("queued", cx.addr(), queued);
        let neighbour = Ipv4Addr::new(10, 0, 0, 9);
        cx.note("acknowledged", neighbour, u64::from(cx.link_acknowledges(neighbour)));
    }
    fn inspect(&self, _: Time, _: &mut dyn Inspect) {}
}

fn configured(period: u64) -> Configured {
    Configured::new(&TOY, "plain", Arc::new(Settings { period }))
}

fn engines(period: u64) -> Engines {
    Engines { first: configured(period), after_reboot: configured(period) }
}

fn ip(source: [u8; 4]) -> Vec<u8> {
    let mut p = vec![0x45, 0, 0, 24, 0, 7, 0, 0, 5, 253, 0, 0];
    p.extend(source);
    p.extend([10, 0, 0, 2, 1, 2, 3, 4]);
    p
}

/// A log that has begun.
fn begun(path: &Path, header: Header) -> Logs {
    let mut logs = Logs::create(vec![(path.to_owned(), header)], Pace::Whole).unwrap();
    logs.begin().unwrap();
    logs
}

/// Runs a toy for some time, and logs it.
fn record(logs: &mut Logs, node: u32, inputs: u64) {
    record_rebooting(logs, node, inputs, 3);
}

/// The same; after its reboot the toy has another period.
fn record_rebooting(logs: &mut Logs, node: u32, inputs: u64, period: u64) {
    let mut engine = configured(3).engine();
    let mut rng = stream(1, Purpose::Protocol, u64::from(node));
    let (mut pool, mut next_id, mut effects) = (Pool::new(), 100, Vec::<Effect>::new());
    for n in 0..inputs {
        let at = Time::from_nanos(n * 1_000_000);
        let packet = |pool: &mut Pool| {
            pool.packet(&ip([10, 0, 0, 3]), PacketMeta { born: at, ..PacketMeta::default() })
        };
        let input = match n {
            0 => Input::Start,
            // A reboot: a new engine, whose stream is where it is.
            20 => {
                engine = configured(period).engine();
                Input::Start
            }
            n if n % 4 == 1 => Input::Outbound(packet(&mut pool)),
            n if n % 4 == 2 => Input::Frame(
                packet(&mut pool),
                RxMeta::from(Ipv4Addr::new(10, 0, 0, 9), true).with_signal(-71.3),
            ),
            n => Input::Timer(TimerKey(n)),
        };
        let interface = Interface { queued: n as u32 % 3, acknowledges: n % 2 == 0 };
        let neighbours = [Addr::from(Ipv4Addr::new(10, 0, 0, 3)), Ipv4Addr::new(10, 0, 0, 9).into()];
        let exceptions = &neighbours[..n as usize % 3];
        logs.input(at, node, 0, &InputContext { interface, exceptions, next_id, rng: &rng }, &input);
        let addr = Ipv4Addr::new(10, 0, 0, 1);
        engine.on_input(
            &mut Cx::new(at, addr, interface, &mut rng, &mut pool, &mut next_id, &mut effects)
                .with_exceptions(exceptions),
            input,
        );
        logs.effects(&effects);
        effects.clear();
    }
}

fn header(node: u32) -> Header {
    Header::new("sim", "toys", &configured(3), 1).of_node(
        Some(node),
        "one",
        Ipv4Addr::new(10, 0, 0, 1),
        Vec::new(),
    )
}

/// The text of a whole log.
fn log() -> String {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("one.jsonl");
    let mut logs = begun(&path, header(0));
    record(&mut logs, 0, 40);
    logs.finish().unwrap();
    std::fs::read_to_string(path).unwrap()
}

fn reader(text: &[u8]) -> Result<Reader, LogError> {
    Reader::new("one.jsonl", Box::new(std::io::Cursor::new(text.to_vec())))
}

/// Replays the rest of a log: the inputs that the engine answers otherwise.
fn differences(replay: &mut Replay) -> Result<Vec<EffectDifference>, LogError> {
    let mut found = Vec::new();
    while !replay.is_over() {
        found.extend(replay.step()?);
    }
    Ok(found)
}

/// Replays a text with a toy of another period.
fn replay(text: &[u8], period: u64) -> Result<(ReplayReport, Vec<u64>), LogError> {
    let mut replay = Replay::new(reader(text)?, engines(period));
    let lines = differences(&mut replay)?.iter().map(|d| d.line).collect();
    Ok((replay.report().clone(), lines))
}

#[test]
fn an_engine_that_gets_its_log_does_the_same_and_another_does_not() {
    let text = log();
    let (report, lines) = replay(text.as_bytes(), 3).unwrap();
    assert_eq!((report.verdict(), report.inputs, &report.end), (ReplayVerdict::Same, 40, &End::Whole));
    assert!(lines.is_empty() && report.effects > 40, "{report:?}");
    // Timers come with inputs 3, 4, 7, ...: the first engine sends two with its third, the other with its second.
    let (report, lines) = replay(text.as_bytes(), 2).unwrap();
    assert_eq!(
        (report.verdict(), lines[0], report.differences),
        (ReplayVerdict::Differs, 2 + 4, lines.len() as u64)
    );
}

#[test]
fn a_log_that_is_cut_anywhere_is_the_same_so_far_and_never_whole() {
    let text = log();
    let header = text.find('\n').unwrap() + 1;
    for cut in 0..text.len() {
        match replay(&text.as_bytes()[..cut], 3) {
            Err(e) => assert!(cut < header && e.line == Some(1), "{cut}: {e}"),
            // The last line is complete without its newline, too.
            Ok((report, _)) if cut == text.len() - 1 => assert_eq!(report.end, End::Whole),
            Ok((report, _)) => {
                let whole = text[header..cut].matches('\n').count() as u64;
                assert!(cut >= header && matches!(report.end, End::Cut(_)), "{cut}: {report:?}");
                assert_eq!((report.verdict(), report.inputs), (ReplayVerdict::SameSoFar, whole), "{cut}");
                assert_eq!(report.line, 1 + whole, "{cut}");
            }
        }
    }
}

#[test]
fn what_is_no_log_is_refused_with_its_file_and_line() {
    let text = log();
    let replaced = |line: usize, by: &str| {
        let mut lines: Vec<&str> = text.lines().collect();
        lines[line - 1] = by;
        lines.join("\n") + "\n"
    };
    let end = text.lines().count();
    let twice = format!("{text}{text}");
    let newer = format!(
        "one.jsonl:1: this log has version 2 of the format, but this Wayhop reads version 1: replay it with the Wayhop {} that wrote \
         it, or record it again",
        wayhop_core::version::full()
    );
    let missing = replaced(7, "").replace("\n\n", "\n");
    for (wrong, message) in [
        (String::new(), "one.jsonl:1: the file is empty"),
        ("[nodes]\ncount = 3\n".to_owned(), "one.jsonl:1: not a log of inputs: its first line is not JSON"),
        ("{\"format\":\"x\"}\n".to_owned(), "one.jsonl:1: not a log of inputs: its first line does not say"),
        (text.replacen("\"version\":1", "\"version\":2", 1), &newer),
        (replaced(5, "nonsense"), "one.jsonl:5: not a line of a log of inputs: expected"),
        (replaced(5, "{\"at\":1}"), "one.jsonl:5: not a line of a log of inputs: missing field `id`"),
        (replaced(2, text.lines().nth(2).unwrap()), "one.jsonl:2: the first input of a log is `start`"),
        (
            replaced(9, text.lines().nth(2).unwrap()),
            "one.jsonl:9: time goes backwards, from 6000000 to 1000000 ns",
        ),
        (replaced(end, "{\"end\":3}"), "one.jsonl:42: not a final line of a log"),
        (missing, "one.jsonl:41: the log should have 40 inputs"),
        (twice, "one.jsonl:43: the log continues after its final line"),
        (
            text.replace(r#"["10.0.0.3","10.0.0.9"]"#, r#"["10.0.0.9","10.0.0.3"]"#),
            "one.jsonl:4: `exceptions` are not in order",
        ),
        (text.replace("45000018", "95000018"), "one.jsonl:3: the input's packet is not an IP packet"),
    ] {
        let e = replay(wrong.as_bytes(), 3).unwrap_err().to_string();
        assert!(e.starts_with(message), "{e}\ninstead of\n{message}");
    }
}

#[test]
fn an_engine_that_panics_is_a_difference_and_its_log_names_the_input() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("one.jsonl");
    let mut logs = begun(&path, header(0));
    record(&mut logs, 0, 4);
    let (rng, interface) = (stream(1, Purpose::Protocol, 0), Interface::default());
    let at = Time::from_nanos(9_000_000);
    logs.input(
        at,
        0,
        0,
        &InputContext { interface, exceptions: &[], next_id: 7, rng: &rng },
        &Input::Timer(TimerKey(13)),
    );
    drop(logs);
    let text = std::fs::read_to_string(path).unwrap();
    let last = text.lines().last().unwrap();
    assert!(last.ends_with("\"in\":{\"timer\":13}") && !text.ends_with('\n'), "{last}");
    let (report, _) = replay(text.as_bytes(), 3).unwrap();
    assert_eq!((report.verdict(), report.inputs), (ReplayVerdict::SameSoFar, 4));

    let mut replay = Replay::new(reader(format!("{text},\"out\":[]}}\n").as_bytes()).unwrap(), engines(3));
    let found = differences(&mut replay).unwrap().pop();
    assert_eq!(found.and_then(|d| d.panicked).as_deref(), Some("thirteen"));
}

#[test]
fn an_engine_after_a_reboot_has_the_parameters_of_one() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("one.jsonl");
    let header = header(0).rebooting_as(&configured(2));
    let mut logs = begun(&path, header);
    record_rebooting(&mut logs, 0, 40, 2);
    logs.finish().unwrap();
    let log = || Reader::open(&path).unwrap();
    let verdict = |engines: Engines| {
        let mut replay = Replay::new(log(), engines);
        differences(&mut replay).unwrap();
        replay.report().verdict()
    };
    assert_eq!(verdict(log().header().engines(&TOY).unwrap()), ReplayVerdict::Same);
    assert_eq!(verdict(engines(3)), ReplayVerdict::Differs, "it can fail");
}

#[test]
fn a_parameter_younger_than_the_log_has_its_profiles_value() {
    let old = Header { parameters: Map::new(), ..header(0) };
    assert_eq!(old.engines(&TOY).unwrap().first.values()["period"], 3);
    let wrong = Header { parameters: Map::from_iter([("period".to_owned(), "x".into())]), ..header(0) };
    assert_eq!(wrong.engines(&TOY).unwrap_err(), "not parameters of toy: period: give a number");
}

#[test]
fn more_logs_than_descriptors_are_written_whole() {
    let dir = tempfile::tempdir().unwrap();
    let path = |n: u32| dir.path().join(format!("{n}.jsonl"));
    let mut logs = Logs::create((0..3_000).map(|n| (path(n), header(n))).collect(), Pace::Whole).unwrap();
    logs.begin().unwrap();
    for n in 0..3_000 {
        record(&mut logs, n, 6);
    }
    let open = std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
    assert!(open < 500, "{open} files are open");
    logs.finish().unwrap();
    for n in 0..3_000 {
        let (report, _) = replay(&std::fs::read(path(n)).unwrap(), 3).unwrap();
        assert_eq!((report.verdict(), report.inputs), (ReplayVerdict::Same, 6), "{n}");
    }
}

#[test]
fn two_nodes_do_not_write_one_file() {
    let twice = vec![(PathBuf::from("x/a_b.jsonl"), header(0)), (PathBuf::from("x/a_b.jsonl"), header(1))];
    let e = Logs::create(twice, Pace::Whole).err().unwrap();
    assert!(e.starts_with("two nodes would write x/a_b.jsonl"), "{e}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_ends_a_log_and_not_the_run() {
    for pace in [Pace::Whole, Pace::RealTime] {
        let mut logs = Logs::create(vec![(PathBuf::from("/dev/full"), header(0))], pace).unwrap();
        logs.begin().unwrap();
        let mut turns = 0;
        while logs.wants(0) {
            assert!(turns < 1_000_000, "nothing fails");
            record(&mut logs, 0, 2);
            turns += 1;
        }
        let news = logs.news().unwrap();
        assert!(news.starts_with("cannot write /dev/full: No space left"), "{news}");
        assert_eq!(logs.news(), None, "once is enough");
        assert_eq!(logs.finish(), Ok(()));
    }
}

#[test]
fn gzip_is_read_as_it_is_and_half_of_it_as_half_a_log() {
    use std::io::Write as _;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("one.jsonl.gz");
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(log().as_bytes()).unwrap();
    let packed = gzip.finish().unwrap();
    let open = |octets: &[u8]| {
        std::fs::write(&path, octets).unwrap();
        let mut replay = Replay::new(Reader::open(&path).unwrap(), engines(3));
        assert_eq!(differences(&mut replay), Ok(Vec::new()));
        replay.report().clone()
    };
    assert_eq!(open(&packed).verdict(), ReplayVerdict::Same);
    assert_eq!(open(&packed[..packed.len() - 200]).verdict(), ReplayVerdict::SameSoFar);
    let missing = Reader::open(Path::new("/no/such/log")).err().unwrap().to_string();
    assert!(missing.starts_with("/no/such/log: cannot read it: No such file"), "{missing}");
}

proptest! {
    #[test]
    fn no_octets_make_the_reader_or_the_replay_panic(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        cut in any::<prop::sample::Index>(),
        junk in proptest::collection::vec(any::<u8>(), 0..60),
    ) {
        let mut text = log().into_bytes();
        for (at, octet) in changes {
            let at = at.index(text.len());
            text[at] = octet;
        }
        text.truncate(cut.index(text.len()) + 1);
        text.extend(junk);
        if let Ok(reader) = reader(&text) {
            let changed = reader.header().engines(&TOY);
            let mut replay = Replay::new(reader, changed.unwrap_or_else(|_| engines(3)));
            while !replay.is_over() && replay.step().is_ok() {}
        }
    }
}
