//! The structures of `include/wayhop.h` for applications, field for field.

use core::ffi::{c_char, c_void};
use core::net::SocketAddr;

use wayhop_core::{Addr, StreamId};

use crate::ffi::abi::{Check, RawAddr, RawFix, RawHost, RawParameter, RawValue};

#[repr(C)]
#[derive(Copy, Clone, Default)]
pub(super) struct RawEndpoint {
    pub(super) addr: RawAddr,
    pub(super) port: u16,
    pub(super) reserved: [u8; 6],
}

impl From<SocketAddr> for RawEndpoint {
    fn from(a: SocketAddr) -> Self {
        Self { addr: Addr::from(a.ip()).into(), port: a.port(), reserved: [0; 6] }
    }
}

impl From<RawEndpoint> for SocketAddr {
    fn from(a: RawEndpoint) -> Self {
        Self::new(Addr::from(a.addr).ip(), a.port)
    }
}

#[repr(C)]
#[derive(Copy, Clone)]
pub(super) struct RawOutgoing {
    pub(super) to: RawEndpoint,
    pub(super) port: u16,
    pub(super) ttl: u8,
    pub(super) tos: u8,
    pub(super) reserved: [u8; 4],
}

#[repr(C)]
#[derive(Copy, Clone)]
pub(super) struct RawStream {
    pub(super) number: u64,
    pub(super) accepted: u8,
    pub(super) reserved: [u8; 7],
}

impl From<StreamId> for RawStream {
    fn from(id: StreamId) -> Self {
        let (number, accepted) = match id {
            StreamId::Opened(number) => (number, 0),
            StreamId::Accepted(number) => (number, 1),
        };
        Self { number, accepted, reserved: [0; 7] }
    }
}

impl From<RawStream> for StreamId {
    fn from(raw: RawStream) -> Self {
        if raw.accepted == 0 { Self::Opened(raw.number) } else { Self::Accepted(raw.number) }
    }
}

#[repr(C)]
pub(super) struct RawStreamEvent {
    pub(super) stream: RawStream,
    pub(super) kind: u32,
    pub(super) cause: u32,
    pub(super) peer: RawEndpoint,
    pub(super) port: u16,
    pub(super) reserved: [u8; 6],
    pub(super) data: *const u8,
    pub(super) length: usize,
}

#[repr(C)]
pub(super) struct RawAppCx {
    pub(super) calls: *const RawAppCalls,
    pub(super) now_ns: u64,
    pub(super) addr: RawAddr,
}

/// A callback's context, as C has it.
type Cx = *const RawAppCx;

#[repr(C)]
pub(super) struct RawAppCalls {
    pub(super) size: u32,
    pub(super) abi_version: u32,
    pub(super) listen: unsafe extern "C" fn(Cx, u16),
    pub(super) send: unsafe extern "C" fn(Cx, *const RawOutgoing, *const u8, usize),
    pub(super) set_timer: unsafe extern "C" fn(Cx, u64, u64),
    pub(super) clear_timer: unsafe extern "C" fn(Cx, u64),
    pub(super) note: unsafe extern "C" fn(Cx, *const c_char, *const RawAddr, u64),
    pub(super) random: unsafe extern "C" fn(Cx) -> u64,
    pub(super) listen_stream: unsafe extern "C" fn(Cx, u16),
    pub(super) connect: unsafe extern "C" fn(Cx, u64, *const RawEndpoint),
    pub(super) write: unsafe extern "C" fn(Cx, *const RawStream, *const u8, usize),
    pub(super) close: unsafe extern "C" fn(Cx, *const RawStream),
    pub(super) answer: unsafe extern "C" fn(Cx, u64, *const c_char, *const u8, usize),
}

#[repr(C)]
pub(super) struct RawAppNode {
    pub(super) size: u32,
    pub(super) node: u32,
    pub(super) addr: RawAddr,
    pub(super) now_ns: u64,
    pub(super) host: *const RawHost,
    pub(super) values: *const RawValue,
    pub(super) json: *const c_char,
}

#[repr(C)]
pub(super) struct RawCounters {
    pub(super) size: u32,
    pub(super) reserved: u32,
    pub(super) count: unsafe extern "C" fn(*const RawCounters, *const c_char, f64),
}

/// A callback with one argument besides the application and the context.
type Handler<A> = Option<unsafe extern "C" fn(*mut c_void, Cx, A)>;

/// `wayhop_application_library`.
#[repr(C)]
#[derive(Copy, Clone)]
pub(super) struct RawApplication {
    pub(super) abi_version: u32,
    pub(super) size: u32,
    pub(super) name: *const c_char,
    pub(super) about: *const c_char,
    pub(super) version: *const c_char,
    pub(super) parameters: *const RawParameter,
    pub(super) parameter_count: usize,
    pub(super) notes: *const *const c_char,
    pub(super) note_count: usize,
    pub(super) check: Option<Check>,
    pub(super) create: Option<unsafe extern "C" fn(*const RawAppNode, *mut c_char, usize) -> *mut c_void>,
    pub(super) destroy: Option<unsafe extern "C" fn(*mut c_void)>,
    pub(super) start: Option<unsafe extern "C" fn(*mut c_void, Cx)>,
    pub(super) datagram:
        Option<unsafe extern "C" fn(*mut c_void, Cx, u16, *const RawEndpoint, *const u8, usize)>,
    pub(super) stream: Handler<*const RawStreamEvent>,
    pub(super) timer: Handler<u64>,
    pub(super) position: Handler<*const RawFix>,
    pub(super) neighbours: Option<unsafe extern "C" fn(*mut c_void, Cx, *const RawAddr, usize)>,
    pub(super) command: Option<unsafe extern "C" fn(*mut c_void, Cx, u64, *const c_char, *const u8, usize)>,
    pub(super) resume: Option<unsafe extern "C" fn(*mut c_void, Cx)>,
    pub(super) restart: Option<unsafe extern "C" fn(*mut c_void)>,
    pub(super) end: Handler<i32>,
    pub(super) figures: Option<unsafe extern "C" fn(*mut c_void, *const RawCounters)>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ffi::layout::Layouts;

    #[test]
    fn structures_are_laid_out_as_a_c_compiler_does() {
        let mut layouts = Layouts::default();
        crate::ffi::layout::same! { layouts:
            RawEndpoint = "wayhop_endpoint" { addr, port };
            RawOutgoing = "wayhop_outgoing" { to, port, ttl, tos };
            RawStream = "wayhop_stream" { number, accepted };
            RawStreamEvent = "wayhop_stream_event" { stream, kind, cause, peer, port, data, length };
            RawAppCx = "wayhop_app_cx" { calls, now_ns, addr };
            RawAppCalls = "wayhop_app_calls" {
                listen, send, set_timer, clear_timer, note, random, listen_stream, connect, write, close, answer
            };
            RawAppNode = "wayhop_app_node" { node, addr, now_ns, host, values, json };
            RawCounters = "wayhop_counters" { count };
            RawApplication = "wayhop_application_library" {
                abi_version, size, name, about, version, parameters, parameter_count, notes, note_count, check, create,
                destroy, start, datagram, stream, timer, position, neighbours, command, resume, restart, end, figures
            };
        }
        layouts.compare();
    }

    #[test]
    fn streams_and_endpoints_come_back_as_they_were() {
        for id in [StreamId::Opened(3), StreamId::Accepted(u64::MAX)] {
            assert_eq!(StreamId::from(RawStream::from(id)), id);
        }
        for at in ["10.0.0.3:7070", "[fd00::1]:65535"] {
            let at: SocketAddr = at.parse().unwrap();
            assert_eq!(SocketAddr::from(RawEndpoint::from(at)), at);
        }
    }
}
