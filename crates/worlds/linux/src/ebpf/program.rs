//! The programs, instruction by instruction (RFC 9669). A packet that passes needs no call and no
//! backward jump.

use std::net::Ipv4Addr;

use wayhop_core::Mac;

use super::bpf::Instruction;
use super::table::{SETS, SLOT};
use crate::prefix::Prefix;

/// What a program is made for.
#[derive(Copy, Clone, Debug)]
pub(super) struct ProgramSpec<'a> {
    /// This node's address.
    pub(super) own: Ipv4Addr,
    /// The mesh's addresses.
    pub(super) mesh: Prefix,
    /// The interfaces by which what is for addresses outside of the mesh may leave, by number; none in a mesh without gateways.
    pub(super) ways_on: &'a [u32],
    /// The routing protocol's UDP port.
    pub(super) port: u16,
    /// The mark of the node's own messages, which only a process with CAP_NET_ADMIN can give a packet.
    pub(super) mark: u32,
    /// Where pairs are noted: the descriptor of the table's map.
    pub(super) map: i32,
    /// What spreads pairs over the table: any odd number.
    pub(super) factor: u64,
}

// Operations: class, source of the operand, what is done; or class, size, mode.
const LOAD_WORD: u8 = 0x61;
const LOAD_HALF: u8 = 0x69;
const LOAD_BYTE: u8 = 0x71;
const LOAD_LONG: u8 = 0x79;
const LOAD_CONSTANT: u8 = 0x18;
const STORE_WORD: u8 = 0x63;
const STORE_BYTE: u8 = 0x73;
const STORE_LONG: u8 = 0x7b;
const STORE_LONG_CONSTANT: u8 = 0x7a;
const STORE_BYTE_CONSTANT: u8 = 0x72;
const MOVE: u8 = 0xbf;
const MOVE_CONSTANT: u8 = 0xb7;
const ADD: u8 = 0x0f;
const ADD_CONSTANT: u8 = 0x07;
const MULTIPLY: u8 = 0x2f;
const OR: u8 = 0x4f;
const SHIFT_LEFT: u8 = 0x67;
const SHIFT_RIGHT: u8 = 0x77;
const AND_CONSTANT_32: u8 = 0x54;
const JUMP: u8 = 0x05;
const IF_GREATER: u8 = 0x2d;
const IF_EQUAL: u8 = 0x1d;
const IF_NOT_EQUAL: u8 = 0x5d;
const IF_CONSTANT: u8 = 0x15;
const IF_NOT_CONSTANT: u8 = 0x55;
const IF_CONSTANT_32: u8 = 0x16;
const IF_NOT_CONSTANT_32: u8 = 0x56;
const CALL: u8 = 0x85;
const EXIT: u8 = 0x95;

// Fields of `struct __sk_buff` (linux/bpf.h).
const PACKET_TYPE: i16 = 4;
const MARK: i16 = 8;
const PROTOCOL: i16 = 16;
const VLAN_TCI: i16 = 24;
const INTERFACE: i16 = 40;
const DATA: i16 = 76;
const DATA_END: i16 = 80;

// Offsets in a frame.
const TRANSMITTER: i16 = 6;
const IP: i16 = 14;
const IP_TOS: i16 = IP + 1;
const IP_FRAGMENT: i16 = IP + 6;
const IP_PROTOCOL: i16 = IP + 9;
const IP_SOURCE: i16 = IP + 12;
const IP_DESTINATION: i16 = IP + 16;
const UDP_DESTINATION: i16 = IP + 22;
const UDP: i32 = 17;
/// Version 4, and a header of five words: without options.
const IP_PLAIN: i32 = 0x45;
const FRAGMENT_OFFSET: u16 = 0x1fff;
/// Octets of a frame up to the destination's port.
const WITH_PORTS: i32 = 38;

/// What a program says of a packet: pass it to the next program (`TCX_NEXT`), or drop it (`TCX_DROP`).
const PASS: i32 = -1;
const DROP: i32 = 2;

/// Instead of a constant: the first element of an array.
const MAP_VALUE: u8 = 2;

/// The lower half of a constant of eight octets.
fn half(v: u64) -> i32 {
    v as u32 as i32
}

/// Places in a program.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Place {
    /// The packet goes on.
    Pass,
    /// It ends.
    Drop,
    /// The headers can be read.
    Read,
    /// They are not in one piece yet.
    Pieces,
    /// The packet is for this host.
    Here,
    /// Source and destination are noted.
    Note,
    /// The packet is not for the mesh.
    Outside,
    /// The pair is written down.
    Write,
}

/// A program under construction.
#[derive(Default)]
struct Code {
    instructions: Vec<Instruction>,
    places: Vec<(Place, usize)>,
    jumps: Vec<(usize, Place)>,
}

impl Code {
    fn op(&mut self, code: u8, to: u8, from: u8, offset: i16, constant: i32) {
        self.instructions.push(Instruction { code, registers: from << 4 | to, offset, constant });
    }

    fn jump(&mut self, code: u8, to: u8, from: u8, constant: i32, place: Place) {
        self.jumps.push((self.instructions.len(), place));
        self.op(code, to, from, 0, constant);
    }

    fn here(&mut self, place: Place) {
        self.places.push((place, self.instructions.len()));
    }

    fn long_constant(&mut self, to: u8, kind: u8, low: i32, high: i32) {
        self.op(LOAD_CONSTANT, to, kind, 0, low);
        self.op(0, 0, 0, 0, high);
    }

    /// Register 6 becomes the frame's start; what has fewer than `octets` in one piece goes elsewhere.
    fn frame(&mut self, octets: i32, otherwise: Place) {
        self.op(LOAD_WORD, 6, 9, DATA, 0);
        self.op(LOAD_WORD, 3, 9, DATA_END, 0);
        self.op(MOVE, 4, 6, 0, 0);
        self.op(ADD_CONSTANT, 4, 0, 0, octets);
        self.jump(IF_GREATER, 4, 3, 0, otherwise);
    }

    /// Has the kernel put this many octets of the frame into one piece, and reads it then; one that is shorter goes elsewhere.
    fn pull(&mut self, octets: i32, otherwise: Place) {
        const PULL_DATA: i32 = 39;
        self.op(MOVE, 1, 9, 0, 0);
        self.op(MOVE_CONSTANT, 2, 0, 0, octets);
        self.op(CALL, 0, 0, 0, PULL_DATA);
        self.frame(octets, otherwise);
        self.jump(JUMP, 0, 0, 0, Place::Read);
    }

    /// Whether the address in a register is of the mesh; register 4 is used.
    fn unless_in_mesh(&mut self, register: u8, mesh: Prefix, elsewhere: Place) {
        let (network, mask) = (raw(mesh.network()), raw(mesh.mask()));
        self.op(MOVE, 4, register, 0, 0);
        self.op(AND_CONSTANT_32, 4, 0, 0, mask);
        self.jump(IF_NOT_CONSTANT_32, 4, 0, network, elsewhere);
    }

    /// Notes the pair of the source in register 2 and the destination in register 3, and who transmitted the frame.
    /// A pair's place is one of the two slots of its set: the first, while that is free, or else the second.
    fn note(&mut self, f: &ProgramSpec<'_>) {
        self.op(LOAD_WORD, 7, 6, TRANSMITTER, 0);
        self.op(LOAD_HALF, 8, 6, TRANSMITTER + 4, 0);
        self.op(SHIFT_LEFT, 3, 0, 0, 32);
        self.op(OR, 2, 3, 0, 0);
        self.long_constant(4, 0, half(f.factor), half(f.factor >> 32));
        self.op(MULTIPLY, 4, 2, 0, 0);
        self.op(SHIFT_RIGHT, 4, 0, 0, 64 - SETS.ilog2() as i32);
        self.op(SHIFT_LEFT, 4, 0, 0, (2 * SLOT).ilog2() as i32);
        self.long_constant(5, MAP_VALUE, f.map, 0);
        self.op(ADD, 5, 4, 0, 0);
        self.op(LOAD_LONG, 4, 5, 0, 0);
        self.jump(IF_EQUAL, 4, 2, 0, Place::Pass);
        self.jump(IF_CONSTANT, 4, 0, 0, Place::Write);
        self.op(ADD_CONSTANT, 5, 0, 0, SLOT as i32);
        self.op(LOAD_LONG, 4, 5, 0, 0);
        self.jump(IF_EQUAL, 4, 2, 0, Place::Pass);
        self.here(Place::Write);
        self.op(SHIFT_LEFT, 8, 0, 0, 32);
        self.op(OR, 7, 8, 0, 0);
        self.op(STORE_LONG, 5, 7, 8, 0);
        self.op(STORE_LONG, 5, 2, 0, 0);
    }

    fn end(&mut self, verdict: i32) {
        self.op(MOVE_CONSTANT, 0, 0, 0, verdict);
        self.op(EXIT, 0, 0, 0, 0);
    }

    fn finished(mut self) -> Vec<Instruction> {
        for (at, place) in self.jumps {
            let to = self.places.iter().find(|(p, _)| *p == place).map_or(at, |(_, to)| *to);
            self.instructions[at].offset = (to as isize - at as isize - 1) as i16;
        }
        self.instructions
    }
}

/// An address as it looks when it is loaded from a packet.
fn raw(a: Ipv4Addr) -> i32 {
    i32::from_ne_bytes(a.octets())
}

/// The same of a number of two octets.
fn raw_half(v: u16) -> i32 {
    i32::from(u16::from_ne_bytes(v.to_be_bytes()))
}

/// What comes by the interface.
pub(super) fn incoming(f: &ProgramSpec<'_>) -> Vec<Instruction> {
    const FIB_LOOKUP: i32 = 69;
    // `struct bpf_fib_lookup`, below the stack's end, and the answers that mean: the kernel will not forward it.
    const QUESTION: i16 = -64;
    const NOT_FORWARDED: i32 = 4;
    const NO_FORWARDING: i32 = 5;
    const LENGTH: i32 = 34;

    let mut c = Code::default();
    c.op(MOVE, 9, 1, 0, 0);
    // What is overheard, or for all on the link, the kernel does not forward; and a next hop that is heard forwarding would
    // look like one that sends packets back.
    c.op(LOAD_WORD, 2, 9, PACKET_TYPE, 0);
    c.jump(IF_NOT_CONSTANT, 2, 0, i32::from(libc::PACKET_HOST), Place::Pass);
    c.op(LOAD_WORD, 2, 9, PROTOCOL, 0);
    c.jump(IF_NOT_CONSTANT, 2, 0, raw_half(0x0800), Place::Pass);
    c.frame(LENGTH, Place::Pieces);
    c.here(Place::Read);
    c.op(LOAD_WORD, 3, 6, IP_DESTINATION, 0);
    c.jump(IF_CONSTANT_32, 3, 0, raw(f.own), Place::Here);
    c.unless_in_mesh(3, f.mesh, Place::Outside);
    c.here(Place::Note);
    c.op(LOAD_WORD, 2, 6, IP_SOURCE, 0);
    c.note(f);
    c.here(Place::Pass);
    c.end(PASS);

    // For this host: the way that it came is in use. The protocol's own messages are no use of it.
    c.here(Place::Here);
    c.op(LOAD_WORD, 2, 6, IP_SOURCE, 0);
    if f.ways_on.is_empty() {
        c.unless_in_mesh(2, f.mesh, Place::Pass);
    }
    c.op(LOAD_BYTE, 5, 6, IP_PROTOCOL, 0);
    c.jump(IF_NOT_CONSTANT, 5, 0, UDP, Place::Note);
    c.frame(WITH_PORTS, Place::Pass);
    c.op(LOAD_HALF, 5, 6, UDP_DESTINATION, 0);
    c.jump(IF_CONSTANT, 5, 0, raw_half(f.port), Place::Pass);
    c.op(LOAD_WORD, 3, 6, IP_DESTINATION, 0);
    c.jump(JUMP, 0, 0, 0, Place::Note);

    c.here(Place::Pieces);
    c.pull(LENGTH, Place::Drop);

    // Of another interface, on top of this one.
    c.here(Place::Outside);
    c.op(LOAD_WORD, 2, 9, VLAN_TCI, 0);
    c.op(AND_CONSTANT_32, 2, 0, 0, 0x0fff);
    c.jump(IF_NOT_CONSTANT, 2, 0, 0, Place::Pass);
    // For this host, or for all, or for nobody: the kernel knows.
    for at in (QUESTION..0).step_by(8) {
        c.op(STORE_LONG_CONSTANT, 10, 0, at, 0);
    }
    c.op(STORE_BYTE_CONSTANT, 10, 0, QUESTION, i32::from(libc::AF_INET as u8));
    c.op(LOAD_WORD, 2, 9, INTERFACE, 0);
    c.op(STORE_WORD, 10, 2, QUESTION + 8, 0);
    c.op(LOAD_BYTE, 2, 6, IP_TOS, 0);
    c.op(STORE_BYTE, 10, 2, QUESTION + 12, 0);
    c.op(LOAD_WORD, 2, 6, IP_SOURCE, 0);
    c.op(STORE_WORD, 10, 2, QUESTION + 16, 0);
    c.op(STORE_WORD, 10, 3, QUESTION + 32, 0);
    c.op(MOVE, 1, 9, 0, 0);
    c.op(MOVE, 2, 10, 0, 0);
    c.op(ADD_CONSTANT, 2, 0, 0, i32::from(QUESTION));
    c.op(MOVE_CONSTANT, 3, 0, 0, -i32::from(QUESTION));
    c.op(MOVE_CONSTANT, 4, 0, 0, 0);
    c.op(CALL, 0, 0, 0, FIB_LOOKUP);
    c.jump(IF_CONSTANT, 0, 0, NOT_FORWARDED, Place::Pass);
    c.jump(IF_CONSTANT, 0, 0, NO_FORWARDING, Place::Pass);
    // The answer has the interface by which it would leave. Where the kernel has none it says that of the question, and sends nothing on.
    c.op(LOAD_WORD, 2, 10, QUESTION + 8, 0);
    c.op(LOAD_WORD, 3, 6, IP_DESTINATION, 0);
    for way in f.ways_on {
        c.jump(IF_CONSTANT_32, 2, 0, way.cast_signed(), Place::Note);
    }
    c.here(Place::Drop);
    c.end(DROP);
    c.finished()
}

/// What comes by an interface, less what those transmit whose word in the map is not 0.
pub(super) fn ignoring(known: &[Mac], map: i32) -> Vec<Instruction> {
    const ETHERNET: i32 = 14;
    let mut c = Code::default();
    c.op(MOVE, 9, 1, 0, 0);
    c.frame(ETHERNET, Place::Pass);
    c.op(LOAD_WORD, 2, 6, TRANSMITTER, 0);
    c.op(LOAD_HALF, 3, 6, TRANSMITTER + 4, 0);
    c.op(SHIFT_LEFT, 3, 0, 0, 32);
    c.op(OR, 2, 3, 0, 0);
    c.long_constant(5, MAP_VALUE, map, 0);
    for (k, mac) in known.iter().enumerate() {
        let [a, b, d, e, f, g] = mac.0;
        let high = u16::from_ne_bytes([f, g]);
        c.long_constant(4, 0, i32::from_ne_bytes([a, b, d, e]), i32::from(high));
        // To the next one.
        c.op(IF_NOT_EQUAL, 2, 4, 2, 0);
        c.op(LOAD_LONG, 3, 5, 8 * k as i16, 0);
        c.jump(IF_NOT_CONSTANT, 3, 0, 0, Place::Drop);
    }
    c.here(Place::Pass);
    c.end(PASS);
    c.here(Place::Drop);
    c.end(DROP);
    c.finished()
}

/// What comes by an interface where the node takes everything from its own sockets, which are asked before: the kernel's IP gets
/// nothing, and neither does its ARP, whose table of neighbours strangers could fill. Frames of a VLAN are those of another interface, on top of this one.
pub(super) fn closed() -> Vec<Instruction> {
    let mut c = Code::default();
    c.op(LOAD_WORD, 2, 1, VLAN_TCI, 0);
    c.op(AND_CONSTANT_32, 2, 0, 0, 0x0fff);
    c.jump(IF_NOT_CONSTANT, 2, 0, 0, Place::Pass);
    c.op(LOAD_WORD, 2, 1, PROTOCOL, 0);
    for ethertype in [0x0800, 0x0806, 0x86dd] {
        c.jump(IF_CONSTANT, 2, 0, raw_half(ethertype), Place::Drop);
    }
    c.here(Place::Pass);
    c.end(PASS);
    c.here(Place::Drop);
    c.end(DROP);
    c.finished()
}

/// What this host sends by the interface, its own packets and those that it forwards. Messages of the protocol leave if they are
/// the node's: neither does a program of this host forge any, nor one further away, whose packets the kernel forwards with
/// their source. Receivers take none with IP options, which would hide the port from this program. The host's own packets
/// use routes, too; the protocol's do not count.
pub(super) fn outgoing(f: &ProgramSpec<'_>) -> Vec<Instruction> {
    let mut c = Code::default();
    c.op(MOVE, 9, 1, 0, 0);
    c.op(LOAD_WORD, 2, 9, PROTOCOL, 0);
    c.jump(IF_NOT_CONSTANT, 2, 0, raw_half(0x0800), Place::Pass);
    c.frame(WITH_PORTS, Place::Pieces);
    c.here(Place::Read);
    c.op(LOAD_BYTE, 5, 6, IP_PROTOCOL, 0);
    c.jump(IF_NOT_CONSTANT, 5, 0, UDP, Place::Note);
    // Later fragments have no ports.
    c.op(LOAD_HALF, 5, 6, IP_FRAGMENT, 0);
    c.op(AND_CONSTANT_32, 5, 0, 0, raw_half(FRAGMENT_OFFSET));
    c.jump(IF_NOT_CONSTANT, 5, 0, 0, Place::Note);
    c.op(LOAD_BYTE, 5, 6, IP, 0);
    c.jump(IF_NOT_CONSTANT, 5, 0, IP_PLAIN, Place::Note);
    c.op(LOAD_HALF, 5, 6, UDP_DESTINATION, 0);
    c.jump(IF_NOT_CONSTANT, 5, 0, raw_half(f.port), Place::Note);
    c.op(LOAD_WORD, 5, 9, MARK, 0);
    c.jump(IF_NOT_CONSTANT_32, 5, 0, f.mark.cast_signed(), Place::Drop);
    c.end(PASS);

    c.here(Place::Note);
    c.op(LOAD_WORD, 2, 6, IP_SOURCE, 0);
    c.jump(IF_NOT_CONSTANT_32, 2, 0, raw(f.own), Place::Pass);
    c.op(LOAD_WORD, 3, 6, IP_DESTINATION, 0);
    if f.ways_on.is_empty() {
        c.unless_in_mesh(3, f.mesh, Place::Pass);
    }
    c.note(f);
    c.here(Place::Pass);
    c.end(PASS);

    c.here(Place::Pieces);
    c.pull(WITH_PORTS, Place::Pass);
    c.here(Place::Drop);
    c.end(DROP);
    c.finished()
}
