//! Positions from Debian's gpsd, to which gpsfake feeds NMEA as a receiver with RTK corrections would send it.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::mesh::{Mesh, WAYHOP, skip_without_root};

/// An NMEA sentence: the checksum is the exclusive or of what is between `$` and `*`.
fn sentence(body: &str) -> String {
    format!("${body}*{:02X}\r\n", body.bytes().fold(0, |sum, b| sum ^ b))
}

/// A receiver at 40.44 north, 79.9425 west for ten minutes at five reports a second, with this quality in GGA (1: autonomous, 4: RTK fixed,
/// 5: RTK float) and these deviations north, east and up in GST.
fn nmea(quality: u8, deviations: [&str; 3]) -> String {
    let mut text = String::new();
    for i in 0..3000 {
        let time = format!("12{:02}{:02}.{}0", i / 300, i / 5 % 60, i % 5 * 2);
        let _ = write!(
            text,
            "{}{}{}",
            sentence(&format!("GNRMC,{time},A,4026.4000,N,07956.5500,W,4.86,090.0,221126,,,A")),
            sentence(&format!(
                "GNGGA,{time},4026.4000,N,07956.5500,W,{quality},09,0.9,300.0,M,-33.0,M,1.5,0001"
            )),
            sentence(&format!("GNGST,{time},1.0,,,,{}", deviations.join(","))),
        );
    }
    text
}

/// gpsfake and the gpsd that it starts, in a process group of their own: gpsfake may not heed SIGTERM.
struct Gpsfake(Child);

impl Gpsfake {
    fn start(mesh: &Mesh, i: usize, name: &str, text: &str) -> Self {
        use std::os::unix::process::CommandExt as _;
        let file: PathBuf = mesh.folder().join(name);
        fs::write(&file, text).unwrap();
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &mesh.host(i), "timeout", "--foreground", "-k", "1", "300"]);
        command.args(["gpsfake", "-q", "-P", "2947", "-c", "0.06"]).arg(&file);
        let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Self(quiet.process_group(0).spawn().expect("gpsfake (.ci/install test)"))
    }
}

impl Drop for Gpsfake {
    fn drop(&mut self) {
        let group = format!("-{}", self.0.id());
        let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
        let _ = self.0.wait();
    }
}

fn table(run: &Path, table: &str) -> Vec<String> {
    let mut text = Vec::new();
    wayhop_trace::export_csv(
        &wayhop_trace::RunDir::open(run, wayhop_protocols::CLASSIFIER).unwrap(),
        table,
        &mut text,
    )
    .unwrap();
    String::from_utf8(text).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn a_receivers_quality_is_told_and_recorded_and_neighbours_hear_where_the_node_is() {
    skip_without_root!();
    let mut mesh = Mesh::line(2);
    fs::set_permissions(mesh.folder(), fs::Permissions::from_mode(0o755)).unwrap();
    let (run, heard) = (mesh.folder().join("saved"), mesh.folder().join("heard"));
    let log = mesh.folder().join("log/node.jsonl");
    let sets = [
        "control=rover".to_owned(),
        "gpsd=127.0.0.1:2947".to_owned(),
        "metrics=127.0.0.1:9464".to_owned(),
        "protocol.location_option=true".to_owned(),
        "monitor.interval_s=0.5".to_owned(),
        format!("monitor.log={}", log.display()),
        format!("run={}", run.display()),
    ];
    mesh.start(0, "dsr", &sets.each_ref().map(String::as_str));
    mesh.start(1, "dsr", &["control=other", &format!("run={}", heard.display())]);
    let watched = mesh.folder().join("watched");
    let watch = format!(
        "exec {WAYHOP} ctl --socket {} --json watch position > {}",
        mesh.socket("other").display(),
        watched.display()
    );
    let _watch = mesh.start_program(1, &["sh", "-c", &watch]);

    let float = Gpsfake::start(&mesh, 0, "float.nmea", &nmea(5, ["0.300", "0.400", "0.500"]));
    let gps = |m: &Mesh| m.ask("rover", "position")["gps"].clone();
    let whole = |m: &Mesh, status: &str| gps(m)["status"] == status && gps(m)["accuracy_from"] == "gst";
    mesh.until("GGA's quality 5 is RTK float", Duration::from_secs(90), |m| whole(m, "rtk-float"));
    // 3-4-5.
    assert_eq!(gps(&mesh)["accuracy_m"], 0.5);
    assert_eq!(gps(&mesh)["corrections_age_s"], 1.5);
    drop(float);
    mesh.until("nothing is known without a gpsd", Duration::from_secs(90), |m| gps(m).is_null());

    let _fixed = Gpsfake::start(&mesh, 0, "fixed.nmea", &nmea(4, ["0.005", "0.012", "0.020"]));
    mesh.until("GGA's quality 4 is RTK fixed", Duration::from_secs(120), |m| whole(m, "rtk-fixed"));
    // 5-12-13, in millimetres.
    let accuracy = gps(&mesh)["accuracy_m"].as_f64().unwrap();
    assert!((accuracy - 0.013).abs() < 1e-9, "{accuracy}");
    assert_eq!(gps(&mesh)["vertical_m"], 0.02);
    assert_eq!(gps(&mesh)["mode"], 3);
    let at = gps(&mesh)["time_unix_s"].as_f64().unwrap();
    // date -u -d 2026-11-22T12:00Z +%s
    assert!((1_795_348_800.0..1_795_349_400.0).contains(&at), "the receiver's own time: {at}");
    let get = "import urllib.request as u; print(u.urlopen('http://127.0.0.1:9464/metrics').read().decode())";
    mesh.until("metrics show it", Duration::from_secs(60), |m| {
        let text = m.run_args(0, &["python3", "-c", get]).1;
        ["wayhop_gps_status{node=\"rover\"} 3", "wayhop_gps_accuracy_metres{node=\"rover\"} 0.013"]
            .iter()
            .all(|l| text.contains(l))
    });

    // A packet of the node carries its position (DSR's location option); receivers report it.
    mesh.until("the other node tells where this one is", Duration::from_secs(60), |m| {
        m.try_ping(0, 1);
        let text = fs::read_to_string(&watched).unwrap_or_default();
        let mut events = text.lines().filter_map(|l| serde_json::from_str::<Value>(l).ok());
        events.any(|e| {
            e["about"] == "10.0.0.1" && (e["place"]["latitude_deg"].as_f64().unwrap() - 40.44).abs() < 1e-6
        })
    });
    mesh.stop_all();
    let reports = fs::read_to_string(&log).unwrap();
    assert!(reports.contains(r#""status":"rtk-float""#) && reports.contains(r#""status":"rtk-fixed""#));
    let rows = table(&run, "gps");
    let column = |name: &str| {
        rows[0].split(',').position(|c| c == name).unwrap_or_else(|| panic!("{name}: {}", rows[0]))
    };
    let cell = |row: &str, name: &str| row.split(',').nth(column(name)).unwrap().to_owned();
    let with =
        |status: &str| rows.iter().filter(|r| cell(r, "status") == status).cloned().collect::<Vec<_>>();
    assert!(!with("rtk-float").is_empty() && !with("none").is_empty(), "{rows:?}");
    let fixed = with("rtk-fixed");
    assert!(
        fixed.iter().any(|r| cell(r, "accuracy_m").starts_with("0.013") && cell(r, "accuracy_from") == "gst"),
        "{fixed:?}"
    );
    assert!(with("none").iter().all(|r| cell(r, "latitude_deg").is_empty()), "{rows:?}");
    assert!(rows[1..].iter().all(|r| cell(r, "about") == "10.0.0.1" && cell(r, "source") == "receiver"));
    let rows = table(&heard, "gps");
    assert!(rows.iter().any(|r| r.contains(",10.0.0.1,heard,")), "{rows:?}");
}
