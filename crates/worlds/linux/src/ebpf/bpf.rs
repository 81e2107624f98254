//! The system calls that load programs into the kernel and attach them to an interface.
#![allow(
    unsafe_code,
    reason = "no kept crate loads programs without a compiler's output; each call says why it is sound"
)]

use std::io;
use std::mem::{size_of, size_of_val, zeroed};
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};

// Commands (linux/bpf.h).
const MAP_CREATE: i64 = 0;
const PROG_LOAD: i64 = 5;
const LINK_CREATE: i64 = 28;

/// An instruction (RFC 9669, section 3.1), as the kernel takes it: operation, registers (source above destination), offset, constant.
#[repr(C)]
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Instruction {
    pub(super) code: u8,
    pub(super) registers: u8,
    pub(super) offset: i16,
    pub(super) constant: i32,
}

const _: () = assert!(size_of::<Instruction>() == 8);

/// Where a program stands.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum AttachPoint {
    /// It sees what comes by the interface.
    In = 46,
    /// It sees what leaves by it.
    Out = 47,
}

/// # Safety
/// Every pointer in `attributes` must point to what the command expects there.
unsafe fn bpf<T>(command: i64, attributes: &mut T) -> io::Result<OwnedFd> {
    let size = size_of_val(attributes);
    // SAFETY: the caller vouches for the pointers inside; the structure itself is `size` octets long.
    let r = unsafe { libc::syscall(libc::SYS_bpf, command, std::ptr::from_mut(attributes), size) };
    let fd = i32::try_from(r).ok().filter(|r| *r >= 0).ok_or_else(io::Error::last_os_error)?;
    // SAFETY: the kernel has just made this descriptor for this process, and nothing else has it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Creates an array of one element of `octets` zero bytes, which processes can map.
pub(super) fn array_to_share(octets: usize) -> io::Result<OwnedFd> {
    const ARRAY: u32 = 2;
    const MAPPABLE: u32 = 1 << 10;
    let mut attributes: [u32; 5] = [ARRAY, 4, octets as u32, 1, MAPPABLE];
    // SAFETY: the attributes hold no pointers.
    unsafe { bpf(MAP_CREATE, &mut attributes) }
}

/// Loads a program for packets.
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
    unsafe { bpf(PROG_LOAD, &mut attributes) }
}

/// A program at an interface, behind all others there. It ends with the file descriptors that hold it.
pub struct AttachedProgram {
    program: OwnedFd,
    point: AttachPoint,
    /// Held: the program is at its place as long as this is open somewhere.
    pub(super) place: OwnedFd,
}

impl AttachedProgram {
    /// Loads a program and sets it at an interface.
    pub(super) fn open(program: &[Instruction], ifindex: u32, point: AttachPoint) -> io::Result<Self> {
        let program = load(program)?;
        let place = attach(&program, ifindex, point)?;
        Ok(Self { program, point, place })
    }

    /// Sets it at another interface. It takes fewer privileges than to begin: the program is loaded.
    pub fn move_to(&mut self, ifindex: u32) -> io::Result<()> {
        self.place = attach(&self.program, ifindex, self.point)?;
        Ok(())
    }

    /// Whether it is at its place: root can take it away (`bpftool link detach`). Then the place's description names
    /// interface 0.
    pub fn is_in_place(&self) -> bool {
        let told = std::fs::read_to_string(format!("/proc/self/fdinfo/{}", self.place.as_raw_fd()));
        let interface = told.iter().flat_map(|t| t.lines()).find_map(|l| l.strip_prefix("ifindex:"));
        interface.is_none_or(|index| index.trim() != "0")
    }
}

fn attach(program: &OwnedFd, ifindex: u32, way: AttachPoint) -> io::Result<OwnedFd> {
    // Program, interface, place, flags.
    let mut attributes: [u32; 8] = [program.as_raw_fd() as u32, ifindex, way as u32, 0, 0, 0, 0, 0];
    // SAFETY: the attributes hold no pointers.
    unsafe { bpf(LINK_CREATE, &mut attributes) }
}
