//! Words that two processes share.

use core::sync::atomic::AtomicU64;
use std::fs::File;
use std::io;

use memmap2::MmapOptions;

/// The first words of a file that another process reads, for as long as this process lives.
pub(crate) fn shared<const N: usize>(file: &File) -> io::Result<&'static [AtomicU64; N]> {
    let map = MmapOptions::new().len(N * size_of::<AtomicU64>()).map_raw(file)?;
    let words = map.as_mut_ptr().cast::<[AtomicU64; N]>();
    // The map stays.
    core::mem::forget(map);
    // SAFETY: the memory is mapped until the process ends, begins a page, and is used by atomic operations only. The file
    // has these bytes: its creator made it long enough and keeps it.
    Ok(unsafe { &*words })
}

/// Ends the process without running anything of the library, whose state is unknown.
pub(crate) fn end_now() -> ! {
    unsafe extern "C" {
        fn _exit(status: i32) -> !;
    }
    // SAFETY: the C function of POSIX, which takes any number.
    unsafe { _exit(1) }
}
