//! A small program in the kernel that notes which pairs of source and destination pass the interface, so that AODV learns
//! of the use of its routes although the kernel forwards by them.
//!
//! For a pair that it knows it costs one look into a hash table, so forwarding stays nearly as fast as without it. This
//! process takes the pairs out ten times a second; the next packet of a pair enters it again. Program, table and their
//! places at the interface end with the file descriptors that hold them.
//!
//! The places (`tcx`) exist from Linux 6.6 on.
#![allow(
    unsafe_code,
    reason = "no kept crate loads programs without a compiler's output; each call says why it is sound"
)]

use std::io;
use std::mem::{size_of, size_of_val, zeroed};
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};

use wayhop_core::{Addr, Mac};

/// Pairs that are remembered between two looks; the least recent give way.
const MAX_PAIRS: usize = 4096;

/// A pair that passed since the last look.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Passed {
    pub(crate) source: Addr,
    pub(crate) destination: Addr,
    /// Who sent it to this node; this node for its own packets.
    pub(crate) transmitter: Mac,
}

/// The program at work.
pub(crate) struct Usage {
    map: OwnedFd,
    programs: [OwnedFd; 2],
    /// Held: the programs are at their places as long as these are open.
    links: [OwnedFd; 2],
    keys: Box<[[u8; 8]]>,
    values: Box<[[u8; 8]]>,
}

/// Which way packets go.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Way {
    /// Those of others, on their way through.
    In,
    /// This node's own.
    Out,
}

impl Usage {
    /// Begins to watch an interface. `port` is the routing protocol's own, whose packets do not count.
    pub(crate) fn watch(ifindex: u32, own: Addr, port: u16) -> io::Result<Self> {
        let map = create_map()?;
        let program = |way| load(&program(map.as_raw_fd(), way, own, port));
        let programs = [program(Way::In)?, program(Way::Out)?];
        let links = attach_both(&programs, ifindex)?;
        let room = || vec![[0; 8]; MAX_PAIRS].into_boxed_slice();
        Ok(Self { map, programs, links, keys: room(), values: room() })
    }

    /// Watches another interface from now on. It takes fewer privileges than to begin: the programs are loaded.
    pub(crate) fn move_to(&mut self, ifindex: u32) -> io::Result<()> {
        self.links = attach_both(&self.programs, ifindex)?;
        Ok(())
    }

    /// Takes out what has passed since the last look.
    pub(crate) fn take(&mut self) -> impl Iterator<Item = Passed> + '_ {
        let n = self.take_batch().unwrap_or(0);
        let octets = |k: &[u8; 8], at: usize| Addr::new(k[at], k[at + 1], k[at + 2], k[at + 3]);
        self.keys[..n].iter().zip(&self.values).map(move |(k, v)| Passed {
            source: octets(k, 0),
            destination: octets(k, 4),
            transmitter: Mac([v[0], v[1], v[2], v[3], v[4], v[5]]),
        })
    }

    fn take_batch(&mut self) -> io::Result<usize> {
        #[repr(C)]
        struct Batch {
            from: u64,
            to: u64,
            keys: u64,
            values: u64,
            count: u32,
            map: i32,
            element_flags: u64,
            flags: u64,
        }
        let mut position = 0_u64;
        let mut attributes = Batch {
            from: 0,
            to: std::ptr::from_mut(&mut position) as u64,
            keys: self.keys.as_mut_ptr() as u64,
            values: self.values.as_mut_ptr() as u64,
            count: MAX_PAIRS as u32,
            map: self.map.as_raw_fd(),
            element_flags: 0,
            flags: 0,
        };
        // SAFETY: `keys` and `values` have room for `count` elements of the map's sizes, `position` for a position.
        match unsafe { bpf(LOOKUP_AND_DELETE_BATCH, &mut attributes) } {
            // All were taken.
            Err(e) if e.raw_os_error() == Some(libc::ENOENT) => {}
            Err(e) => return Err(e),
            Ok(_) => {}
        }
        Ok((attributes.count as usize).min(MAX_PAIRS))
    }
}

// Commands (linux/bpf.h).
const MAP_CREATE: i64 = 0;
const PROG_LOAD: i64 = 5;
const LOOKUP_AND_DELETE_BATCH: i64 = 25;
const LINK_CREATE: i64 = 28;

/// # Safety
/// Every pointer in `attributes` must point to what the command expects there.
unsafe fn bpf<T>(command: i64, attributes: &mut T) -> io::Result<i32> {
    let size = size_of_val(attributes);
    // SAFETY: the caller vouches for the pointers inside; the structure itself is `size` octets long.
    let r = unsafe { libc::syscall(libc::SYS_bpf, command, std::ptr::from_mut(attributes), size) };
    i32::try_from(r).ok().filter(|r| *r >= 0).ok_or_else(io::Error::last_os_error)
}

fn owned(fd: i32) -> OwnedFd {
    // SAFETY: the kernel has just made this descriptor for this process, and nothing else has it.
    unsafe { OwnedFd::from_raw_fd(fd) }
}

fn create_map() -> io::Result<OwnedFd> {
    const LRU_HASH: u32 = 9;
    let mut attributes: [u32; 5] = [LRU_HASH, 8, 8, MAX_PAIRS as u32, 0];
    // SAFETY: the attributes hold no pointers.
    unsafe { bpf(MAP_CREATE, &mut attributes) }.map(owned)
}

fn load(program: &[Instruction]) -> io::Result<OwnedFd> {
    #[repr(C)]
    struct Load {
        kind: u32,
        count: u32,
        instructions: u64,
        license: u64,
        log_level: u32,
        log_size: u32,
        log: u64,
        kernel_version: u32,
        flags: u32,
        name: [u8; 16],
    }
    const SCHED_CLS: u32 = 3;
    // SAFETY: all zeros are valid.
    let mut attributes: Load = unsafe { zeroed() };
    attributes.kind = SCHED_CLS;
    attributes.count = program.len() as u32;
    attributes.instructions = program.as_ptr() as u64;
    attributes.license = c"Dual MIT/GPL".as_ptr() as u64;
    attributes.name[..6].copy_from_slice(b"wayhop");
    // SAFETY: `instructions` points at `count` of them, `license` at a string that ends with a zero.
    unsafe { bpf(PROG_LOAD, &mut attributes) }.map(owned)
}

fn attach_both(programs: &[OwnedFd; 2], ifindex: u32) -> io::Result<[OwnedFd; 2]> {
    Ok([attach(&programs[0], ifindex, Way::In)?, attach(&programs[1], ifindex, Way::Out)?])
}

fn attach(program: &OwnedFd, ifindex: u32, way: Way) -> io::Result<OwnedFd> {
    const TCX_INGRESS: u32 = 46;
    const TCX_EGRESS: u32 = 47;
    let place = if way == Way::In { TCX_INGRESS } else { TCX_EGRESS };
    // Program, interface, place, flags; then: behind all others.
    let mut attributes: [u32; 8] = [program.as_raw_fd() as u32, ifindex, place, 0, 0, 0, 0, 0];
    // SAFETY: the attributes hold no pointers.
    unsafe { bpf(LINK_CREATE, &mut attributes) }.map(owned)
}

/// An instruction: operation, registers (source above destination), offset, constant.
#[repr(C)]
#[derive(Copy, Clone)]
struct Instruction {
    code: u8,
    registers: u8,
    offset: i16,
    constant: i32,
}

const _: () = assert!(size_of::<Instruction>() == 8);

fn op(code: u8, to: u8, from: u8, offset: i16, constant: i32) -> Instruction {
    Instruction { code, registers: from << 4 | to, offset, constant }
}

/// The program (RFC 9669). Registers: 6 the packet, 7 and 8 the transmitter's address, 10 the stack.
fn program(map: i32, way: Way, own: Addr, port: u16) -> Vec<Instruction> {
    const LOAD_WORD: u8 = 0x61;
    const LOAD_HALF: u8 = 0x69;
    const LOAD_BYTE: u8 = 0x71;
    const STORE_WORD: u8 = 0x63;
    const MOVE: u8 = 0xbf;
    const MOVE_CONSTANT: u8 = 0xb7;
    const ADD_CONSTANT: u8 = 0x07;
    const IF_GREATER: u8 = 0x2d;
    const IF_NOT_CONSTANT: u8 = 0x55;
    const IF_CONSTANT: u8 = 0x15;
    const IF_CONSTANT_32: u8 = 0x16;
    const IF_NOT_CONSTANT_32: u8 = 0x56;
    const CALL: u8 = 0x85;
    const EXIT: u8 = 0x95;
    const LOAD_MAP: u8 = 0x18;
    /// `data` and `data_end` in `struct __sk_buff`.
    const DATA: i16 = 76;
    const DATA_END: i16 = 80;
    /// Where the IP header begins.
    const IP: i16 = 14;

    // Constants as they look when loaded from a packet.
    let raw = |a: Addr| i32::from_ne_bytes(a.octets());
    let half = |v: u16| i32::from(u16::from_ne_bytes(v.to_be_bytes()));
    let map_address = [op(LOAD_MAP, 1, 1, 0, map), op(0, 0, 0, 0, 0)];

    let mut code = vec![
        op(LOAD_WORD, 6, 1, DATA, 0),
        op(LOAD_WORD, 3, 1, DATA_END, 0),
        op(MOVE, 4, 6, 0, 0),
        op(ADD_CONSTANT, 4, 0, 0, 38),
        op(IF_GREATER, 4, 3, OUT, 0),
        op(LOAD_HALF, 5, 6, 12, 0),
        op(IF_NOT_CONSTANT, 5, 0, OUT, half(0x0800)),
        // The protocol's own messages; they have no IP options.
        op(LOAD_BYTE, 5, 6, IP + 9, 0),
        op(IF_NOT_CONSTANT, 5, 0, 2, 17),
        op(LOAD_HALF, 5, 6, IP + 22, 0),
        op(IF_CONSTANT, 5, 0, OUT, half(port)),
        op(LOAD_WORD, 2, 6, IP + 12, 0),
        op(LOAD_WORD, 3, 6, IP + 16, 0),
        match way {
            Way::In => op(IF_CONSTANT_32, 3, 0, OUT, raw(own)),
            Way::Out => op(IF_NOT_CONSTANT_32, 2, 0, OUT, raw(own)),
        },
        op(STORE_WORD, 10, 2, -8, 0),
        op(STORE_WORD, 10, 3, -4, 0),
        op(LOAD_WORD, 7, 6, 6, 0),
        op(LOAD_HALF, 8, 6, 10, 0),
    ];
    code.extend(map_address);
    code.extend([
        op(MOVE, 2, 10, 0, 0),
        op(ADD_CONSTANT, 2, 0, 0, -8),
        op(CALL, 0, 0, 0, 1), // bpf_map_lookup_elem
        op(IF_NOT_CONSTANT, 0, 0, OUT, 0),
        op(STORE_WORD, 10, 7, -16, 0),
        op(STORE_WORD, 10, 8, -12, 0),
    ]);
    code.extend(map_address);
    code.extend([
        op(MOVE, 2, 10, 0, 0),
        op(ADD_CONSTANT, 2, 0, 0, -8),
        op(MOVE, 3, 10, 0, 0),
        op(ADD_CONSTANT, 3, 0, 0, -16),
        op(MOVE_CONSTANT, 4, 0, 0, 0),
        op(CALL, 0, 0, 0, 2), // bpf_map_update_elem
    ]);
    // Jumps to the end are known by now.
    let end = code.len();
    for (at, i) in code.iter_mut().enumerate() {
        if i.offset == OUT {
            i.offset = (end - at - 1) as i16;
        }
    }
    // -1: whatever comes after this program goes on with the packet.
    code.extend([op(MOVE_CONSTANT, 0, 0, 0, -1), op(EXIT, 0, 0, 0, 0)]);
    code
}

/// The offset of a jump to the program's end, until that is known.
const OUT: i16 = i16::MAX;
