//! What a command leaves behind: for others to find, or to go on with.

use std::fs::{self, File, TryLockError};
use std::time::Instant;

use rustix::process::{Pid, Signal, kill_process};

use crate::arena::Arena;
use crate::attack::{Aim, Attack, Baseline};
use crate::support::PATIENCE;

attacks! {
    /// Not a child of anybody's, and in a session of its own.
    a_process_outlives_its_command => Attack::python(
        "
import fcntl, signal
# As long as anybody is left, somebody holds the lock.
lock = open('lock', 'w')
fcntl.flock(lock, fcntl.LOCK_EX)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        null = os.open('/dev/null', os.O_RDWR)
        for fd in range(3):
            os.dup2(null, fd)
        while True:
            signal.pause()
    os._exit(0)
os.wait()
",
    ).aims(Aim::Seen(left)).finishes();

    /// It ignores what it can, and forks all the time, so that no list of processes is ever complete.
    a_process_that_moves_outlives_its_command => Attack::python(
        "
import fcntl, signal
# As long as anybody is left, somebody holds the lock.
lock = open('lock', 'w')
fcntl.flock(lock, fcntl.LOCK_EX)
if os.fork() == 0:
    os.setsid()
    null = os.open('/dev/null', os.O_RDWR)
    for fd in range(3):
        os.dup2(null, fd)
    for number in range(1, 32):
        if number not in (9, 17, 19):
            signal.signal(number, signal.SIG_IGN)
    for _ in range(400):
        if os.fork():
            os._exit(0)
    while True:
        signal.pause()
",
    ).aims(Aim::Seen(left)).finishes();

    shared_memory_is_left => Attack::python(
        "
import binascii
key = binascii.crc32(UNIQUE.encode()) & 0x7fffffff
if libc.shmget(key, 4096, 0o1600) == -1:
    raise OSError(ctypes.get_errno(), 'shmget')
",
    ).then(
        "
import binascii
key = binascii.crc32(UNIQUE.encode()) & 0x7fffffff
found = libc.shmget(key, 4096, 0)
if found == -1:
    raise OSError(ctypes.get_errno(), 'shmget')
libc.shmctl(found, 0, None)
won()
",
    );

    a_semaphore_is_left => Attack::python(
        "
import binascii
key = binascii.crc32(UNIQUE.encode()) & 0x7fffffff
if libc.semget(key, 1, 0o1600) == -1:
    raise OSError(ctypes.get_errno(), 'semget')
",
    ).then(
        "
import binascii
key = binascii.crc32(UNIQUE.encode()) & 0x7fffffff
found = libc.semget(key, 1, 0)
if found == -1:
    raise OSError(ctypes.get_errno(), 'semget')
libc.semctl(found, 0, 0)
won()
",
    );

    a_queue_of_messages_is_left => Attack::python(
        "
import binascii
key = binascii.crc32(UNIQUE.encode()) & 0x7fffffff
if libc.msgget(key, 0o1600) == -1:
    raise OSError(ctypes.get_errno(), 'msgget')
",
    ).then(
        "
import binascii
key = binascii.crc32(UNIQUE.encode()) & 0x7fffffff
found = libc.msgget(key, 0)
if found == -1:
    raise OSError(ctypes.get_errno(), 'msgget')
libc.msgctl(found, 0, None)
won()
",
    );

    a_queue_of_posixs_is_left => Attack::python(
        "
if libc.mq_open(('/' + UNIQUE).encode(), os.O_CREAT | os.O_RDWR, 0o600, None) == -1:
    if ctypes.get_errno() == errno.ENOSYS:
        absent('this kernel has no queues of messages')
    raise OSError(ctypes.get_errno(), 'mq_open')
",
    ).then(
        "
if libc.mq_open(('/' + UNIQUE).encode(), os.O_RDWR) == -1:
    raise OSError(ctypes.get_errno(), 'mq_open')
libc.mq_unlink(('/' + UNIQUE).encode())
won()
",
    );

    a_key_is_left => Attack::python("call('add_key', b'user', UNIQUE.encode(), b'left', 4, -4)").then(
        "
key = call('keyctl', 10, -4, b'user', UNIQUE.encode(), 0)
call('keyctl', 9, key, -4)
won()
",
    );

    a_temporary_file_is_left => Attack::python(
        "each(lambda place: open(f'{place}/{UNIQUE}', 'w'), ['/tmp', '/var/tmp', '/dev/shm', '/run/lock'])",
    ).then(
        "
def attack(place):
    os.unlink(f'{place}/{UNIQUE}')
    won()
each(attack, ['/tmp', '/var/tmp', '/dev/shm', '/run/lock'])
",
    );

    /// No file is left, and no directory has another mode.
    an_attribute_of_a_temporary_directory_is_left => Attack::root(
        "each(lambda place: os.setxattr(place, 'user.' + UNIQUE, b'left'), ['/tmp', '/dev/shm'])",
    ).then(
        "
def attack(place):
    os.removexattr(place, 'user.' + UNIQUE)
    won()
each(attack, ['/tmp', '/dev/shm'])
",
    );

    a_file_is_left_among_the_devices => Attack::root("open('/dev/' + UNIQUE, 'w')")
        .then("os.unlink('/dev/' + UNIQUE); won()");

    /// In the root of everything, and wherever a directory may be.
    a_file_is_left_somewhere => Attack::root(
        "
places = ['/', '/etc', '/usr', '/var', '/proc', '/sys', '/dev', '/run', '/opt', '/home', '/root', '/mnt', '/tmp/..']
each(lambda place: open(f'{place}/{UNIQUE}', 'w'), places)
",
    ).then(
        "
places = ['/', '/etc', '/usr', '/var', '/proc', '/sys', '/dev', '/run', '/opt', '/home', '/root', '/mnt', '/tmp/..']
def attack(place):
    os.unlink(f'{place}/{UNIQUE}')
    won()
each(attack, places)
",
    );

    /// Where the directory that a program stands in is not the workspace.
    memory_is_dumped_elsewhere => Attack { baseline: Baseline::Plain, ..Attack::python(
        "
import resource
most = resource.getrlimit(resource.RLIMIT_CORE)[1]
if most == 0:
    absent('this machine dumps no memory')
resource.setrlimit(resource.RLIMIT_CORE, (most, most))
os.chdir(HIDDEN[0])
os.abort()
",
    ).prepared(|_| {
        let pattern = fs::read_to_string("/proc/sys/kernel/core_pattern").unwrap();
        if pattern.starts_with(['|', '/', '@']) {
            return Err("this machine collects dumps of memory in one place".to_owned());
        }
        Ok(())
    }).aims(Aim::Seen(|arena| {
        let names = fs::read_dir(arena.hidden()[0].path("")).unwrap().flatten().map(|entry| entry.file_name());
        names.into_iter().any(|name| name.to_string_lossy().starts_with("core"))
    })) };
}

/// Whether processes of the attack are left; they are ended.
fn left(arena: &mut Arena) -> bool {
    let unique = format!("UNIQUE = {:?}", arena.value("UNIQUE"));
    let lock = File::open(arena.workspace().join("lock")).unwrap();
    let is_held = || matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock));
    if !is_held() {
        return false;
    }
    let start = Instant::now();
    while is_held() {
        assert!(start.elapsed() < PATIENCE, "the attack's processes can't be ended");
        end(&unique);
    }
    true
}

/// Kills the processes that have this text in their arguments.
fn end(unique: &str) {
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else { continue };
        let arguments = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        if String::from_utf8_lossy(&arguments).contains(unique) {
            // It may have ended by itself.
            let _ = kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL);
        }
    }
}
