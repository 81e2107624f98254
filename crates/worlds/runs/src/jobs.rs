//! Independent runs, spread over threads.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

/// Does every job on at most `threads` threads and returns the results in the order of the jobs; `None` for those that were
/// not begun when `stop` was raised. `done` is called after each with the number that are.
pub fn run<J: Sync, R: Send>(
    jobs: &[J],
    threads: usize,
    stop: &AtomicBool,
    done: impl Fn(usize) + Sync,
    work: impl Fn(&J) -> R + Sync,
) -> Vec<Option<R>> {
    let results: Vec<Mutex<Option<R>>> = jobs.iter().map(|_| Mutex::new(None)).collect();
    let (next, finished) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let worker = || {
        while !stop.load(Ordering::Relaxed) {
            let i = next.fetch_add(1, Ordering::Relaxed);
            let Some(job) = jobs.get(i) else { return };
            let result = work(job);
            *results[i].lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
            done(finished.fetch_add(1, Ordering::Relaxed) + 1);
        }
    };
    thread::scope(|s| {
        for _ in 1..threads.clamp(1, jobs.len().max(1)) {
            s.spawn(worker);
        }
        worker();
    });
    results.into_iter().map(|r| r.into_inner().unwrap_or_else(PoisonError::into_inner)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_jobs() {
        let jobs: Vec<u32> = (0..50).collect();
        for threads in [0, 1, 3, 100] {
            let results = run(&jobs, threads, &AtomicBool::new(false), |_| (), |j| j * 2);
            assert_eq!(results, jobs.iter().map(|j| Some(j * 2)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn what_was_not_begun_when_it_stopped_has_no_result() {
        let (stop, jobs) = (AtomicBool::new(false), [0, 1, 2, 3]);
        let results = run(&jobs, 1, &stop, |n| stop.store(n == 2, Ordering::Relaxed), |j| *j);
        assert_eq!(results, [Some(0), Some(1), None, None]);
    }
}
