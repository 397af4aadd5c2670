//! Parts of the kernel that commands have no use for.

use crate::attack::Attack;

attacks! {
    a_key_is_added => Attack::python(
        "
call('add_key', b'user', UNIQUE.encode(), b'left', 4, -2)  # the process's own keyring
won()
",
    );

    a_keyring_is_searched => Attack::python(
        "
call('keyctl', 0, -4, 1)  # KEYCTL_GET_KEYRING_ID, of the user's keyring
won()
",
    );

    /// Its work is done by the kernel, unseen by filters.
    a_ring_of_calls_is_set_up => Attack::python(
        "
if sysctl('kernel/io_uring_disabled') not in ('', '0'):
    absent('io_uring is switched off here')
try:
    call('io_uring_setup', 4, ctypes.create_string_buffer(120))
except OSError as error:
    if error.errno == errno.ENOSYS:
        absent('this kernel has no io_uring')
    raise
won()
",
    );

    a_map_of_bpf_is_made => Attack::root(
        "
try:
    call('bpf', 0, struct.pack('IIII', 2, 4, 4, 1) + bytes(56), 72)
except OSError as error:
    if error.errno == errno.ENOSYS:
        absent('this kernel has no bpf')
    raise
won()
",
    );

    a_performance_counter_is_opened => Attack::python(
        "
if sysctl('kernel/perf_event_paranoid') not in ('-1', '0', '1', '2') and os.geteuid() != 0:
    absent('performance counters are switched off here')
# The processor's time in programs only.
attributes = struct.pack('IIQQQQQ', 1, 112, 1, 0, 0, 0, 1 << 5 | 1 << 6) + bytes(64)
try:
    call('perf_event_open', attributes, 0, -1, -1, 0)
except OSError as error:
    if error.errno in (errno.ENOSYS, errno.ENOENT):
        absent('this kernel has no performance counters')
    raise
won()
",
    );

    page_faults_are_handled => Attack::python(
        "
try:
    call('userfaultfd', 1 | os.O_CLOEXEC)
except OSError as error:
    if error.errno == errno.ENOSYS:
        absent('this kernel has no userfaultfd')
    raise
won()
",
    );

    /// A device that gives the same to whoever may open it.
    page_faults_are_handled_by_the_device => Attack::root(
        "
import fcntl
needs('/dev/userfaultfd')
fcntl.ioctl(os.open('/dev/userfaultfd', os.O_RDWR), 0xaa00, 0)
won()
",
    );

    memory_is_hidden_from_the_kernel => Attack::python(
        "
try:
    call('memfd_secret', 0)
except OSError as error:
    if error.errno == errno.ENOSYS:
        absent('this kernel has no secret memory')
    raise
won()
",
    );

    /// CVE-2017-5226, CVE-2023-28339, CVE-2023-1523: typing into the terminal of whoever started the command.
    a_terminal_is_typed_on => Attack::python(
        "
import fcntl
if sysctl('dev/tty/legacy_tiocsti') == '0':
    absent('this kernel lets nobody type on terminals')
os.setsid() if os.getpid() != os.getsid(0) else None
own, theirs = os.openpty()
fcntl.ioctl(theirs, 0x540e, 0)  # TIOCSCTTY
for byte in b'typed\\n':
    fcntl.ioctl(theirs, 0x5412, bytes([byte]))
if os.read(theirs, 100) == b'typed\\n':
    won()
",
    );

    a_virtual_console_is_opened => Attack::root(
        "
import fcntl
needs('/dev/tty1')
os.open('/dev/tty1', os.O_RDWR | os.O_NOCTTY)
won()
",
    );

    /// Everything readable becomes executable.
    memory_is_made_executable_by_personality => Attack::python(
        "
before = call('personality', 0xffffffff)
call('personality', before | 0x0400000)
won()
",
    );

    a_segment_is_described => Attack::python(
        "
try:
    call('modify_ldt', 1, struct.pack('IIII', 0, 0, 0xfffff, 0x51), 16)
except OSError as error:
    if error.errno == errno.ENOSYS:
        absent('this kernel has no segments')
    raise
won()
",
    );

    /// The calls of 32-bit programs have other numbers: what a filter knows by one is another. Here: `add_key`.
    calls_are_made_by_other_numbers => Attack::python(
        "
import mmap, platform
if platform.machine() != 'x86_64':
    absent('only x86-64 has 32-bit calls in 64-bit programs')
memory = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
# push rbx; mov eax, 20 (getpid); int 0x80; pop rbx; ret
memory.write(bytes.fromhex('53b814000000cd805bc3'))
child = os.fork()
if child == 0:
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    os._exit(0 if ctypes.CFUNCTYPE(ctypes.c_int)(address)() == os.getpid() else 38)
_, status = os.waitpid(child, 0)
if os.WIFSIGNALED(status):
    if os.WTERMSIG(status) == 11:
        absent('this kernel has no 32-bit calls')
    raise OSError(errno.EPERM, 'killed')
if status:
    raise OSError(os.WEXITSTATUS(status), 'getpid')
won()
",
    );

    /// A bit in the number: x32's calls.
    calls_are_made_with_the_bit_of_x32 => Attack::python(
        "
import platform
if platform.machine() != 'x86_64':
    absent('only x86-64 has x32')
if libc.syscall(ctypes.c_long(0x40000000 + 39)) != os.getpid():
    if ctypes.get_errno() == errno.ENOSYS:
        absent('this kernel has no x32')
    raise OSError(ctypes.get_errno(), 'x32')
won()
",
    );

    all_files_are_watched => Attack::python(
        "
try:
    call('fanotify_init', 0x200, 0)
except OSError as error:
    if error.errno == errno.ENOSYS:
        absent('this kernel has no fanotify')
    raise
won()
",
    );

    a_device_of_virtual_machines_is_opened => Attack::root(
        "
needs('/dev/kvm')
try:
    os.open('/dev/kvm', os.O_RDWR)
except OSError as error:
    if error.errno in (errno.ENODEV, errno.ENXIO):
        absent('this machine runs no machines')
    raise
won()
",
    );

    a_file_system_in_user_space_is_opened => Attack::python(
        "
needs('/dev/fuse')
if not os.access('/dev/fuse', os.W_OK):
    absent('/dev/fuse is not for everybody')
os.open('/dev/fuse', os.O_RDWR)
won()
",
    );
}
