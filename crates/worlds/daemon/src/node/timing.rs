//! How long frames take in this node, if the configuration enables `timing`.
//!
//! Three stages, as Saha and others measured them (2004, section 6.1): from the interface to the process (the kernel's stamp
//! at the frame's arrival to the return of the system call), in the process (to the next call that sends), and in that call.
//! A batch counts as one, with its time divided by its frames.

use std::time::{Duration, Instant, SystemTime};

use wayhop_core::{Inspect, Maybe};

/// How many of the last batches are remembered.
const REMEMBERED: usize = 512;

#[derive(Debug, Default)]
struct Stage {
    /// The last values, nanoseconds, a ring.
    last: Vec<u32>,
    next: usize,
    frames: u64,
    total_ns: u64,
}

impl Stage {
    fn add(&mut self, total: Duration, frames: usize) {
        let ns = total.as_nanos() as u64;
        let each = u32::try_from(ns / frames.max(1) as u64).unwrap_or(u32::MAX);
        if self.last.len() < REMEMBERED {
            self.last.push(each);
        } else {
            self.last[self.next] = each;
            self.next = (self.next + 1) % REMEMBERED;
        }
        self.frames += frames as u64;
        self.total_ns += ns;
    }

    fn inspect(&self, name: &'static str, out: &mut dyn Inspect) {
        let mut sorted = self.last.clone();
        sorted.sort_unstable();
        let at = |share: f64| {
            let i = (share * (sorted.len().saturating_sub(1)) as f64) as usize;
            Maybe(sorted.get(i).map(|ns| f64::from(*ns) / 1e3))
        };
        let (p50_us, p99_us) = (at(0.5), at(0.99));
        let mean_us = Maybe((self.frames > 0).then(|| self.total_ns as f64 / 1e3 / self.frames as f64));
        out.row(
            "timing",
            &[
                ("stage", &name),
                ("frames", &self.frames),
                ("mean_us", &mean_us),
                ("p50_us", &p50_us),
                ("p99_us", &p99_us),
            ],
        );
    }
}

/// The stages, and the batch that is being worked on.
#[derive(Debug, Default)]
pub(crate) struct Timing {
    coming: Stage,
    inside: Stage,
    going: Stage,
    batch: Option<Batch>,
    calling: Option<Instant>,
}

#[derive(Debug)]
struct Batch {
    frames: usize,
    sent: usize,
    inside: Duration,
    since: Instant,
}

impl Timing {
    /// A batch of frames has come, the first of which the interface had at that time of the wall clock.
    pub(crate) fn received(&mut self, frames: usize, first: Option<SystemTime>) {
        self.end();
        if frames == 0 {
            return;
        }
        if let Some(waited) = first.and_then(|t| t.elapsed().ok()) {
            self.coming.add(waited, 1);
        }
        self.batch = Some(Batch { frames, sent: 0, inside: Duration::ZERO, since: Instant::now() });
    }

    /// Frames are about to be handed to the kernel.
    pub(crate) fn sending(&mut self) {
        let now = Instant::now();
        if let Some(b) = &mut self.batch {
            b.inside += now - b.since;
        }
        self.calling = Some(now);
    }

    /// The kernel took this many.
    pub(crate) fn sent(&mut self, frames: usize) {
        let now = Instant::now();
        if let Some(begun) = self.calling.take().filter(|_| frames > 0) {
            self.going.add(now - begun, frames);
        }
        if let Some(b) = &mut self.batch {
            b.since = now;
            b.sent += frames;
        }
    }

    /// Nothing more is sent of the batch. One that led to nothing being sent does not count.
    pub(crate) fn end(&mut self) {
        if let Some(b) = self.batch.take().filter(|b| b.sent > 0) {
            self.inside.add(b.inside, b.frames);
        }
    }

    pub(crate) fn inspect(&self, out: &mut dyn Inspect) {
        self.coming.inspect("in", out);
        self.inside.inspect("process", out);
        self.going.inspect("out", out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is shown, by stage and column.
    #[derive(Default)]
    struct StageRows(Vec<(String, String, String)>);

    impl Inspect for StageRows {
        fn row(&mut self, table: &'static str, fields: &[(&'static str, &dyn std::fmt::Display)]) {
            assert_eq!(table, "timing");
            let stage = fields[0].1.to_string();
            self.0.extend(fields[1..].iter().map(|(k, v)| (stage.clone(), (*k).to_owned(), v.to_string())));
        }
        fn held(&mut self, _: &'static str, _: &wayhop_core::Packet) {}
    }

    impl StageRows {
        fn of(t: &Timing) -> Self {
            let mut shown = Self::default();
            t.inspect(&mut shown);
            shown
        }
        fn number(&self, stage: &str, column: &str) -> f64 {
            let found = self.0.iter().find(|(s, c, _)| s == stage && c == column);
            found.and_then(|(_, _, v)| v.parse().ok()).unwrap_or(f64::NAN)
        }
    }

    #[test]
    fn a_stage_shows_the_time_of_each_frame_of_a_batch() {
        let mut stage = Stage::default();
        stage.add(Duration::from_micros(10), 1);
        stage.add(Duration::from_micros(64), 32);
        stage.add(Duration::from_micros(12), 4);
        let mut shown = StageRows::default();
        stage.inspect("out", &mut shown);
        // Each of the three batches counts once in the median, each frame in the mean: 86 us for 37 frames.
        assert_eq!(shown.number("out", "p50_us"), 3.0);
        assert_eq!(shown.number("out", "frames"), 37.0);
        assert!((shown.number("out", "mean_us") - 86.0 / 37.0).abs() < 1e-9);
    }

    #[test]
    fn only_the_last_batches_are_remembered() {
        let mut stage = Stage::default();
        (0..REMEMBERED).for_each(|_| stage.add(Duration::from_micros(9), 1));
        (0..REMEMBERED).for_each(|_| stage.add(Duration::from_micros(1), 1));
        let mut shown = StageRows::default();
        stage.inspect("in", &mut shown);
        assert_eq!((shown.number("in", "p50_us"), shown.number("in", "p99_us")), (1.0, 1.0));
        assert_eq!(shown.number("in", "mean_us"), 5.0);
    }

    #[test]
    fn the_time_in_system_calls_is_not_time_in_the_process() {
        let mut t = Timing::default();
        t.received(2, None);
        t.sending();
        std::thread::sleep(Duration::from_millis(20));
        t.sent(1);
        t.sending();
        t.sent(1);
        t.end();
        let shown = StageRows::of(&t);
        assert!(shown.number("out", "mean_us") >= 10_000.0, "one of two frames took 20 ms");
        assert!(shown.number("process", "mean_us") < shown.number("out", "mean_us"));
        assert_eq!((shown.number("process", "frames"), shown.number("in", "frames")), (2.0, 0.0));
    }

    #[test]
    fn a_batch_that_leads_to_nothing_sent_does_not_count() {
        let mut t = Timing::default();
        t.received(3, None);
        t.end();
        assert_eq!(StageRows::of(&t).number("process", "frames"), 0.0);
    }
}
