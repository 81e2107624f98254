//! One call of an application in a library, and the functions that it calls back.

use core::ffi::c_char;

use wayhop_core::{Addr, ApplicationCx, ApplicationDatagram, ProgramMessage, Time, TimerKey};

use super::abi::{RawAppCalls, RawAppCx, RawEndpoint, RawOutgoing, RawStream};
use crate::check::port;
use crate::ffi::abi::{ABI_VERSION, RawAddr};
use crate::ffi::call::{at, is_current};
use crate::ffi::host::fail_with;
use crate::ffi::text::{items, text};
use crate::progress;

/// The longest data of a datagram, bytes: what fits into an IPv4 packet behind UDP's header.
const LONGEST: usize = 65_507;
/// The most bytes that one call may give to a stream or a program.
const MOST_BYTES: usize = 16 << 20;

/// What C gets as `const wayhop_app_cx *`: the public fields, and behind them what the functions need.
#[repr(C)]
pub(super) struct Call<'a, 'c> {
    raw: RawAppCx,
    cx: &'a mut ApplicationCx<'c>,
    /// The names of remarks.
    notes: &'static [&'static str],
    /// What the library did wrong first.
    pub(super) fault: Option<String>,
}

impl<'a, 'c> Call<'a, 'c> {
    pub(super) fn new(cx: &'a mut ApplicationCx<'c>, notes: &'static [&'static str]) -> Self {
        let (now_ns, addr) = (cx.now().as_nanos(), Addr::from(cx.addr()).into());
        Self { raw: RawAppCx { calls: &raw const CALLS, now_ns, addr }, cx, notes, fault: None }
    }
}

/// Runs a function of the host. Its error is the library's fault, and ends the run when the callback returns.
fn on<R: Default>(raw: *const RawAppCx, f: impl FnOnce(&mut Call<'_, '_>) -> Result<R, String>) -> R {
    // SAFETY: the context of the call in progress is one of an application or of a protocol; both begin with the pointer to
    // their functions.
    if !is_current(raw.cast()) || unsafe { (*raw).calls } != &raw const CALLS {
        fail_with("called a function of wayhop_app_cx outside of the callback that received it");
    }
    // SAFETY: it is the context of the call in progress and has an application's functions, so that the engine made it of a
    // whole `Call`, which nothing else uses meanwhile.
    let call = unsafe { &mut *raw.cast_mut().cast::<Call<'_, '_>>() };
    f(call).unwrap_or_else(|what| {
        progress::set_fault(&what);
        call.fault.get_or_insert(what);
        R::default()
    })
}

/// The bytes of an argument.
fn octets<'a>(data: *const u8, length: usize, most: usize, what: &str) -> Result<&'a [u8], String> {
    if length > most || data.is_null() && length > 0 {
        return Err(format!("gave {what} of {length} bytes; {most} is the most, and NULL has none"));
    }
    // SAFETY: `wayhop.h` demands `length` bytes.
    Ok(unsafe { items(data, length) })
}

unsafe extern "C" fn listen(cx: *const RawAppCx, number: u16) {
    on(cx, |call| {
        call.cx.listen(port(number)?);
        Ok(())
    });
}

unsafe extern "C" fn send(cx: *const RawAppCx, outgoing: *const RawOutgoing, data: *const u8, length: usize) {
    on(cx, |call| {
        let raw = at(outgoing, "wayhop_outgoing")?;
        let octets = octets(data, length, LONGEST, "a datagram")?;
        let mut data = call.cx.zeroed(octets.len());
        data.copy_from_slice(octets);
        let (port, to) = (port(raw.port)?, raw.to.into());
        call.cx.send_datagram(ApplicationDatagram { port, to, ttl: raw.ttl, tos: raw.tos, data });
        Ok(())
    });
}

unsafe extern "C" fn set_timer(cx: *const RawAppCx, key: u64, at_ns: u64) {
    on(cx, |call| {
        call.cx.set_timer(TimerKey(key), Time::from_nanos(at_ns));
        Ok(())
    });
}

unsafe extern "C" fn clear_timer(cx: *const RawAppCx, key: u64) {
    on(cx, |call| {
        call.cx.clear_timer(TimerKey(key));
        Ok(())
    });
}

unsafe extern "C" fn note(cx: *const RawAppCx, what: *const c_char, about: *const RawAddr, value: u64) {
    on(cx, |call| {
        // SAFETY: `wayhop.h` demands a text.
        let given = unsafe { text(what) }.ok_or_else(|| "gave NULL as the name of a remark".to_owned())?;
        let Some(&what) = call.notes.iter().find(|n| **n == given) else {
            return Err(format!("made the remark {given:?}; list it in `notes` of its description"));
        };
        let about: Addr = (*at(about, "the address of a remark")?).into();
        call.cx.note(what, about, value);
        Ok(())
    });
}

unsafe extern "C" fn random(cx: *const RawAppCx) -> u64 {
    on(cx, |call| Ok(call.cx.rng().bits()))
}

unsafe extern "C" fn listen_stream(cx: *const RawAppCx, number: u16) {
    on(cx, |call| {
        call.cx.listen_stream(port(number)?);
        Ok(())
    });
}

unsafe extern "C" fn connect(cx: *const RawAppCx, number: u64, to: *const RawEndpoint) {
    on(cx, |call| {
        call.cx.connect(number, (*at(to, "wayhop_endpoint")?).into());
        Ok(())
    });
}

unsafe extern "C" fn write(cx: *const RawAppCx, stream: *const RawStream, data: *const u8, length: usize) {
    on(cx, |call| {
        let stream = (*at(stream, "wayhop_stream")?).into();
        call.cx.write(stream, octets(data, length, MOST_BYTES, "data")?.to_vec());
        Ok(())
    });
}

unsafe extern "C" fn close(cx: *const RawAppCx, stream: *const RawStream) {
    on(cx, |call| {
        call.cx.close((*at(stream, "wayhop_stream")?).into());
        Ok(())
    });
}

unsafe extern "C" fn answer(
    cx: *const RawAppCx,
    program: u64,
    json: *const c_char,
    data: *const u8,
    length: usize,
) {
    on(cx, |call| {
        // SAFETY: `wayhop.h` demands a text.
        let json = unsafe { text(json) }.ok_or_else(|| "answered a command with NULL".to_owned())?;
        let head = serde_json::from_str(&json)
            .map_err(|e| format!("answered a command with no JSON object ({e})"))?;
        let data = octets(data, length, MOST_BYTES, "data")?.to_vec();
        call.cx.answer(program, ProgramMessage { head, data });
        Ok(())
    });
}

static CALLS: RawAppCalls = RawAppCalls {
    size: size_of::<RawAppCalls>() as u32,
    abi_version: ABI_VERSION,
    listen,
    send,
    set_timer,
    clear_timer,
    note,
    random,
    listen_stream,
    connect,
    write,
    close,
    answer,
};
