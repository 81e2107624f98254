//! Messages to an interpreter and back.

use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// Kinds of answers: the call is done, it failed, it needs random numbers.
const DONE: u8 = 0;
const FAILED: u8 = 1;
const MORE: u8 = 2;
/// Bytes before the body of an answer, without its length: the kind, and the random numbers left over.
const HEAD: usize = 5;
/// No answer is longer.
const LONGEST: usize = 16 << 20;
/// Random numbers that a call gets when it asks for more.
const BATCH: usize = 16;
/// Between two looks at how long a call takes.
const TICK: Duration = Duration::from_secs(1);

/// An answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer<'a> {
    /// The handler returned: random numbers that its node still has, and its effects.
    Done(u32, &'a [u8]),
    /// It raised an exception, as JSON says.
    Failed(&'a [u8]),
}

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum Broken {
    /// The interpreter ended.
    Ended,
    /// It did not answer in time.
    Slow,
    /// What came is no answer.
    Rubbish(String),
}

/// Wayhop's end of the socket.
pub(super) struct Pipe {
    stream: UnixStream,
    /// The last answer, and room behind it.
    answer: Vec<u8>,
    /// How much of it there is.
    length: usize,
    /// How many ticks a call may take. Time in which the process is stopped, as with Ctrl-Z, is one tick at most.
    patience: Option<u64>,
}

impl Pipe {
    /// Where a call may take this long, and no longer.
    pub(super) fn new(stream: UnixStream, limit: Option<Duration>) -> io::Result<Self> {
        stream.set_read_timeout(limit.map(|_| TICK))?;
        let patience = limit.map(|limit| limit.as_secs() + 1);
        Ok(Self { stream, answer: vec![0; 4_096], length: 0, patience })
    }

    /// Sends a call, and waits for the answer. `draw` makes random numbers, where there are any.
    pub(super) fn exchange(
        &mut self,
        call: &mut Vec<u8>,
        mut draw: Option<&mut dyn FnMut() -> u64>,
    ) -> Result<Answer<'_>, Broken> {
        loop {
            self.send(call)?;
            self.receive()?;
            if self.answer[4] != MORE {
                break;
            }
            let Some(draw) = draw.as_mut() else {
                return Err(Broken::Rubbish("drew random numbers in a method without a context".to_owned()));
            };
            call.clear();
            for _ in 0..BATCH {
                call.extend_from_slice(&(*draw)().to_le_bytes());
            }
        }
        answer(&self.answer[4..self.length])
    }

    /// Sends a call behind its length, without waiting for an answer.
    pub(super) fn send(&mut self, call: &mut Vec<u8>) -> Result<(), Broken> {
        let length = (call.len() as u32).to_le_bytes();
        call.splice(0..0, length);
        self.stream.write_all(call).map_err(|e| broken(&e))
    }

    fn receive(&mut self) -> Result<(), Broken> {
        self.length = 0;
        let mut waited = 0;
        loop {
            if let Some(size) = self.answer[..self.length].first_chunk::<4>() {
                let size = u32::from_le_bytes(*size) as usize + 4;
                if !(4 + HEAD..=LONGEST).contains(&size) || self.length > size {
                    return Err(Broken::Rubbish(format!(
                        "answered {} bytes that are no answer",
                        self.length
                    )));
                }
                if self.length == size {
                    return Ok(());
                }
                if self.answer.len() < size {
                    self.answer.resize(size, 0);
                }
            }
            match self.stream.read(&mut self.answer[self.length..]) {
                Ok(0) => return Err(Broken::Ended),
                Ok(count) => self.length += count,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) if is_slow(&e) && self.patience.is_some_and(|ticks| waited < ticks) => waited += 1,
                Err(e) => return Err(broken(&e)),
            }
        }
    }
}

fn is_slow(e: &io::Error) -> bool {
    matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

fn broken(e: &io::Error) -> Broken {
    if is_slow(e) { Broken::Slow } else { Broken::Ended }
}

fn answer(message: &[u8]) -> Result<Answer<'_>, Broken> {
    match message {
        [DONE, a, b, c, d, body @ ..] => Ok(Answer::Done(u32::from_le_bytes([*a, *b, *c, *d]), body)),
        [FAILED, _, _, _, _, body @ ..] => Ok(Answer::Failed(body)),
        other => Err(Broken::Rubbish(format!("answered {} bytes that are no answer", other.len()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    /// What is made of an interpreter that sends these bytes, whatever is asked.
    fn asked(sends: Vec<u8>) -> String {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        thread::scope(|s| {
            s.spawn(move || {
                theirs.read_exact(&mut [0; 4]).unwrap();
                theirs.write_all(&sends)
            });
            let mut pipe = Pipe::new(ours, None).unwrap();
            let answer = pipe.exchange(&mut Vec::new(), Some(&mut || 7));
            format!("{answer:?}")
        })
    }

    #[test]
    fn answers_are_told_from_rubbish() {
        assert_eq!(asked(vec![6, 0, 0, 0, DONE, 2, 0, 0, 0, 9]), "Ok(Done(2, [9]))");
        assert_eq!(asked(vec![5, 0, 0, 0, FAILED, 0, 0, 0, 0]), "Ok(Failed([]))");
        for rubbish in [&b"hello world"[..], &[4, 0, 0, 0, 1, 1, 1, 1], &[5, 0, 0, 0, 9, 0, 0, 0, 0]] {
            assert!(asked(rubbish.to_vec()).contains("Rubbish"), "{rubbish:?}");
        }
        assert!(asked(vec![5, 0, 0]).contains("Ended"));
    }

    #[test]
    fn random_numbers_are_given_on_demand() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        thread::scope(|s| {
            s.spawn(move || {
                let mut call = [0; 4];
                theirs.read_exact(&mut call).unwrap();
                theirs.write_all(&[5, 0, 0, 0, MORE, 0, 0, 0, 0]).unwrap();
                let mut words = [0; 4 + BATCH * 8];
                theirs.read_exact(&mut words).unwrap();
                assert_eq!(words[4..12], 7_u64.to_le_bytes());
                theirs.write_all(&[5, 0, 0, 0, DONE, 1, 0, 0, 0]).unwrap();
            });
            let mut pipe = Pipe::new(ours, None).unwrap();
            assert_eq!(pipe.exchange(&mut Vec::new(), Some(&mut || 7)).unwrap(), Answer::Done(1, &[]));
        });
    }
}
