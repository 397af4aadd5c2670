//! The guard: a program of a few instructions that ends a command's processes when the host is gone.
//!
//! It is pid 1 of a command's PID namespace: when it ends, the kernel kills everything in there. Where there are no
//! namespaces it runs beside the command and kills its process group. It is never a copy of the host: it is executed
//! from a sealed memory file, and maps nothing but its own page.
//!
//! ```text
//! group = 0
//! read 4 bytes from descriptor 0 into group, again and again, until the end of the file
//! kill(-group, SIGKILL); exit
//! ```
//!
//! Descriptor 0 is a pipe whose other end only the host holds, so its end comes when the host closes it or dies, however
//! it dies. Parent-death signals would not do: they follow the thread that started a process, not the process.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;

use rustix::fs::{MemfdFlags, SealFlags};

#[cfg(target_arch = "x86_64")]
std::arch::global_asm!(
    ".pushsection .rodata.portcullis_guard, \"a\", @progbits",
    ".globl portcullis_guard_begin",
    "portcullis_guard_begin:",
    "    sub rsp, 16",
    "    mov dword ptr [rsp], 0",
    "2:  xor eax, eax", // read
    "    xor edi, edi",
    "    mov rsi, rsp",
    "    mov edx, 4",
    "    syscall",
    "    cmp eax, -4", // EINTR
    "    je 2b",
    "    test eax, eax",
    "    jg 2b",
    "    mov eax, 62", // kill
    "    mov edi, [rsp]",
    "    neg edi",
    "    mov esi, 9",
    "    syscall",
    "    mov eax, 231", // exit_group
    "    xor edi, edi",
    "    syscall",
    "    ud2",
    ".globl portcullis_guard_end",
    "portcullis_guard_end:",
    ".popsection",
);

#[cfg(target_arch = "aarch64")]
std::arch::global_asm!(
    ".pushsection .rodata.portcullis_guard, \"a\", @progbits",
    ".balign 4",
    ".globl portcullis_guard_begin",
    "portcullis_guard_begin:",
    "    sub sp, sp, #16",
    "    str wzr, [sp]",
    "2:  mov x8, #63", // read
    "    mov x0, #0",
    "    mov x1, sp",
    "    mov x2, #4",
    "    svc #0",
    "    cmn x0, #4", // EINTR
    "    b.eq 2b",
    "    cmp x0, #0",
    "    b.gt 2b",
    "    mov x8, #129", // kill
    "    ldr w0, [sp]",
    "    neg w0, w0",
    "    mov x1, #9",
    "    svc #0",
    "    mov x8, #94", // exit_group
    "    mov x0, #0",
    "    svc #0",
    "    brk #1",
    ".globl portcullis_guard_end",
    "portcullis_guard_end:",
    ".popsection",
);

unsafe extern "C" {
    #[link_name = "portcullis_guard_begin"]
    static BEGIN: u8;
    #[link_name = "portcullis_guard_end"]
    static END: u8;
}

/// The instructions above.
fn code() -> &'static [u8] {
    let (begin, end) = (&raw const BEGIN, &raw const END);
    let length = end.addr() - begin.addr();
    // SAFETY: both symbols bound one run of bytes in read-only data, made by the assembly above.
    unsafe { std::slice::from_raw_parts(begin, length) }
}

/// `e_machine`: EM_X86_64 or EM_AARCH64.
const MACHINE: u16 = if cfg!(target_arch = "x86_64") { 62 } else { 183 };
const BASE: u64 = 0x40_0000;
const ELF_HEADER: u16 = 64;
const PROGRAM_HEADER: u16 = 56;

/// The least ELF executable (`elf(5)`) around the code: one segment to read and execute, and a stack that is neither
/// executable nor asks for anything.
fn image() -> Vec<u8> {
    let headers = u64::from(ELF_HEADER + 2 * PROGRAM_HEADER);
    let size = headers + code().len() as u64;
    let mut image = Vec::with_capacity(512);
    image.extend(*b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0");
    image.extend(2_u16.to_le_bytes()); // an executable at a fixed address
    image.extend(MACHINE.to_le_bytes());
    image.extend(1_u32.to_le_bytes());
    image.extend((BASE + headers).to_le_bytes()); // entry
    image.extend(u64::from(ELF_HEADER).to_le_bytes()); // program headers follow
    image.extend([0; 12]); // no sections, no flags
    for half in [ELF_HEADER, PROGRAM_HEADER, 2, 0, 0, 0] {
        image.extend(half.to_le_bytes());
    }
    for (kind, flags, address, size, align) in [(1_u32, 5_u32, BASE, size, 0x1_0000_u64), (0x6474_e551, 6, 0, 0, 16)] {
        image.extend(kind.to_le_bytes());
        image.extend(flags.to_le_bytes());
        for word in [0, address, address, size, size, align] {
            image.extend(word.to_le_bytes());
        }
    }
    image.extend(code());
    image
}

/// Puts the guard into a sealed memory file, to be executed by descriptor.
pub(crate) fn file() -> io::Result<OwnedFd> {
    let file = rustix::fs::memfd_create(c"portcullis-guard", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
    let mut file = File::from(file);
    file.write_all(&image())?;
    let seals = SealFlags::SEAL | SealFlags::SHRINK | SealFlags::GROW | SealFlags::WRITE;
    rustix::fs::fcntl_add_seals(&file, seals)?;
    Ok(file.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_image_is_a_small_elf_executable_that_ends_with_the_code() {
        let image = image();
        assert!(image.starts_with(b"\x7fELF\x02\x01\x01"));
        assert!(image.ends_with(code()) && !code().is_empty());
        assert!(image.len() < 512, "{}", image.len());
    }
}
