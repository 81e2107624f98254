//! The process's heap in large pages.
//!
//! A simulation of many nodes touches memory all over, in no order: nearly each access is to another page than the last ones. A
//! processor keeps the addresses of some thousand pages at hand, and looks up those of others, which takes as long as the access
//! itself, or longer in a virtual machine. A page of 2 MiB needs one address for what takes 512 in pages of 4 KiB. Many systems give
//! them only to programs that ask for them (`/sys/kernel/mm/transparent_hugepage/enabled` is `madvise`).
#![allow(unsafe_code, reason = "malloc's settings, and advice on memory that it gave")]

/// The most that glibc takes for `M_MMAP_THRESHOLD`, bytes. Smaller blocks are in the heap.
#[cfg(target_env = "gnu")]
const LARGEST_IN_HEAP: i32 = 32 << 20;
/// glibc's default.
#[cfg(target_env = "gnu")]
const MOST_MAPPED: i32 = 65_536;
/// The size of a large page. Where it is another one, the kernel leaves out the pages that are not complete.
#[cfg(target_env = "gnu")]
const LARGE_PAGE: usize = 2 << 20;

/// Has the kernel use large pages for the next `bytes` of the main thread's heap. Address space is reserved for them, but no memory
/// is taken before it is used. What the process frees stays with it from then on, so this is for programs with one large task.
/// Returns whether it was done: only glibc's heap can be extended like this, and a kernel may have no large pages.
#[cfg(target_env = "gnu")]
pub fn use_large_pages(bytes: usize) -> bool {
    // SAFETY: numbers that glibc reads under its own lock. Without blocks of their own mapping, the heap itself grows for the
    // block below, whatever its size.
    unsafe {
        libc::mallopt(libc::M_TRIM_THRESHOLD, -1);
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGEST_IN_HEAP);
        libc::mallopt(libc::M_MMAP_MAX, 0);
    }
    // SAFETY: null or a block of this size, which is freed once below and neither read nor written.
    let block = unsafe { libc::malloc(bytes) };
    // SAFETY: as above.
    unsafe { libc::mallopt(libc::M_MMAP_MAX, MOST_MAPPED) };
    if block.is_null() {
        return false;
    }
    let before = block.addr().next_multiple_of(LARGE_PAGE) - block.addr();
    let whole = bytes.saturating_sub(before) / LARGE_PAGE * LARGE_PAGE;
    // SAFETY: the range lies within the block, and advice on the size of pages changes no contents.
    let advised = unsafe { libc::madvise(block.wrapping_byte_add(before), whole, libc::MADV_HUGEPAGE) };
    // SAFETY: it came from `malloc` and is freed for the first time. The heap keeps the memory, with the advice.
    unsafe { libc::free(block) };
    advised == 0
}

/// Other allocators keep their own rules.
#[cfg(not(target_env = "gnu"))]
pub fn use_large_pages(_: usize) -> bool {
    false
}
