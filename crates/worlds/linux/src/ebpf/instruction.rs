//! An instruction of eBPF (RFC 9669, section 3.1), as the kernel takes it.

use std::mem::size_of;

/// An instruction: operation, registers (source above destination), offset, constant.
#[repr(C)]
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Instruction {
    pub(super) code: u8,
    pub(super) registers: u8,
    pub(super) offset: i16,
    pub(super) constant: i32,
}

const _: () = assert!(size_of::<Instruction>() == 8);
