//! Landlock: found, and not used by this release.

use std::ptr;

/// The version of Landlock's interface that the kernel offers (`landlock_create_ruleset(2)`); `None` = it has none, or
/// it is switched off.
pub(crate) fn landlock_abi() -> Option<u32> {
    const VERSION: u32 = 1;
    // SAFETY: asked for the version, the kernel reads no attributes and makes no descriptor.
    let abi =
        unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, ptr::null::<libc::c_void>(), 0_usize, VERSION) };
    u32::try_from(abi).ok()
}
