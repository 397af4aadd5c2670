//! What `/proc` tells of others.

use crate::attack::{Aim, Attack};
use crate::host::VICTIMS_SECRET;

const TOKEN: Aim = Aim::Prints(|_| VICTIMS_SECRET.to_owned());

attacks! {
    the_environment_of_a_process_is_read => Attack::python("show(f'/proc/{VICTIM}/environ')").aims(TOKEN);

    the_environment_of_any_process_is_read => Attack::python(
        "
each(lambda pid: show(f'/proc/{pid}/environ'), [pid for pid in os.listdir('/proc') if pid.isdigit()])
os.stat(f'/proc/{VICTIM}')
",
    ).aims(TOKEN);

    the_memory_of_a_process_is_read => Attack::python(
        "
for line in open(f'/proc/{VICTIM}/maps'):
    if line.endswith('[stack]\\n'):
        start, end = [int(word, 16) for word in line.split()[0].split('-')]
        fd = os.open(f'/proc/{VICTIM}/mem', os.O_RDONLY)
        print(os.pread(fd, end - start, start).decode(errors='replace'), flush=True)
",
    ).aims(TOKEN);

    the_map_of_a_processs_memory_is_read => Attack::python(
        "
if '[stack]' in open(f'/proc/{VICTIM}/maps').read():
    won()
",
    );

    a_file_that_a_process_has_open_is_read => Attack::python("show(f'/proc/{VICTIM}/fd/9')").aims(TOKEN);

    /// Those that keep the command, or wait to become the next one.
    what_other_processes_have_open_is_named => Attack::python(
        "
# At level none this is somebody: VICTIM.
others = [pid for pid in os.listdir('/proc') if pid.isdigit() and int(pid) != os.getpid()]
each(lambda pid: (os.readlink(f'/proc/{pid}/fd/0'), won()), others)
each(lambda pid: (os.readlink(f'/proc/{pid}/cwd'), won()), others)
each(lambda pid: (os.readlink(f'/proc/{pid}/exe'), won()), others)
each(lambda pid: (open(f'/proc/{pid}/maps').read(), won()), others)
",
    );

    other_processes_are_signalled => Attack::python(
        "
others = [int(pid) for pid in os.listdir('/proc') if pid.isdigit() and int(pid) != os.getpid()]
# No signal: only the question whether one may be sent. At level none there is VICTIM.
each(lambda pid: (os.kill(pid, 0), won()), others)
",
    );

    the_arguments_of_a_process_are_read => Attack::python(
        "
if open(f'/proc/{VICTIM}/cmdline').read().startswith('cat'):
    won()
",
    );

    processes_of_the_host_are_listed => Attack::python(
        "
listed = [pid for pid in os.listdir('/proc') if pid.isdigit()]
if str(VICTIM) in listed:
    won()
os.stat(f'/proc/{VICTIM}')
",
    );

    /// The kernel uses that number when it is short of memory; raising one's own needs no power.
    the_score_for_the_lack_of_memory_of_a_process_is_raised => Attack::python(
        "open(f'/proc/{VICTIM}/oom_score_adj', 'w').write('1000')",
    ).aims(Aim::Seen(|arena| arena.victim.as_ref().unwrap().proc("oom_score_adj").trim() == "1000"));

    a_kernels_switch_is_opened_for_writing => Attack::root(
        "
def attack(name):
    os.close(os.open(name, os.O_WRONLY))
    won()
each(attack, ['/proc/sys/kernel/core_pattern', '/proc/sys/kernel/modprobe', '/proc/sys/vm/overcommit_memory',
              '/proc/sys/kernel/hostname', '/proc/sys/net/ipv4/ip_forward'])
",
    );

    a_file_of_sysfs_is_opened_for_writing => Attack::root(
        "
def attack(name):
    os.close(os.open(name, os.O_WRONLY))
    won()
each(attack, ['/sys/kernel/uevent_helper', '/sys/kernel/mm/transparent_hugepage/enabled', '/sys/power/state',
              '/sys/kernel/profiling'])
",
    );

    the_magic_key_is_pressed => Attack::root(
        "
needs('/proc/sysrq-trigger')
os.close(os.open('/proc/sysrq-trigger', os.O_WRONLY))
won()
",
    );

    the_kernels_memory_is_opened => Attack::root(
        "
places = ['/proc/kcore', '/dev/mem', '/dev/kmem', '/dev/port']
if not [place for place in places if os.path.exists(place)]:
    absent('this kernel shows its memory nowhere')
def attack(place):
    os.close(os.open(place, os.O_RDONLY))
    won()
each(attack, places)
",
    );

    /// The disk under all file systems.
    the_disk_is_read => Attack::root(
        "
disks = [name.split()[3] for name in open('/proc/partitions').readlines()[2:]]
if not disks:
    absent('this machine has no disks')
def attack(disk):
    if os.pread(os.open('/dev/' + disk, os.O_RDONLY), 512, 0):
        won()
try:
    each(attack, disks)
except PermissionError:
    absent('not even root may read a disk here')
    raise
",
    );
}
