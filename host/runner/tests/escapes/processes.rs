//! Processes of the host's user: signals, memory, tracing, limits.

use crate::attack::{Aim, Attack};
use crate::host::VICTIMS_SECRET;

const TOKEN: Aim = Aim::Prints(|_| VICTIMS_SECRET.to_owned());
const DEAD: Aim = Aim::Seen(|arena| !arena.victim.as_mut().unwrap().answers());

attacks! {
    a_process_is_killed => Attack::python("os.kill(VICTIM, 9)").aims(DEAD);

    a_thread_is_killed => Attack::python("call('tgkill', VICTIM, VICTIM, 9)").aims(DEAD);

    a_process_is_killed_by_descriptor => Attack::python(
        "
fd = call('pidfd_open', VICTIM, 0)
call('pidfd_send_signal', fd, 9, None, 0)
",
    ).aims(DEAD);

    a_process_is_killed_through_its_directory_in_proc => Attack::python(
        "
fd = os.open(f'/proc/{VICTIM}', os.O_RDONLY | os.O_DIRECTORY)
call('pidfd_send_signal', fd, 9, None, 0)
",
    ).aims(DEAD);

    /// `fcntl(2)`, `F_SETOWN`: the kernel sends the signal later, in the name of the command.
    a_signal_is_sent_through_a_files_owner => Attack::python(
        "
import fcntl, socket
one, other = socket.socketpair()
fcntl.fcntl(one, fcntl.F_SETOWN, VICTIM)
fcntl.fcntl(one, 10, 9)  # F_SETSIG
fcntl.fcntl(one, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
other.send(b'now')
",
    ).aims(DEAD);

    a_process_is_traced => Attack::python(
        "
needs_tracing()
call('ptrace', 0x4206, VICTIM, 0, 0)  # PTRACE_SEIZE
won()
",
    );

    the_memory_of_a_process_is_copied => Attack::python(
        "
needs_tracing()
# Where it lies differs; confined, any address will do.
start, end = 0x7ffe00000000, 0x7ffe00001000
try:
    for line in open(f'/proc/{VICTIM}/maps'):
        if line.endswith('[stack]\\n'):
            start, end = [int(word, 16) for word in line.split()[0].split('-')]
except OSError:
    pass
copy = ctypes.create_string_buffer(end - start)
local = struct.pack('PN', ctypes.addressof(copy), end - start)
remote = struct.pack('PN', start, end - start)
call('process_vm_readv', VICTIM, local, 1, remote, 1, 0)
print(copy.raw.decode(errors='replace'), flush=True)
",
    ).aims(TOKEN);

    /// The name of a variable, where it lies.
    the_memory_of_a_process_is_overwritten => Attack::python(
        "
needs_tracing()
start, end = 0x7ffe00000000, 0x7ffe00001000
try:
    for line in open(f'/proc/{VICTIM}/maps'):
        if line.endswith('[stack]\\n'):
            start, end = [int(word, 16) for word in line.split()[0].split('-')]
except OSError:
    if not CONFINED:
        raise
copy = ctypes.create_string_buffer(end - start)
local = struct.pack('PN', ctypes.addressof(copy), end - start)
if not CONFINED:
    call('process_vm_readv', VICTIM, local, 1, struct.pack('PN', start, end - start), 1, 0)
place = start + copy.raw.rfind(b'\\0TOKEN=') + 1
changed = ctypes.create_string_buffer(b'SPOILT')
call('process_vm_writev', VICTIM, struct.pack('PN', ctypes.addressof(changed), 6), 1, struct.pack('PN', place, 6), 1, 0)
",
    ).aims(Aim::Seen(|arena| arena.victim.as_ref().unwrap().proc("environ").contains("SPOILT")));

    a_file_of_a_process_is_taken => Attack::python(
        "
needs_tracing()
fd = call('pidfd_getfd', call('pidfd_open', VICTIM, 0), 9, 0)
print(os.pread(fd, 200, 0).decode(), flush=True)
",
    ).aims(TOKEN);

    two_processes_are_compared => Attack::python(
        "
needs_tracing()
call('kcmp', os.getpid(), VICTIM, 1, 0, 0)
won()
",
    );

    the_limits_of_a_process_are_changed => Attack::python(
        "
import resource
resource.prlimit(VICTIM, resource.RLIMIT_CORE, (0, 0))
resource.prlimit(VICTIM, resource.RLIMIT_NOFILE, (17, 17))
",
    ).aims(Aim::Seen(|arena| {
        let limits = arena.victim.as_ref().unwrap().proc("limits");
        let open = limits.lines().find(|line| line.starts_with("Max open files")).unwrap();
        open.split_whitespace().nth(3) == Some("17")
    }));

    a_process_is_moved_to_other_processors => Attack::python(
        "
if os.cpu_count() < 2:
    absent('there is one processor only')
os.sched_setaffinity(VICTIM, {max(os.sched_getaffinity(0))})
",
    ).aims(Aim::Seen(|arena| {
        let status = arena.victim.as_ref().unwrap().proc("status");
        let allowed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:\t")).unwrap();
        allowed.parse::<u32>().is_ok()
    }));

    the_priority_of_a_process_is_changed => Attack::python("os.setpriority(os.PRIO_PROCESS, VICTIM, 19)").aims(
        Aim::Seen(|arena| stat(arena.victim.as_ref().unwrap(), 19) == 19),
    );

    the_scheduler_of_a_process_is_changed => Attack::python(
        "os.sched_setscheduler(VICTIM, os.SCHED_IDLE, os.sched_param(0))",
    ).aims(Aim::Seen(|arena| stat(arena.victim.as_ref().unwrap(), 41) == 5));

    the_priority_for_disks_of_a_process_is_changed => Attack::python(
        "
call('ioprio_set', 1, VICTIM, 3 << 13)
won()
",
    );
}

/// A field of `/proc/PID/stat`, counted as in `proc_pid_stat(5)`; the name, the second, has no spaces.
fn stat(victim: &crate::host::Victim, field: usize) -> i64 {
    victim.proc("stat").split_whitespace().nth(field - 1).unwrap().parse().unwrap()
}
