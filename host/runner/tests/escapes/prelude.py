# Runs before every attack. Exit status 77: refused; 75: this machine has nothing to attack.
import ctypes, errno, os, platform, struct, sys

libc = ctypes.CDLL(None, use_errno=True)

# x86-64, aarch64
NUMBERS = {
    'ptrace': (101, 117), 'unshare': (272, 97), 'setns': (308, 268), 'clone': (56, 220), 'clone3': (435, 435),
    'mount': (165, 40), 'umount2': (166, 39), 'pivot_root': (155, 41), 'chroot': (161, 51), 'open_tree': (428, 428),
    'fsopen': (430, 430), 'mount_setattr': (442, 442), 'open_tree_attr': (467, 467), 'name_to_handle_at': (303, 264),
    'open_by_handle_at': (304, 265), 'process_vm_readv': (310, 270), 'process_vm_writev': (311, 271),
    'pidfd_open': (434, 434), 'pidfd_getfd': (438, 438), 'pidfd_send_signal': (424, 424), 'tgkill': (234, 131),
    'add_key': (248, 217), 'keyctl': (250, 219), 'io_uring_setup': (425, 425), 'bpf': (321, 280),
    'perf_event_open': (298, 241), 'userfaultfd': (323, 282), 'personality': (135, 92), 'memfd_create': (319, 279),
    'execveat': (322, 281), 'syslog': (103, 116), 'adjtimex': (159, 171), 'sethostname': (170, 161),
    'reboot': (169, 142), 'init_module': (175, 105), 'swapon': (167, 224), 'acct': (163, 89),
    'fanotify_init': (300, 262), 'renameat2': (316, 276), 'linkat': (265, 37), 'ioprio_set': (251, 30),
    'kcmp': (312, 272), 'iopl': (172, None), 'modify_ldt': (154, None), 'memfd_secret': (447, 447),
}


def call(name, *arguments):
    """One system call; its error is raised."""
    number = NUMBERS[name][0 if platform.machine() == 'x86_64' else 1]
    if number is None:
        absent(f'no {name} on this architecture')
    convert = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result = libc.syscall(ctypes.c_long(number), *convert)
    if result == -1:
        error = ctypes.get_errno()
        raise OSError(error, f'{name}: {os.strerror(error)}')
    return result


def won():
    print('won', flush=True)


def absent(reason):
    """Gives up where the machine has nothing to attack; a confined attack goes on and fails by itself."""
    if not CONFINED:
        print(reason, flush=True)
        os._exit(75)


def needs(path):
    if not os.path.exists(path):
        absent(f'this machine has no {path}')


def sysctl(name):
    try:
        return open(f'/proc/sys/{name}').read().strip()
    except OSError:
        return ''


def needs_user_namespaces():
    if sysctl('kernel/apparmor_restrict_unprivileged_userns') == '1' or sysctl('user/max_user_namespaces') == '0':
        absent('this machine lets nobody make user namespaces')


def needs_tracing():
    if sysctl('kernel/yama/ptrace_scope') not in ('', '0') and os.geteuid() != 0:
        absent('this machine lets nobody look into what is not its child')


def each(attack, places):
    """The attack on each place; refused if it was refused everywhere."""
    failed = None
    done = 0
    for place in places:
        try:
            attack(place)
            done += 1
        except OSError as error:
            failed = error
    if not done:
        raise failed


def show(path):
    print(open(path, errors='replace').read(), flush=True)


def refused(kind, error, trace):
    if issubclass(kind, OSError):
        print('refused', errno.errorcode.get(error.errno, error.errno), error, flush=True)
        os._exit(77)
    sys.__excepthook__(kind, error, trace)


sys.excepthook = refused
print('ready', flush=True)
