//! `wayhop ctl capture` of an emulation, live. Needs root and /dev/net/tun, and tshark (`.ci/install test`).

use std::fs::File;
use std::path::Path;

use wayhop_testkit::tshark;
use wayhop_trace::{CaptureReader, CapturedFrame};

use crate::emulate::{CHAIN, skip_without_root};
use crate::{folder, wayhop};

fn frames(file: &Path) -> Vec<CapturedFrame> {
    let mut reader = CaptureReader::new(File::open(file).expect("a file")).expect("a capture");
    let (mut frame, mut all) = (CapturedFrame::default(), Vec::new());
    while reader.next_into(&mut frame).expect("whole blocks") {
        all.push(CapturedFrame { number: 0, ..frame.clone() });
    }
    all
}

/// The frames of a file about the time of another one.
fn near<'a>(file: &'a [CapturedFrame], of: &CapturedFrame) -> &'a [CapturedFrame] {
    let at = file.partition_point(|f| f.time_ns < of.time_ns);
    &file[at.saturating_sub(1)..(at + 2).min(file.len())]
}

#[test]
fn frames_of_a_live_capture_are_the_files_with_signal_rate_and_channel() {
    skip_without_root!();
    let dir = folder(&[("s.toml", CHAIN)]);
    let of = |args: &[&str]| {
        let mut command = wayhop();
        command.args(args).current_dir(dir.path()).env("WAYHOP_RUNTIME_DIR", dir.path().join("sockets"));
        command
    };
    let run = ["emulate", "s.toml", "--duration", "6", "--protocol", "dsr", "--out", "run", "--quiet"];
    let all = ["--captures", "--set", "captures.snap_length_bytes=65535"];
    let mut run = of(&run).args(all).spawn().expect("the program runs");
    let live = dir.path().join("live.pcapng");
    let ctl = ["ctl", "--wait", "--run", "s", "--node", "2", "capture", "--out", "live.pcapng"];
    let ctl = of(&ctl).output().expect("the program runs");
    assert!(ctl.status.success(), "it ends well with the run: {}", String::from_utf8_lossy(&ctl.stderr));
    assert!(run.wait().expect("it ends").success());

    let (seen, file) = (frames(&live), frames(&dir.path().join("run/captures/2.pcapng")));
    assert!(seen.len() > 100, "{} frames", seen.len());
    let first = file.iter().position(|f| *f == seen[0]);
    let first =
        first.unwrap_or_else(|| panic!("{:?} is not in the file: {:?}", seen[0], near(&file, &seen[0])));
    assert!(file[first..].starts_with(&seen), "{} frames from the {first}th of {}", seen.len(), file.len());

    assert_eq!(tshark::complaints(&live).expect("tshark"), Vec::<Vec<String>>::new());
    let of = ["radiotap.dbm_antsignal", "radiotap.datarate", "radiotap.channel.freq", "frame.interface_name"];
    let heard = tshark::fields(&live, "frame.packet_flags_direction == 1", &of).expect("tshark");
    assert!(heard.len() > 50, "{} frames were heard", heard.len());
    for row in heard {
        assert!(row[0].parse::<i32>().is_ok_and(|dbm| (-100..0).contains(&dbm)), "{row:?}");
        assert!(["1", "2"].contains(&row[1].as_str()), "a rate of 802.11 in Mb/s: {row:?}");
        assert_eq!(row[2..], ["914", "2"]);
    }
}
