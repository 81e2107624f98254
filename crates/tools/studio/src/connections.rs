//! The TCP connections of programs: the table `connections`.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};
use wayhop_core::{Addr, TcpConnection, TcpEnds, Time};
use wayhop_trace::{RunDir, Tables};

use crate::error::Error;
use crate::frame::FrameBuilder;

/// Connections in a list: those that moved most octets.
const MOST: usize = 500;
/// Different connections that are told apart.
const MOST_KNOWN: usize = 1 << 20;
/// Looks at one connection in an answer: nearly two hours.
const MOST_LOOKS: usize = 1 << 16;

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct OfConnection {
    node: u32,
    local: Addr,
    local_port: u16,
    remote: Addr,
    remote_port: u16,
}

/// When a connection was looked at first and last, and how it was then.
struct Life {
    from: Time,
    until: Time,
    last: TcpConnection,
}

/// All connections, those first that moved most octets.
pub(crate) fn list(run: &RunDir) -> Result<Value, Error> {
    let mut lives: BTreeMap<(u32, TcpEnds), Life> = BTreeMap::new();
    tables(run).connections(&mut |e| {
        let life = Life { from: e.time, until: e.time, last: e.connection };
        let life = lives.entry((e.node.0, e.connection.ends)).or_insert(life);
        (life.until, life.last) = (e.time, e.connection);
        if lives.len() > MOST_KNOWN { Err("too many connections to list".to_owned()) } else { Ok(()) }
    })?;
    let mut all: Vec<_> = lives.into_iter().collect();
    all.sort_by_key(|(_, life)| std::cmp::Reverse((life.last.sent, life.last.received)));
    let one = |((node, ends), life): ((u32, TcpEnds), Life)| {
        json!({
            "node": node,
            "local": ends.local.to_string(),
            "local_port": ends.local_port,
            "remote": ends.remote.to_string(),
            "remote_port": ends.remote_port,
            "from_ns": life.from.as_nanos(),
            "until_ns": life.until.as_nanos(),
            "sent": life.last.sent.saturating_sub(life.last.sent_again),
            "received": life.last.received,
            "retransmissions": life.last.retransmissions,
        })
    };
    let left_out = all.len().saturating_sub(MOST);
    let listed: Vec<Value> = all.into_iter().take(MOST).map(one).collect();
    Ok(json!({"connections": listed, "left_out": left_out}))
}

/// One connection over time. The octets in `sent` are counted once each; the head's `is_whole` says whether all looks are there.
pub(crate) fn one(run: &RunDir, wanted: &OfConnection) -> Result<Vec<u8>, Error> {
    let ends = TcpEnds {
        local: wanted.local,
        local_port: wanted.local_port,
        remote: wanted.remote,
        remote_port: wanted.remote_port,
    };
    let mut looks: Vec<(Time, TcpConnection)> = Vec::new();
    let mut is_whole = true;
    tables(run).connections(&mut |e| {
        if e.node.0 == wanted.node && e.connection.ends == ends {
            if looks.len() < MOST_LOOKS {
                looks.push((e.time, e.connection));
            } else {
                is_whole = false;
            }
        }
        Ok(())
    })?;
    let mut frame = FrameBuilder::default();
    frame.set("is_whole", is_whole);
    let mut column = |name: &str, of: &dyn Fn(&(Time, TcpConnection)) -> f64| {
        frame.f64s(name, looks.iter().map(of));
    };
    column("time_ns", &|(t, _)| t.as_nanos() as f64);
    column("sent", &|(_, c)| c.sent.saturating_sub(c.sent_again) as f64);
    column("sent_again", &|(_, c)| c.sent_again as f64);
    column("acked", &|(_, c)| c.acked as f64);
    column("received", &|(_, c)| c.received as f64);
    Ok(frame.finish(looks.len()))
}

/// Connections know nothing of the routing protocol.
fn tables(run: &RunDir) -> Tables<'_> {
    Tables::of(run, "")
}
