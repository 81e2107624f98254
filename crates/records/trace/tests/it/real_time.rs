//! Captures of a run on the real clock, with a disk that is slower than the frames.

use std::fs::{self, OpenOptions};
use std::io::Read as _;
use std::process::Command;

use crate::common::{hop, manifest, nodes, rows, sent};
use tempfile::TempDir;
use wayhop_protocols::CLASSIFIER;
use wayhop_trace::{CaptureReader, CapturedFrame, Outputs, Recorder, RunDir, RunStatus, Summary};

#[test]
fn a_recorder_that_never_waits_counts_the_rows_that_it_leaves_out() {
    const ROWS: u64 = 2_000_000;
    let dir = TempDir::new().expect("a directory");
    let run = RunDir::create(dir.path(), &manifest(), CLASSIFIER).expect("an empty directory");
    let mut r = Recorder::start(run, &Outputs::default(), nodes(3)).expect("a recorder").never_waiting();
    (0..ROWS).for_each(|i| r.hop(&hop(i)));
    let lost = r.lost_records();
    r.finish(&mut Summary::default(), RunStatus::Complete).expect("room on the disk");
    assert_eq!(rows(dir.path(), "packets").len() as u64 + lost, ROWS);
}

/// The capture is a pipe, which holds 64 KiB until somebody reads it: a disk that hangs.
#[test]
fn frames_too_many_for_a_slow_disk_are_left_out_and_counted() {
    const FRAMES: u64 = 60_000;
    let dir = TempDir::new().expect("a directory");
    let run = RunDir::create(dir.path(), &manifest(), CLASSIFIER).expect("an empty directory");
    let outputs = Outputs { captures: Some(200), ..Outputs::default() };
    let mut r = Recorder::start(run.clone(), &outputs, nodes(1)).expect("a recorder").in_real_time();
    let pipe = run.capture_path(&nodes(1)[0].name);
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo (Debian package coreutils)").success());
    // Opened for both, so that neither end waits for the other to open.
    let mut reader = OpenOptions::new().read(true).write(true).open(&pipe).expect("a pipe");
    let bytes = [0x48; 200];
    for i in 0..FRAMES {
        r.hop(&hop(i));
        // With nobody to read, a recorder that waited for its writer would wait for ever.
        r.frame(&sent(i, &bytes));
    }
    let drops = r.capture_drops();
    assert!(drops > 0 && drops < FRAMES, "{drops}");

    let captured = dir.path().join("captured");
    let copy = fs::File::create(&captured).expect("a file");
    let mut end = OpenOptions::new().write(true).open(&pipe).expect("a pipe");
    let copier = std::thread::spawn(move || {
        let (mut copy, mut buffer) = (copy, vec![0; 1 << 16]);
        loop {
            let n = reader.read(&mut buffer).expect("a pipe");
            if buffer[..n].ends_with(b"the end") {
                std::io::Write::write_all(&mut copy, &buffer[..n - 7]).expect("room on the disk");
                return;
            }
            std::io::Write::write_all(&mut copy, &buffer[..n]).expect("room on the disk");
        }
    });
    r.finish(&mut Summary::default(), RunStatus::Complete).expect("all is written");
    std::io::Write::write_all(&mut end, b"the end").expect("a pipe");
    copier.join().expect("the copy");
    let mut frames = 0;
    let mut reader = CaptureReader::new(fs::File::open(&captured).expect("a capture")).expect("a capture");
    let mut frame = CapturedFrame::default();
    while reader.next_into(&mut frame).expect("a whole capture") {
        frames += 1;
    }
    assert_eq!(frames + drops, FRAMES);
    assert_eq!(rows(dir.path(), "packets").len() as u64, FRAMES);
}
