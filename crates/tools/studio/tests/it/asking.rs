//! A server, and requests written by hand.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::mpsc::channel;
use std::thread;

use serde_json::Value;

/// A server that runs until the test ends.
pub(crate) struct Server {
    pub(crate) at: SocketAddr,
    pub(crate) token: Option<String>,
    /// What its address asks for.
    pub(crate) query: String,
}

/// An answer.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Server {
    pub(crate) fn of(runs: &Path) -> Self {
        Self::at(runs, "127.0.0.1:0")
    }

    pub(crate) fn at(runs: &Path, address: &str) -> Self {
        let runs = runs.to_owned();
        let address = address.parse().expect("an address");
        Self::started(move |ready| wayhop_studio::serve(&runs, address, ready))
    }

    /// One that compares two runs.
    pub(crate) fn pair(runs: [&Path; 2]) -> Self {
        let runs = runs.map(Path::to_owned);
        let address = "127.0.0.1:0".parse().expect("an address");
        Self::started(move |ready| wayhop_studio::serve_pair([&runs[0], &runs[1]], address, ready))
    }

    pub(crate) fn started(serve: impl FnOnce(&dyn Fn(&str)) -> Result<(), String> + Send + 'static) -> Self {
        let (sender, receiver) = channel();
        thread::spawn(move || {
            let ready = |url: &str| sender.send(url.to_owned()).expect("the test waits");
            serve(&ready).expect("a server");
        });
        let url = receiver.recv().expect("the server listens");
        let rest = url.strip_prefix("http://").expect("an address");
        let (at, query) = rest.split_once('/').expect("a path");
        let mut at: SocketAddr = at.parse().expect("an address");
        if at.ip().is_unspecified() {
            at.set_ip([127, 0, 0, 1].into());
        }
        let query = query.trim_start_matches('?').to_owned();
        Self { at, token: query.strip_prefix("token=").map(str::to_owned), query }
    }

    /// What a browser sends that has opened its address.
    pub(crate) fn cookie(&self) -> String {
        let token = self.token.as_deref().expect("a token");
        format!("Cookie: wayhop-studio-{}={token}", self.at.port())
    }

    /// What it answers to these octets.
    pub(crate) fn raw(&self, request: &[u8]) -> Answer {
        let mut stream = TcpStream::connect(self.at).expect("a connection");
        stream.write_all(request).expect("it takes the request");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("an answer");
        let end = answer.windows(4).position(|w| w == b"\r\n\r\n").expect("a head");
        let head = String::from_utf8(answer[..end].to_vec()).expect("text").to_lowercase();
        let status = head.split(' ').nth(1).expect("a status").parse().expect("a number");
        Answer { status, head, body: answer[end + 4..].to_vec() }
    }

    /// What it answers to a GET with further lines of the head.
    pub(crate) fn get_with(&self, path: &str, lines: &[&str]) -> Answer {
        let lines = lines.iter().flat_map(|l| [l, "\r\n"]).collect::<String>();
        self.raw(format!("GET {path} HTTP/1.1\r\nConnection: close\r\n{lines}\r\n").as_bytes())
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.get_with(path, &[&format!("Host: {}", self.at)])
    }

    /// The frame that it answers once all is counted.
    pub(crate) fn counted(&self, path: &str) -> Answer {
        loop {
            let answer = self.get(path);
            let (head, _) = answer.frame();
            if head["done"] == head["groups"] {
                return answer;
            }
            thread::yield_now();
        }
    }
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("JSON")
    }

    /// The message of an error.
    pub(crate) fn error(&self) -> String {
        self.json()["error"].as_str().expect("a message").to_owned()
    }

    /// The head of a frame, and its columns' octets.
    pub(crate) fn frame(&self) -> (Value, &[u8]) {
        assert_eq!(self.status, 200, "{}", String::from_utf8_lossy(&self.body));
        assert_eq!(&self.body[..4], b"WHS1");
        let length = u32::from_le_bytes(self.body[4..8].try_into().unwrap()) as usize;
        (serde_json::from_slice(&self.body[8..8 + length]).expect("JSON"), &self.body[8 + length..])
    }

    /// A column of a frame as numbers.
    pub(crate) fn column(&self, name: &str) -> Vec<f64> {
        let (head, body) = self.frame();
        let rows = head["rows"].as_u64().unwrap() as usize;
        let columns = head["columns"].as_array().unwrap();
        let column = columns.iter().find(|c| c["name"] == name).expect("the column");
        let from = &body[column["offset"].as_u64().unwrap() as usize..];
        let number = |i: usize| match column["type"].as_str().unwrap() {
            "f64" => f64::from_le_bytes(from[8 * i..8 * i + 8].try_into().unwrap()),
            "i32" => i32::from_le_bytes(from[4 * i..4 * i + 4].try_into().unwrap()).into(),
            _ => from[i].into(),
        };
        (0..rows).map(number).collect()
    }
}
