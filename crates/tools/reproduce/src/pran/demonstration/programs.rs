//! What the programs themselves saw: the camera, the screen, the robot's commands.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

const NEEDED: [&str; 3] = ["ffmpeg", "ffprobe", "socat"];

/// Fails with the remedy if a program is not there.
pub(crate) fn check() -> Result<(), String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = |program: &&str| std::env::split_paths(&path).any(|dir| dir.join(program).is_file());
    let missing: Vec<&str> = NEEDED.into_iter().filter(|p| !is_there(p)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(format!(
        "the demonstration needs {}: {} not found; install them with: apt-get install ffmpeg socat",
        NEEDED.join(", "),
        missing.join(", ")
    ))
}

/// What they left in the run's folder `programs`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ProgramOutputs {
    pub(crate) frames_sent: Option<u64>,
    /// Frames that a decoder makes of what arrived; `None` if it is no video.
    pub(crate) frames_decoded: Option<u64>,
    /// What the decoder had to say against them, in lines.
    pub(crate) complaints: Option<u64>,
    /// The number of the last command that was acknowledged, which is how many were sent until then.
    pub(crate) last_command: Option<u64>,
    pub(crate) acknowledged: u64,
    pub(crate) call_answered: bool,
}

impl ProgramOutputs {
    pub(crate) fn read(folder: &Path) -> Self {
        let text = |name: &str| fs::read(folder.join(name)).map(|b| String::from_utf8_lossy(&b).into_owned());
        let (camera, call, commands) =
            ["camera.txt", "call.txt", "acknowledged.txt"].map(|n| text(n).unwrap_or_default()).into();
        let acknowledged = numbers(&commands);
        let (frames_decoded, complaints) = decode(&folder.join("video.mkv"));
        Self {
            frames_sent: frames_of(&camera),
            frames_decoded,
            complaints,
            last_command: acknowledged.last().copied(),
            acknowledged: acknowledged.len() as u64,
            call_answered: call.contains("m=video"),
        }
    }

    pub(crate) fn decoded_pct(&self) -> Option<f64> {
        let sent = self.frames_sent.filter(|n| *n > 0)?;
        Some(100.0 * self.frames_decoded.unwrap_or(0) as f64 / sent as f64)
    }
    pub(crate) fn acknowledged_pct(&self) -> Option<f64> {
        self.last_command.filter(|n| *n > 0).map(|n| 100.0 * self.acknowledged as f64 / n as f64)
    }
}

/// The last `frame=` of ffmpeg's progress.
fn frames_of(progress: &str) -> Option<u64> {
    progress.lines().rev().find_map(|l| l.strip_prefix("frame=")?.trim().parse().ok())
}

/// The numbers of the commands `move N` that came back.
fn numbers(commands: &str) -> BTreeSet<u64> {
    commands.lines().filter_map(|l| l.strip_prefix("move ")?.parse().ok()).collect()
}

/// Decodes a video: its frames, and how many lines the decoder complained.
fn decode(video: &Path) -> (Option<u64>, Option<u64>) {
    let probe = Command::new("ffprobe")
        .args(["-v", "error", "-count_frames", "-select_streams", "v:0"])
        .args(["-show_entries", "stream=nb_read_frames", "-of", "default=noprint_wrappers=1:nokey=1"])
        .arg(video)
        .stdin(Stdio::null())
        .output();
    let Ok(probe) = probe else { return (None, None) };
    let frames = String::from_utf8_lossy(&probe.stdout).trim().parse().ok();
    (frames, Some(String::from_utf8_lossy(&probe.stderr).lines().count() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_camera_s_last_word_counts_and_a_command_once() {
        let progress = "frame=1\nfps=0.00\nprogress=continue\nframe=76\nprogress=end\n[rtp] some remark\n";
        assert_eq!((frames_of(progress), frames_of("no video")), (Some(76), None));
        let back = numbers("move 1\nmove 3\nmove 3\n\nmov\nmove x\nmove 4\nmove");
        assert_eq!(back.into_iter().collect::<Vec<_>>(), [1, 3, 4]);
    }

    #[test]
    fn what_was_not_sent_has_no_share() {
        let mut s = ProgramOutputs { last_command: Some(4), acknowledged: 3, ..ProgramOutputs::default() };
        assert_eq!((s.decoded_pct(), s.acknowledged_pct()), (None, Some(75.0)));
        s.frames_sent = Some(10);
        assert_eq!(s.decoded_pct(), Some(0.0), "a video that nobody can decode");
    }

    #[test]
    fn a_folder_without_anything_is_a_run_in_which_nothing_came() {
        let dir = tempfile::tempdir().expect("a folder");
        let seen = ProgramOutputs::read(dir.path());
        assert_eq!((seen.frames_sent, seen.frames_decoded, seen.acknowledged), (None, None, 0));
        assert!(!seen.call_answered);
    }
}
