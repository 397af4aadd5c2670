//! The message that turns a waiting process into a command: one byte, and its descriptors (`SCM_RIGHTS` of unix(7)).

use std::ffi::{c_int, c_void};
use std::ptr;

use super::call::{self, Errno};

/// Where the waiting process has its end of the channel; below it there is room for the command's streams.
pub(super) const CHANNEL: c_int = STREAMS;
/// How many streams a command has: descriptors 0, 1 and 2.
pub(super) const STREAMS: c_int = 3;
/// The most descriptors of a message: two streams, a program, a ruleset, a third stream.
pub(super) const MOST: usize = 5;
/// Where they land, since those are the lowest free ones: standard output and error, and then behind the channel.
pub(super) const PLACES: [c_int; MOST] = [1, 2, 4, 5, 6];

/// A control message with the descriptors, as cmsg(3) lays it out.
#[repr(C)]
struct Control {
    header: libc::cmsghdr,
    descriptors: [c_int; MOST],
}

/// Waits for the message; its descriptors are then at [`PLACES`]. `false` = the other end of the channel is closed.
pub(super) fn receive(channel: c_int) -> call::Result<bool> {
    let mut byte = 0_u8;
    let mut piece = libc::iovec { iov_base: (&raw mut byte).cast::<c_void>(), iov_len: 1 };
    // SAFETY: it is made of integers, for which all zeroes are valid.
    let mut control: Control = unsafe { std::mem::zeroed() };
    // SAFETY: it is made of integers and pointers, for which all zeroes are valid.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut piece;
    message.msg_iovlen = 1;
    message.msg_control = ptr::from_mut(&mut control).cast();
    message.msg_controllen = size_of::<Control>() as _;
    loop {
        match call::recvmsg(channel, &mut message) {
            Ok(0) => return Ok(false),
            Ok(_) => break,
            Err(Errno(libc::EINTR)) => {}
            Err(errno) => return Err(errno),
        }
    }
    #[allow(clippy::unnecessary_cast, reason = "its width differs between C libraries")]
    let length = control.header.cmsg_len as usize;
    let count = length.saturating_sub(size_of::<libc::cmsghdr>()) / size_of::<c_int>();
    let is_right = control.header.cmsg_level == libc::SOL_SOCKET
        && control.header.cmsg_type == libc::SCM_RIGHTS
        && (2..=MOST).contains(&count)
        && control.descriptors.iter().take(count).eq(PLACES.iter().take(count));
    // EPROTO: no message of ours.
    if is_right { Ok(true) } else { Err(Errno(libc::EPROTO)) }
}
