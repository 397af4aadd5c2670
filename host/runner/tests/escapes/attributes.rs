//! Attributes of files that a command is given by the host: of its program, of devices, of its standard input.
//!
//! What gives them may lie on a mount of the host's, where nothing is read-only; and Landlock has no rights for
//! attributes.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::time::SystemTime;

use crate::arena::Arena;
use crate::attack::{Aim, Attack};

/// By a program that the user owns.
const fn own_program(code: &'static str) -> Attack {
    Attack { program: "FOLDER/bin/python3", ..Attack::python(code) }
}

const SETUID: Aim = Aim::Seen(|arena| mode(&arena.folder().join("bin/python3")) == 0o4755);

attacks! {
    /// Root's program would be root for everybody from then on.
    the_program_becomes_setuid => own_program("os.chmod(FOLDER + '/bin/python3', 0o4755)").aims(SETUID);

    the_program_becomes_setuid_through_proc => own_program("os.chmod('/proc/self/exe', 0o4755)").aims(SETUID);

    the_program_becomes_setuid_by_its_descriptor => own_program(
        "os.fchmod(os.open('/proc/self/exe', os.O_RDONLY), 0o4755)",
    ).aims(SETUID);

    the_times_of_the_program_are_changed => own_program("os.utime('/proc/self/exe', (1, 1))")
        .aims(Aim::Seen(|arena| fs::metadata(arena.folder().join("bin/python3")).unwrap().mtime() == 1));

    the_program_gets_an_extended_attribute => own_program(
        "
try:
    os.setxattr('/proc/self/exe', 'user.portcullis', b'spoilt')
except OSError as error:
    if error.errno == errno.ENOTSUP:
        absent('files have no such attributes here')
    raise
won()
",
    );

    /// Sticky, which means nothing for a device. Without its mode, nobody could use it.
    the_mode_of_a_device_is_changed => Attack::root("os.chmod('/dev/full', 0o1666)")
        .prepared(|arena| restore_mode(arena, "/dev/full"))
        .aims(Aim::Seen(|_| mode("/dev/full".as_ref()) == 0o1666));

    the_times_of_a_device_are_changed => Attack::root("os.utime('/dev/full', (1, 1))")
        .prepared(|arena| restore_times(arena, "/dev/full"))
        .aims(Aim::Seen(|_| fs::metadata("/dev/full").unwrap().mtime() == 1));

    /// The null device, where a command is given nothing to read.
    the_mode_of_the_standard_input_is_changed => Attack::root("os.fchmod(0, 0o1666)")
        .prepared(|arena| restore_mode(arena, "/dev/null"))
        .aims(Aim::Seen(|_| mode("/dev/null".as_ref()) == 0o1666));

    the_times_of_the_standard_input_are_changed => Attack::root("os.utime('/proc/self/fd/0', (1, 1))")
        .prepared(|arena| restore_times(arena, "/dev/null"))
        .aims(Aim::Seen(|_| fs::metadata("/dev/null").unwrap().mtime() == 1));

    /// The directory of what it is given to read.
    the_working_directory_gives_more_than_the_workspace => Attack::python(
        "
here = os.open('.', os.O_PATH)
each(lambda path: print(open(os.open('../' * 40 + path.lstrip('/'), os.O_RDONLY, dir_fd=here)).read()), SECRETS)
",
    ).aims(Aim::Secrets);
}

fn mode(path: &std::path::Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o7777
}

fn restore_mode(arena: &mut Arena, device: &'static str) -> Result<(), String> {
    arena.afterwards(move || fs::set_permissions(device, Permissions::from_mode(0o666)).unwrap());
    Ok(())
}

fn restore_times(arena: &mut Arena, device: &'static str) -> Result<(), String> {
    arena.afterwards(move || File::open(device).unwrap().set_modified(SystemTime::now()).unwrap());
    Ok(())
}
