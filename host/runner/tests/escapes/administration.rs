//! The machine itself, which root may change: each is tried so that nothing comes of it.

use crate::attack::Attack;

attacks! {
    the_clock_is_set => Attack::root(
        "
# Its speed, to what it is.
timex = ctypes.create_string_buffer(208)
call('adjtimex', timex)
speed = struct.unpack_from('q', timex, 16)[0]
timex = ctypes.create_string_buffer(208)
struct.pack_into('I4xqq', timex, 0, 2, 0, speed)
call('adjtimex', timex)
won()
",
    );

    the_host_is_renamed => Attack::root(
        "
name = os.uname().nodename.encode()
call('sethostname', name, len(name))
won()
",
    );

    /// With a wrong magic number: the question of powers comes first.
    the_machine_is_restarted => Attack::root(
        "
try:
    call('reboot', 0, 0, 0, None)
except OSError as error:
    if error.errno != errno.EINVAL:
        raise
    won()
",
    );

    /// From no memory at all.
    a_module_is_loaded_into_the_kernel => Attack::root(
        "
try:
    call('init_module', None, 1 << 12, b'')
except OSError as error:
    if error.errno == errno.ENOSYS:
        absent('this kernel has no modules')
    if error.errno not in (errno.EFAULT, errno.ENOEXEC):
        raise
    won()
",
    );

    /// Of no file.
    memory_is_swapped_to_a_file => Attack::root(
        "
try:
    call('swapon', b'/nonexistent', 0)
except OSError as error:
    if error.errno == errno.ENOSYS:
        absent('this kernel has no swapping')
    if error.errno != errno.ENOENT:
        raise
    won()
",
    );

    /// To no file.
    processes_are_accounted => Attack::root(
        "
try:
    call('acct', b'/nonexistent')
except OSError as error:
    if error.errno == errno.ENOSYS:
        absent('this kernel has no accounting')
    if error.errno != errno.ENOENT:
        raise
    won()
",
    );

    the_kernels_messages_are_read => Attack::root(
        "
call('syslog', 3, ctypes.create_string_buffer(4096), 4096)
won()
",
    );

    the_device_of_the_kernels_messages_is_read => Attack::root(
        "
needs('/dev/kmsg')
os.open('/dev/kmsg', os.O_RDONLY | os.O_NONBLOCK)
won()
",
    );

    ports_of_the_processor_are_opened => Attack::root(
        "
try:
    call('iopl', 3)
except OSError as error:
    if error.errno == errno.ENOSYS:
        absent('this kernel opens no ports')
    raise
won()
",
    );

    /// The groups of the machine's processes: `cgroups(7)`.
    a_cgroup_is_left => Attack::root(
        "
roots = ['/sys/fs/cgroup/' + name for name in ('pids', 'memory', 'unified', '')]
files = [os.path.join(root, 'cgroup.procs') for root in roots]
if not [file for file in files if os.path.exists(file)]:
    absent('no cgroups are mounted')
def attack(file):
    open(file, 'w').write('0')
    won()
each(attack, files)
",
    );

    /// What the kernel runs as root of the host when a group is empty: CVE-2022-0492.
    a_program_of_the_host_is_named_for_a_cgroup => Attack::root(
        "
file = '/sys/fs/cgroup/memory/release_agent'
needs(file)
os.close(os.open(file, os.O_WRONLY))
won()
",
    );

    a_cgroup_is_made => Attack::root(
        "
parents = ['/sys/fs/cgroup/' + name for name in ('pids/', 'unified/', '')]
if not [parent for parent in parents if os.path.exists(parent + 'cgroup.procs')]:
    absent('no cgroups are mounted')
def attack(parent):
    os.mkdir(parent + UNIQUE)
    os.rmdir(parent + UNIQUE)
    won()
each(attack, parents)
",
    );
}
