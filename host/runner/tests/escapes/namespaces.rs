//! Mounts, roots and namespaces: what would undo the confinement.

use crate::attack::{Aim, Attack};

attacks! {
    a_file_system_is_mounted => Attack::root(
        "
os.mkdir('target')
call('mount', b'none', b'target', b'tmpfs', 0, None)
try:
    won()
finally:
    call('umount2', b'target', 2)
",
    );

    /// What is read-only or not executable at one place is mounted at another.
    a_directory_is_bound_elsewhere => Attack::root(
        "
os.mkdir('target')
call('mount', b'/usr', b'target', None, 4096, None)
try:
    won()
finally:
    call('umount2', b'target', 2)
",
    );

    /// With the flags that it has at level none: nothing changes there.
    a_mount_is_made_writable => Attack::root(
        "
path = b'/usr' if CONFINED else WORKSPACE.encode()
if not CONFINED:
    call('mount', path, path, None, 4096, None)
try:
    call('mount', None, path, None, 4096 | 32, None)
    won()
finally:
    if not CONFINED:
        call('umount2', path, 2)
",
    );

    a_mount_is_made_writable_by_attributes => Attack::root(
        "
path = b'/usr' if CONFINED else WORKSPACE.encode()
if not CONFINED:
    call('mount', path, path, None, 4096, None)
try:
    call('mount_setattr', -100, path, 0, struct.pack('QQQQ', 0, 1 | 8, 0, 0), 32)
    won()
finally:
    if not CONFINED:
        call('umount2', path, 2)
",
    );

    /// A tree of mounts of one's own, with other attributes in one call: it undid `noexec` for root.
    a_tree_of_mounts_is_taken_with_other_attributes => Attack::root(
        "
try:
    call('open_tree_attr', -100, b'/usr', 1, struct.pack('QQQQ', 0, 1 | 8, 0, 0), 32)
except OSError as error:
    if error.errno == errno.ENOSYS:
        absent('this kernel has no open_tree_attr')
    raise
won()
",
    );

    a_tree_of_mounts_is_taken => Attack::root(
        "
call('open_tree', -100, b'/', 1)
won()
",
    );

    a_new_file_system_is_opened => Attack::root(
        "
call('fsopen', b'tmpfs', 0)
won()
",
    );

    /// Confined, there is no other mount namespace to do it in; it is tried nevertheless.
    the_root_is_exchanged => Attack::root(
        "
try:
    call('unshare', 0x20000)
    call('mount', b'none', b'/', None, 16384 | 262144, None)
    os.mkdir('root')
    call('mount', b'none', b'root', b'tmpfs', 0, None)
    os.mkdir('root/old')
except OSError:
    if not CONFINED:
        raise
    os.makedirs('root/old', exist_ok=True)
call('pivot_root', b'root', b'root/old')
won()
",
    );

    /// The oldest way out: a root below the directory that one stands in.
    the_root_is_changed => Attack::root(
        "
os.mkdir('cell')
call('chroot', b'cell')
for _ in range(40):
    os.chdir('..')
call('chroot', b'.')
show(SECRETS[0])
",
    ).aims(Aim::Prints(|arena| arena.hidden()[0].secret.clone()));

    a_user_namespace_is_made => Attack::python(
        "
needs_user_namespaces()
call('unshare', 0x10000000)
won()
",
    );

    /// All kinds, each by itself and with a user namespace.
    namespaces_are_made => Attack::python(
        "
needs_user_namespaces()
def attack(kind):
    child = os.fork()
    if child == 0:
        try:
            call('unshare', kind)
        except OSError as error:
            os._exit(error.errno)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if status:
        raise OSError(os.waitstatus_to_exitcode(status), 'unshare')
    won()
kinds = [0x20000, 0x02000000, 0x04000000, 0x08000000, 0x20000000, 0x40000000, 0x80]
each(attack, kinds + [0x10000000 | kind for kind in kinds])
",
    );

    /// The same by the call that makes processes.
    a_process_is_made_in_a_user_namespace => Attack::python(
        "
needs_user_namespaces()
child = call('clone', 0x10000000 | 17, 0, 0, 0, 0)
if child == 0:
    os._exit(0)
os.waitpid(child, 0)
won()
",
    );

    /// Its flags lie in memory, where filters can't look.
    a_process_is_made_in_a_user_namespace_by_the_newer_call => Attack::python(
        "
needs_user_namespaces()
child = call('clone3', struct.pack('QQQQQQQQ', 0x10000000, 0, 0, 0, 17, 0, 0, 0), 64)
if child == 0:
    os._exit(0)
os.waitpid(child, 0)
won()
",
    );

    /// A process that the host has to reap, and the guard does not see.
    a_process_is_given_to_the_parent => Attack::python(
        "
# As a child of a child, so that nobody gets one who does not expect it.
middle = os.fork()
if middle == 0:
    try:
        grandchild = call('clone', 0x8000 | 17, 0, 0, 0, 0)
    except OSError as error:
        os._exit(error.errno)
    if grandchild == 0:
        os._exit(0)
    os._exit(0)
_, status = os.waitpid(middle, 0)
if status:
    raise OSError(os.waitstatus_to_exitcode(status), 'clone')
os.waitpid(-1, 0)
won()
",
    );

    the_namespaces_of_the_host_are_entered => Attack::root(
        "
def attack(kind):
    os_fd = os.open(f'/proc/{VICTIM}/ns/{kind}', os.O_RDONLY)
    call('setns', os_fd, 0)
    won()
each(attack, ['net', 'ipc', 'uts', 'mnt'])
",
    );

    the_namespaces_of_a_process_of_the_host_are_entered => Attack::root(
        "
call('setns', call('pidfd_open', VICTIM, 0), 0x40000000 | 0x04000000)
won()
",
    );

    /// Those of the first process that there is to be seen.
    the_namespaces_of_the_first_process_are_entered => Attack::root(
        "
def attack(kind):
    try:
        fd = os.open(f'/proc/1/ns/{kind}', os.O_RDONLY)
    except PermissionError:
        absent('the first process has powers that root does not have here')
        raise
    call('setns', fd, 0)
    won()
each(attack, ['mnt', 'net', 'ipc', 'uts'])
",
    );

    /// A namespace of the host's by the socket of another: `SIOCGSKNS`.
    the_namespace_of_a_socket_is_asked_for => Attack::root(
        "
import fcntl, socket
kind = socket.AF_UNIX if CONFINED else socket.AF_INET
fd = fcntl.ioctl(socket.socket(kind), 0x894c)
call('setns', fd, 0)
won()
",
    );
}
