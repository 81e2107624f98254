//! A simulated box: it speaks telnet and HTTP like the real ones, rejects what they reject, and
//! loses connections on request.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::line;
use super::rcdat::{BoxAnswer, BoxCommand, Rcdat};
use crate::switch::{Settings, Switch};

/// What the box does wrong, as the real ones do now and then.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// A connection breaks after this many commands.
    pub breaks_after: Option<u32>,
    /// How long it takes to answer.
    pub delay: Duration,
}

/// Connections at a time; a real box has fewer.
const CONNECTIONS: usize = 16;
/// The longest rest of a request's head, octets.
const MAX_HEAD: u64 = 8 << 10;
/// How long a connection may say nothing.
const IDLE: Duration = Duration::from_secs(600);

/// The box. All its clones are the same one.
#[derive(Clone)]
pub struct Fake {
    shared: Arc<FakeState>,
}

struct FakeState {
    switch: Switch,
    faults: Faults,
    settings: Mutex<Settings>,
    connections: Mutex<usize>,
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Fake {
    /// A box with the attenuators of a switch, all at their strongest, as after a power cut.
    pub fn new(switch: Switch, faults: Faults) -> Self {
        let settings = Settings(vec![switch.most_steps(); switch.attenuators()]);
        let shared = FakeState { switch, faults, settings: Mutex::new(settings), connections: Mutex::new(0) };
        Self { shared: Arc::new(shared) }
    }

    /// The settings now.
    pub fn settings(&self) -> Settings {
        lock(&self.shared.settings).clone()
    }

    /// The path losses that they make, dB, in the order of [`crate::Links`].
    pub fn path_losses_db(&self) -> Vec<f64> {
        self.shared.switch.path_losses_db(&self.settings())
    }

    /// Serves telnet or HTTP on a thread of its own, until the process ends. Returns where.
    ///
    /// # Errors
    /// Nobody can listen there.
    pub fn serve(&self, at: SocketAddr, http: bool) -> io::Result<SocketAddr> {
        let listener = TcpListener::bind(at)?;
        let bound = listener.local_addr()?;
        let fake = self.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                fake.welcome(stream, http);
            }
        });
        Ok(bound)
    }

    fn welcome(&self, stream: TcpStream, http: bool) {
        {
            let mut connections = lock(&self.shared.connections);
            if *connections == CONNECTIONS {
                return;
            }
            *connections += 1;
        }
        let fake = self.clone();
        thread::spawn(move || {
            // A client that went away has nobody to tell.
            let _ = if http { fake.page(stream) } else { fake.dialogue(stream) };
            *lock(&fake.shared.connections) -= 1;
        });
    }

    fn dialogue(&self, stream: TcpStream) -> io::Result<()> {
        stream.set_read_timeout(Some(IDLE))?;
        stream.set_nodelay(true)?;
        let mut stream = BufReader::new(stream);
        let most = self.shared.faults.breaks_after.unwrap_or(u32::MAX);
        for _ in 0..most {
            let Some(text) = line::next(&mut stream)? else { return Ok(()) };
            let answer = self.answer(&text);
            stream.get_mut().write_all(format!("{answer}\r\n").as_bytes())?;
        }
        Ok(())
    }

    fn page(&self, stream: TcpStream) -> io::Result<()> {
        stream.set_read_timeout(Some(IDLE))?;
        let mut stream = BufReader::new(stream);
        let Some(request) = line::next(&mut stream)? else { return Ok(()) };
        // What is left unread when a connection closes resets it, and the answer with it.
        let (mut head, mut line) = (stream.by_ref().take(MAX_HEAD), String::new());
        while head.read_line(&mut line)? > 2 {
            line.clear();
        }
        let path = request.strip_prefix("GET /").and_then(|r| r.split(' ').next());
        let (status, body) = match path {
            Some(path) => ("200 OK", self.answer(path).to_string()),
            None => ("405 Method Not Allowed", "0".to_owned()),
        };
        write!(
            stream.get_mut(),
            "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        )
    }

    /// Does what it is told, or refuses: a channel that it has not, more than its strongest setting, half a step.
    fn answer(&self, text: &str) -> BoxAnswer {
        thread::sleep(self.shared.faults.delay);
        let switch = &self.shared.switch;
        let mut settings = lock(&self.shared.settings);
        let channel = |channel: u16| usize::from(channel).checked_sub(1).filter(|c| *c < settings.0.len());
        match Rcdat::command(text) {
            Some(BoxCommand::Model) => BoxAnswer::Model(format!("RCDAT-FAKE-{}", settings.0.len())),
            Some(BoxCommand::Get { channel: c }) => match channel(c) {
                Some(c) => BoxAnswer::Attenuation(f64::from(settings.0[c]) * switch.step_db()),
                None => BoxAnswer::Refused,
            },
            Some(BoxCommand::Set { channel: c, db }) => {
                let steps = db / switch.step_db();
                let fits = db <= switch.max_db() + 1e-9 && (steps - steps.round()).abs() < 1e-6;
                match channel(c).filter(|_| fits) {
                    Some(c) => {
                        settings.0[c] = steps.round() as u16;
                        BoxAnswer::Done
                    }
                    None => BoxAnswer::Refused,
                }
            }
            None => BoxAnswer::Refused,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::connect::connect;
    use super::super::driver::Device;
    use super::super::error::DeviceError;
    use super::*;

    fn served(faults: Faults) -> (Fake, [String; 2]) {
        let fake = Fake::new(Switch::new(3, 2, 90.0, 0.25, 46.0).unwrap(), faults);
        let at = |http| fake.serve(SocketAddr::from(([127, 0, 0, 1], 0)), http).unwrap();
        let addresses = [format!("telnet://{}", at(false)), format!("http://{}", at(true))];
        (fake, addresses)
    }

    #[test]
    fn both_ways_set_the_same_attenuators_and_refuse_the_same() {
        let (fake, addresses) = served(Faults::default());
        for (i, address) in addresses.iter().enumerate() {
            let mut device = connect(address).unwrap();
            let db = 11.25 + i as f64;
            device.set(4, db).unwrap();
            assert_eq!(device.get(4).unwrap(), db);
            assert_eq!(fake.settings().0[3], (db / 0.25) as u16);
            for (channel, db) in [(0, 1.0), (7, 1.0), (1, 90.25), (1, 0.1)] {
                let refused = device.set(channel, db);
                assert!(matches!(refused, Err(DeviceError::Refused(_))), "{channel} {db}: {refused:?}");
            }
            assert_eq!(device.get(4).unwrap(), db, "it goes on after refusals");
        }
    }

    #[test]
    fn a_box_that_breaks_off_is_an_error_and_another_connection_works() {
        let (_fake, [telnet, _]) = served(Faults { breaks_after: Some(2), ..Faults::default() });
        let mut device: Box<dyn Device> = connect(&telnet).unwrap();
        device.set(1, 1.0).unwrap();
        assert!(matches!(device.set(1, 2.0), Err(DeviceError::Connection(_))));
        assert_eq!(connect(&telnet).unwrap().get(1).unwrap(), 1.0);
    }

    #[test]
    fn who_is_no_attenuator_is_named() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = listener.local_addr().unwrap().to_string();
        thread::spawn(move || listener.accept().unwrap().0.write_all(b"220 mail.example ESMTP\r\n"));
        let told = connect(&at).err().unwrap().to_string();
        assert!(told.contains("mail.example"), "{told}");
        assert!(connect("nowhere.invalid:23").is_err());
    }
}
