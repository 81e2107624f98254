//! The structures of `include/wayhop.h`, field for field.

use core::ffi::{c_char, c_void};

use wayhop_core::{Addr, Fix};

/// `WAYHOP_ABI_VERSION`.
pub(crate) const ABI_VERSION: u32 = 1;

#[repr(C)]
#[derive(Copy, Clone, Default)]
pub(crate) struct RawAddr {
    pub(crate) bytes: [u8; 16],
}

impl From<Addr> for RawAddr {
    fn from(a: Addr) -> Self {
        Self { bytes: a.to_bits().to_be_bytes() }
    }
}

impl From<RawAddr> for Addr {
    fn from(a: RawAddr) -> Self {
        Self::from_bits(u128::from_be_bytes(a.bytes))
    }
}

#[repr(C)]
#[derive(Copy, Clone, Default)]
pub(crate) struct RawPacket {
    pub(crate) handle: u64,
}

#[repr(C)]
pub(crate) struct RawRx {
    pub(crate) from: RawAddr,
    pub(crate) signal_dbm: f32,
    pub(crate) noise_dbm: f32,
    pub(crate) rate_kbps: u32,
    pub(crate) iface: u8,
    pub(crate) broadcast: u8,
    pub(crate) reserved: [u8; 2],
}

#[repr(C)]
pub(crate) struct RawTxReport {
    pub(crate) report: u64,
    pub(crate) packet: RawPacket,
    pub(crate) next_hop: RawAddr,
    pub(crate) status: u8,
    pub(crate) tries: u8,
    pub(crate) iface: u8,
    pub(crate) has_report: u8,
    pub(crate) reserved: [u8; 4],
}

#[repr(C)]
pub(crate) struct RawRouteUse {
    pub(crate) source: RawAddr,
    pub(crate) destination: RawAddr,
    pub(crate) next_hop: RawAddr,
    pub(crate) previous_hop: RawAddr,
    pub(crate) iface: u8,
    pub(crate) has_previous_hop: u8,
    pub(crate) reserved: [u8; 6],
}

#[repr(C)]
pub(crate) struct RawFix {
    pub(crate) latitude_deg: f64,
    pub(crate) longitude_deg: f64,
    pub(crate) heading_deg: f32,
    pub(crate) speed_m_per_s: f32,
}

impl From<&Fix> for RawFix {
    fn from(fix: &Fix) -> Self {
        Self {
            latitude_deg: fix.latitude_deg,
            longitude_deg: fix.longitude_deg,
            heading_deg: fix.heading_deg,
            speed_m_per_s: fix.speed_m_per_s,
        }
    }
}

#[repr(C)]
#[derive(Copy, Clone)]
pub(crate) struct RawValue {
    pub(crate) integer: i64,
    pub(crate) number: f64,
    pub(crate) text: *const c_char,
}

#[repr(C)]
pub(crate) struct RawCommand {
    pub(crate) kind: u32,
    pub(crate) has_destination: u32,
    pub(crate) destination: RawAddr,
    pub(crate) values: *const RawValue,
    pub(crate) json: *const c_char,
}

#[repr(C)]
#[derive(Copy, Clone)]
pub(crate) struct RawTx {
    pub(crate) next_hop: RawAddr,
    pub(crate) delay_ns: u64,
    pub(crate) report: u64,
    pub(crate) has_report: u8,
    pub(crate) iface: u8,
    pub(crate) priority: u8,
    pub(crate) reserved: [u8; 5],
}

#[repr(C)]
#[derive(Copy, Clone)]
pub(crate) struct RawRoute {
    pub(crate) destination: RawAddr,
    pub(crate) next_hop: RawAddr,
    pub(crate) metric: u32,
    pub(crate) prefix_length: u8,
    pub(crate) iface: u8,
    pub(crate) reserved: [u8; 2],
}

#[repr(C)]
#[derive(Copy, Clone)]
pub(crate) struct RawSocket {
    pub(crate) group: RawAddr,
    pub(crate) number: u16,
    pub(crate) kind: u8,
    pub(crate) iface: u8,
    pub(crate) reserved: [u8; 4],
}

#[repr(C)]
pub(crate) struct RawCx {
    pub(crate) calls: *const RawCalls,
    pub(crate) now_ns: u64,
    pub(crate) addr: RawAddr,
    pub(crate) addr6: RawAddr,
    pub(crate) node: u32,
    pub(crate) queued: u32,
    pub(crate) acknowledges: u8,
    pub(crate) reserved: [u8; 7],
}

/// A callback's context, as C has it.
type Cx = *const RawCx;

#[repr(C)]
pub(crate) struct RawCalls {
    pub(crate) size: u32,
    pub(crate) abi_version: u32,
    pub(crate) alloc: unsafe extern "C" fn(Cx, usize) -> RawPacket,
    pub(crate) copy: unsafe extern "C" fn(Cx, RawPacket) -> RawPacket,
    pub(crate) bytes: unsafe extern "C" fn(Cx, RawPacket, *mut usize) -> *mut u8,
    pub(crate) insert: unsafe extern "C" fn(Cx, RawPacket, usize, usize),
    pub(crate) remove: unsafe extern "C" fn(Cx, RawPacket, usize, usize),
    pub(crate) resize: unsafe extern "C" fn(Cx, RawPacket, usize),
    pub(crate) send: unsafe extern "C" fn(Cx, RawPacket, *const RawTx),
    pub(crate) deliver: unsafe extern "C" fn(Cx, RawPacket),
    pub(crate) drop: unsafe extern "C" fn(Cx, RawPacket, u32),
    pub(crate) consume: unsafe extern "C" fn(Cx, RawPacket),
    pub(crate) set_timer: unsafe extern "C" fn(Cx, u64, u64),
    pub(crate) clear_timer: unsafe extern "C" fn(Cx, u64),
    pub(crate) open: unsafe extern "C" fn(Cx, *const RawSocket),
    pub(crate) install: unsafe extern "C" fn(Cx, *const RawRoute),
    pub(crate) uninstall: unsafe extern "C" fn(Cx, *const RawAddr, u8),
    pub(crate) replace_routes: unsafe extern "C" fn(Cx, *const RawRoute, usize),
    pub(crate) recall: unsafe extern "C" fn(Cx, *const RawAddr),
    pub(crate) refuse: unsafe extern "C" fn(Cx, *const c_char),
    pub(crate) note: unsafe extern "C" fn(Cx, *const c_char, *const RawAddr, u64),
    pub(crate) random: unsafe extern "C" fn(Cx) -> u64,
    pub(crate) link_acknowledges: unsafe extern "C" fn(Cx, *const RawAddr) -> i32,
}

#[repr(C)]
pub(crate) struct RawHost {
    pub(crate) size: u32,
    pub(crate) abi_version: u32,
    pub(crate) log: unsafe extern "C" fn(*const c_char),
    pub(crate) fail: unsafe extern "C" fn(*const c_char),
}

#[repr(C)]
pub(crate) struct RawRun {
    pub(crate) size: u32,
    pub(crate) nodes: u32,
    pub(crate) seed: u64,
    pub(crate) host: *const RawHost,
    pub(crate) values: *const RawValue,
    pub(crate) json: *const c_char,
}

#[repr(C)]
pub(crate) struct RawNode {
    pub(crate) size: u32,
    pub(crate) node: u32,
    pub(crate) addr: RawAddr,
    pub(crate) addr6: RawAddr,
    pub(crate) prefix_length: u8,
    pub(crate) interfaces: u8,
    pub(crate) reserved: [u8; 2],
    pub(crate) life: u32,
    pub(crate) now_ns: u64,
    pub(crate) host: *const RawHost,
    pub(crate) values: *const RawValue,
    pub(crate) json: *const c_char,
}

#[repr(C)]
pub(crate) struct RawInspector {
    pub(crate) size: u32,
    pub(crate) reserved: u32,
    pub(crate) row:
        unsafe extern "C" fn(*const Self, *const c_char, *const *const c_char, *const *const c_char, usize),
    pub(crate) held: unsafe extern "C" fn(*const Self, *const c_char, RawPacket),
}

#[repr(C)]
#[derive(Copy, Clone)]
pub(crate) struct RawParameter {
    pub(crate) key: *const c_char,
    pub(crate) kind: u32,
    pub(crate) flags: u32,
    pub(crate) preset: *const c_char,
    pub(crate) minimum: *const c_char,
    pub(crate) maximum: *const c_char,
    pub(crate) choices: *const c_char,
    pub(crate) about: *const c_char,
}

#[repr(C)]
pub(crate) struct RawDatagram {
    pub(crate) source: RawAddr,
    pub(crate) destination: RawAddr,
    pub(crate) payload: *const u8,
    pub(crate) length: usize,
    pub(crate) complete_length: usize,
}

#[repr(C)]
#[derive(Copy, Clone)]
pub(crate) struct RawMessageType {
    pub(crate) bit: u32,
    pub(crate) name: *const c_char,
}

#[repr(C)]
pub(crate) struct RawClassified {
    pub(crate) class_index: i32,
    pub(crate) types: u32,
}

/// A callback without an optional argument's type repeated: the engine, and the context.
type Handler<A> = Option<unsafe extern "C" fn(*mut c_void, Cx, A)>;

/// `check`: what is wrong with a set of values together.
pub(crate) type Check = unsafe extern "C" fn(*const RawValue, *mut c_char, usize) -> i32;

/// `wayhop_protocol_library`. All zeros is a value of it: no name, and no callbacks.
#[repr(C)]
#[derive(Copy, Clone)]
pub(crate) struct RawLibrary {
    pub(crate) abi_version: u32,
    pub(crate) size: u32,
    pub(crate) name: *const c_char,
    pub(crate) full_name: *const c_char,
    pub(crate) specification: *const c_char,
    pub(crate) version: *const c_char,
    pub(crate) data_plane: u32,
    pub(crate) interests: u32,
    pub(crate) position_interval_ns: u64,
    pub(crate) header_room: u32,
    pub(crate) carrier_number: u16,
    pub(crate) carrier: u8,
    pub(crate) reserved: u8,
    pub(crate) parameters: *const RawParameter,
    pub(crate) parameter_count: usize,
    pub(crate) classes: *const *const c_char,
    pub(crate) class_count: usize,
    pub(crate) types: *const RawMessageType,
    pub(crate) type_count: usize,
    pub(crate) classify: Option<unsafe extern "C" fn(*const RawDatagram, *mut RawClassified)>,
    pub(crate) decode: Option<unsafe extern "C" fn(*const RawDatagram, *mut c_char, usize) -> usize>,
    pub(crate) check: Option<Check>,
    pub(crate) run_begin: Option<unsafe extern "C" fn(*const RawRun) -> *mut c_void>,
    pub(crate) run_end: Option<unsafe extern "C" fn(*mut c_void)>,
    pub(crate) create:
        Option<unsafe extern "C" fn(*mut c_void, *const RawNode, *mut c_char, usize) -> *mut c_void>,
    pub(crate) destroy: Option<unsafe extern "C" fn(*mut c_void)>,
    pub(crate) start: Option<unsafe extern "C" fn(*mut c_void, Cx)>,
    pub(crate) outbound: Handler<RawPacket>,
    pub(crate) frame: Option<unsafe extern "C" fn(*mut c_void, Cx, RawPacket, *const RawRx)>,
    pub(crate) overheard:
        Option<unsafe extern "C" fn(*mut c_void, Cx, *const u8, usize, *const RawAddr, *const RawRx)>,
    pub(crate) tx_status: Handler<*const RawTxReport>,
    pub(crate) timer: Handler<u64>,
    pub(crate) route_used: Handler<*const RawRouteUse>,
    pub(crate) link: Option<unsafe extern "C" fn(*mut c_void, Cx, u32, u32)>,
    pub(crate) position: Handler<*const RawFix>,
    pub(crate) command: Handler<*const RawCommand>,
    pub(crate) inspect: Option<unsafe extern "C" fn(*mut c_void, u64, *const RawInspector)>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ffi::layout::{Layouts, same};

    #[test]
    fn structures_are_laid_out_as_a_c_compiler_does() {
        let mut layouts = Layouts::default();
        same! { layouts:
            RawAddr = "wayhop_addr" { bytes };
            RawPacket = "wayhop_packet" { handle };
            RawRx = "wayhop_rx" { from, signal_dbm, noise_dbm, rate_kbps, iface, broadcast };
            RawTxReport = "wayhop_tx_report" { packet, next_hop, status, tries, iface, has_report };
            RawRouteUse = "wayhop_route_use" { destination, next_hop, previous_hop, iface, has_previous_hop };
            RawFix = "wayhop_fix" { longitude_deg, heading_deg, speed_m_per_s };
            RawValue = "wayhop_value" { integer, number, text };
            RawCommand = "wayhop_command" { kind, has_destination, destination, values, json };
            RawTx = "wayhop_tx" { next_hop, delay_ns, report, has_report, iface, priority };
            RawRoute = "wayhop_route" { destination, next_hop, metric, prefix_length, iface };
            RawSocket = "wayhop_socket" { group, number, kind, iface };
            RawCx = "wayhop_cx" { calls, now_ns, addr, addr6, node, queued, acknowledges };
            RawCalls = "wayhop_calls" {
                alloc, copy, bytes, insert, remove, resize, send, deliver, drop, consume, set_timer, clear_timer, open,
                install, uninstall, replace_routes, recall, refuse, note, random, link_acknowledges
            };
            RawHost = "wayhop_host" { abi_version, log, fail };
            RawRun = "wayhop_run" { nodes, seed, host, values, json };
            RawNode = "wayhop_node" {
                node, addr, addr6, prefix_length, interfaces, life, now_ns, host, values, json
            };
            RawInspector = "wayhop_inspector" { row, held };
            RawDatagram = "wayhop_datagram" { source, destination, payload, length, complete_length };
            RawMessageType = "wayhop_message_type" { bit, name };
            RawClassified = "wayhop_classified" { class_index, types };
            RawLibrary = "wayhop_protocol_library" {
                abi_version, size, name, full_name, specification, version, data_plane, interests,
                position_interval_ns, header_room, carrier_number, carrier, parameters, parameter_count, classes,
                class_count, types, type_count, classify, decode, check, run_begin, run_end, create, destroy, start,
                outbound, frame, overheard, tx_status, timer, route_used, link, position, command, inspect
            };
        }
        // `type` is a word of Rust's.
        layouts.size("wayhop_parameter", size_of::<RawParameter>());
        layouts.field("wayhop_parameter", "type", core::mem::offset_of!(RawParameter, kind));
        layouts.field("wayhop_parameter", "about", core::mem::offset_of!(RawParameter, about));
        layouts.compare();
    }

    #[test]
    fn addresses_keep_their_bytes() {
        let a: Addr = "10.1.2.3".parse().unwrap();
        assert_eq!(RawAddr::from(a).bytes[10..], [0xff, 0xff, 10, 1, 2, 3]);
        assert_eq!(Addr::from(RawAddr::from(a)), a);
        let b: Addr = "fd00::1".parse().unwrap();
        assert_eq!(Addr::from(RawAddr::from(b)), b);
    }
}
