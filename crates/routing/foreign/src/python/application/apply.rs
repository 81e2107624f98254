//! From what an interpreter writes to effects.

use wayhop_core::{ApplicationCx, ApplicationDatagram, ProgramMessage, Time, TimerKey};

use super::read::ApplicationWish;
use crate::check::port;

/// Carries out what a handler wants. The error is a phrase whose subject is the module. The package tells most mistakes
/// before this does, with their line.
pub(super) fn apply(
    wish: ApplicationWish<'_>,
    cx: &mut ApplicationCx<'_>,
    notes: &'static [&'static str],
) -> Result<(), String> {
    match wish {
        ApplicationWish::Listen(number) => cx.listen(port(number)?),
        ApplicationWish::Send { port: from, to, ttl, tos, data: octets } => {
            let mut data = cx.zeroed(octets.len());
            data.copy_from_slice(octets);
            cx.send_datagram(ApplicationDatagram { port: port(from)?, to, ttl, tos, data });
        }
        ApplicationWish::ListenStream(number) => cx.listen_stream(port(number)?),
        ApplicationWish::Connect(number, to) => cx.connect(number, to),
        ApplicationWish::SetTimer(key, at_ns) => cx.set_timer(TimerKey(key), Time::from_nanos(at_ns)),
        ApplicationWish::ClearTimer(key) => cx.clear_timer(TimerKey(key)),
        ApplicationWish::Write(stream, data) => cx.write(stream, data.to_vec()),
        ApplicationWish::Close(stream) => cx.close(stream),
        ApplicationWish::Note(given, about, value) => {
            let name = notes.iter().find(|n| **n == given);
            let name =
                name.ok_or_else(|| format!("made the remark {given:?}; list it in `notes` of its class"))?;
            cx.note(name, about, value);
        }
        ApplicationWish::Answer(program, head, data) => cx.answer(program, message(head, data)?),
        ApplicationWish::Tell(program, head, data) => cx.tell(program, message(head, data)?),
    }
    Ok(())
}

fn message(head: &str, data: &[u8]) -> Result<ProgramMessage, String> {
    let head = serde_json::from_str(head).map_err(|e| format!("told a program no JSON object ({e})"))?;
    Ok(ProgramMessage { head, data: data.to_vec() })
}
