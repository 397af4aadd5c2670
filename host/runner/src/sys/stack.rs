//! Stacks for children that share our memory.

use std::io;
use std::ptr::{self, NonNull};

/// Enough for a handful of system calls; measured use is below 4 KiB.
const BYTES: usize = 64 << 10;
/// Below the stack, so that an overflow faults in the child instead of writing over us.
const GUARD: usize = 64 << 10;

/// A mapped stack. It grows down from [`Stack::top`].
#[derive(Debug)]
pub(crate) struct Stack {
    base: NonNull<libc::c_void>,
}

// SAFETY: it is memory that belongs to nobody else; no thread has a part in it.
unsafe impl Send for Stack {}
// SAFETY: its shared methods read the address only.
unsafe impl Sync for Stack {}

impl Stack {
    pub(super) fn new() -> io::Result<Self> {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_STACK | libc::MAP_NORESERVE;
        // SAFETY: a fresh anonymous mapping at an address of the kernel's choice touches nothing that exists.
        let base = unsafe { libc::mmap(ptr::null_mut(), BYTES + GUARD, protection, flags, -1, 0) };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let stack = Self { base: NonNull::new(base).ok_or(io::ErrorKind::OutOfMemory)? };
        // SAFETY: the range is the lower part of the mapping just made, which nobody uses yet.
        if unsafe { libc::mprotect(base, GUARD, libc::PROT_NONE) } != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(stack)
    }

    /// The address above its highest byte, aligned as every architecture wants it.
    pub(super) fn top(&self) -> *mut libc::c_void {
        self.base.as_ptr().wrapping_byte_add(BYTES + GUARD)
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours alone; whoever ran on it has ended or executed another program: `vfork` does not
        // return before, and `Parked` waits for it.
        let unmapped = unsafe { libc::munmap(self.base.as_ptr(), BYTES + GUARD) };
        debug_assert_eq!(unmapped, 0);
    }
}
