//! Powers: root's, and those that files give.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};

use crate::arena::Arena;
use crate::attack::{Aim, Attack, Who};

/// A user that nobody is.
const OTHER: u32 = 123_456;

attacks! {
    /// The file lies in the workspace: nothing but its owner and mode protects it (`CAP_DAC_OVERRIDE`).
    a_file_of_another_user_is_written => Attack::root("open('others', 'w').write('spoilt')")
        .prepared(others)
        .aims(Aim::Seen(|arena| fs::read_to_string(arena.workspace().join("others")).unwrap() == "spoilt"));

    a_file_of_another_user_is_read => Attack::root("show('others')")
        .prepared(others)
        .aims(Aim::Prints(|_| "the other's".to_owned()));

    /// `CAP_FOWNER`.
    the_mode_of_a_file_of_another_user_is_changed => Attack::root("os.chmod('others', 0o666)")
        .prepared(others)
        .aims(Aim::Seen(|arena| fs::metadata(arena.workspace().join("others")).unwrap().mode() & 0o7777 == 0o666));

    /// `CAP_CHOWN`.
    a_file_is_given_away => Attack::root("open('own', 'w'); os.chown('own', 123456, 123456)")
        .aims(Aim::Seen(|arena| fs::metadata(arena.workspace().join("own")).unwrap().uid() == OTHER));

    /// `CAP_MKNOD`: the disk, in the workspace.
    a_device_is_made => Attack::root(
        "
import stat
os.mknod('disk', stat.S_IFBLK | 0o600, os.makedev(7, 0))
",
    ).aims(Aim::Seen(|arena| arena.workspace().join("disk").symlink_metadata().is_ok()));

    /// A device that lies there is no device.
    a_device_in_the_workspace_is_opened => Attack::root(
        "
fd = os.open('random', os.O_RDONLY)
if len(os.read(fd, 8)) == 8:
    won()
",
    ).prepared(|arena| {
        arena.python("import stat; os.mknod(WORKSPACE + '/random', stat.S_IFCHR | 0o666, os.makedev(1, 9))");
        Ok(())
    });

    /// `CAP_SETUID`.
    another_user_is_become => Attack::root(
        "
os.setresuid(123456, 123456, 123456)
if os.getresuid() == (123456, 123456, 123456):
    won()
",
    );

    /// `CAP_SETGID`.
    other_groups_are_joined => Attack::root("os.setgroups([0, 123456]); won()");

    /// `CAP_SETFCAP`: for whoever executes the file later.
    a_file_gets_powers => Attack::root(
        "
open('own', 'w')
os.setxattr('own', 'security.capability', struct.pack('IIIII', 0x02000000, 0xffffffff, 0, 0xffffffff, 0))
",
    ).aims(Aim::Seen(|arena| !arena.python("print(os.listxattr(WORKSPACE + '/own'))").contains("[]")));

    /// `CAP_SYS_NICE` and `CAP_SYS_RESOURCE`.
    a_priority_above_all_others_is_taken => Attack::root("os.setpriority(os.PRIO_PROCESS, 0, -20); won()");

    /// `CAP_SYS_RESOURCE`: as many files as are wanted.
    a_limit_is_raised_again => Attack::python(
        "
import resource
most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
if not CONFINED and most < 300:
    absent('this machine lets nobody open 300 files')
try:
    resource.setrlimit(resource.RLIMIT_NOFILE, (300, 300))
except ValueError:  # that is how the module says it
    raise PermissionError(errno.EPERM, 'setrlimit')
files = [os.open('/dev/null', os.O_RDONLY) for _ in range(200)]
won()
",
    ).under("limits = { open-files = 64 }");

    what_is_left_of_all_powers_is_used => Attack::root(
        "
powers = {line.split()[0]: int(line.split()[1], 16) for line in open('/proc/self/status') if line.startswith('Cap')}
if powers['CapEff:'] or powers['CapPrm:'] or powers['CapBnd:'] or powers['CapAmb:']:
    won()
",
    ).finishes();

    /// A program that becomes its owner when it is executed; its file lies in the workspace, and the policy lets all be
    /// executed.
    a_program_of_another_users_is_executed => Attack::root("os.execv('setuid', ['id', '-u'])")
        .children("\"any\"")
        .prepared(|arena| {
            let copy = arena.workspace().join("setuid");
            fs::copy("/usr/bin/id", &copy).unwrap();
            chown(&copy, Some(OTHER), None).unwrap();
            fs::set_permissions(&copy, Permissions::from_mode(0o4755)).unwrap();
            Ok(())
        })
        .aims(Aim::Prints(|_| OTHER.to_string()))
        .becomes_another();

    /// One of the system's that is root for a moment: it alone can read the shadow file.
    a_program_of_roots_is_executed => Attack {
        who: Who::NotRoot,
        ..Attack::python(
            "
needs('/usr/bin/passwd')
import pwd
name = pwd.getpwuid(os.getuid()).pw_name
os.execv('/usr/bin/passwd', ['passwd', '-S', name])
",
        )
        .children("\"any\"")
        .aims(Aim::Prints(|_| " 99999 7 ".to_owned()))
        .becomes_another()
    };
}

/// A file of somebody else's in the workspace, for nobody else.
fn others(arena: &mut Arena) -> Result<(), String> {
    let others = arena.workspace().join("others");
    fs::write(&others, "the other's").unwrap();
    chown(&others, Some(OTHER), Some(OTHER)).unwrap();
    fs::set_permissions(&others, Permissions::from_mode(0o600)).unwrap();
    Ok(())
}
