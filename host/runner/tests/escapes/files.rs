//! Files outside the workspace, by their plain names.

use std::fs;
use std::os::unix::fs::MetadataExt as _;

use crate::attack::{Aim, Attack};

const SPOILT: Aim = Aim::Places(|place| place.is_spoilt());
const CREATED: Aim = Aim::Places(|place| place.path("planted").symlink_metadata().is_ok());

attacks! {
    a_file_outside_is_overwritten => Attack::python(
        "each(lambda place: open(place + 'file', 'w').write('spoilt'), OUTSIDE)",
    ).aims(SPOILT);

    a_file_outside_is_appended_to => Attack::python(
        "each(lambda place: open(place + 'file', 'a').write('spoilt'), OUTSIDE)",
    ).aims(SPOILT);

    a_file_outside_is_truncated_without_being_opened => Attack::python(
        "each(lambda place: os.truncate(place + 'file', 0), OUTSIDE)",
    ).aims(SPOILT);

    /// Landlock's right to truncate does not cover what is opened for reading only.
    a_file_outside_is_truncated_as_it_is_opened => Attack::python(
        "each(lambda place: os.open(place + 'file', os.O_RDONLY | os.O_TRUNC), OUTSIDE)",
    ).aims(SPOILT);

    a_file_outside_is_written_through_a_shared_mapping => Attack::python(
        "
import mmap
def attack(place):
    with open(place + 'file', 'r+b') as file:
        mmap.mmap(file.fileno(), 0)[0:6] = b'spoilt'
each(attack, OUTSIDE)
",
    ).aims(SPOILT);

    a_file_is_created_outside => Attack::python(
        "each(lambda place: open(place + 'planted', 'x'), OUTSIDE)",
    ).aims(CREATED);

    a_directory_is_created_outside => Attack::python(
        "each(lambda place: os.mkdir(place + 'planted'), OUTSIDE)",
    ).aims(CREATED);

    a_symbolic_link_is_created_outside => Attack::python(
        "each(lambda place: os.symlink('/etc/passwd', place + 'planted'), OUTSIDE)",
    ).aims(CREATED);

    a_fifo_is_created_outside => Attack::python(
        "each(lambda place: os.mkfifo(place + 'planted'), OUTSIDE)",
    ).aims(CREATED);

    a_socket_is_created_outside => Attack::python(
        "
import socket
each(lambda place: socket.socket(socket.AF_UNIX).bind(place + 'planted'), OUTSIDE)
",
    ).aims(CREATED);

    /// `O_TMPFILE`: first no name, then one by `linkat(2)`.
    a_nameless_file_is_created_outside_and_named => Attack::python(
        "
def attack(place):
    fd = os.open(place, os.O_TMPFILE | os.O_RDWR, 0o600)
    call('linkat', -100, f'/proc/self/fd/{fd}'.encode(), -100, (place + 'planted').encode(), 0x400)
each(attack, OUTSIDE)
",
    ).aims(CREATED);

    a_file_outside_is_deleted => Attack::python(
        "each(lambda place: os.unlink(place + 'file'), OUTSIDE)",
    ).aims(SPOILT);

    a_file_outside_is_renamed => Attack::python(
        "each(lambda place: os.rename(place + 'file', place + 'other'), OUTSIDE)",
    ).aims(SPOILT);

    a_secret_outside_is_read => Attack::python("each(show, SECRETS)").aims(Aim::Secrets);

    a_directory_outside_is_listed => Attack::python(
        "each(lambda place: [won() for name in os.listdir(place) if name == 'secret'], HIDDEN)",
    );

    /// Landlock has no rights for attributes (`landlock(7)`, "Current limitations").
    the_mode_of_a_file_outside_is_changed => Attack::python(
        "each(lambda place: os.chmod(place + 'file', 0o4777), OUTSIDE)",
    ).aims(Aim::Places(|place| fs::metadata(place.path("file")).unwrap().mode() & 0o7777 == 0o4777));

    the_times_of_a_file_outside_are_changed => Attack::python(
        "each(lambda place: os.utime(place + 'file', (1, 1)), OUTSIDE)",
    ).aims(Aim::Places(|place| fs::metadata(place.path("file")).unwrap().mtime() == 1));

    a_file_outside_gets_an_extended_attribute => Attack::python(
        "
# A tmpfs may have none of users'.
def attack(place):
    try:
        os.setxattr(place + 'file', 'user.portcullis', b'spoilt')
        won()
    except OSError as error:
        if error.errno != errno.ENOTSUP:
            raise
each(attack, OUTSIDE)
",
    );

    /// As a path that names no file that is looked up: only a descriptor.
    the_mode_of_a_file_outside_is_changed_by_descriptor => Attack::python(
        "
def attack(place):
    fd = os.open(place + 'file', os.O_PATH)
    os.chmod(f'/proc/self/fd/{fd}', 0o4777)
each(attack, OUTSIDE)
",
    ).aims(Aim::Places(|place| fs::metadata(place.path("file")).unwrap().mode() & 0o7777 == 0o4777));

    /// A listener on a directory learns of what others do there.
    a_directory_outside_is_watched => Attack::python(
        "
def attack(place):
    if libc.inotify_add_watch(libc.inotify_init1(0), place.encode(), 0xfff) == -1:
        raise OSError(ctypes.get_errno(), 'inotify')
    won()
each(attack, HIDDEN)
",
    );

    the_journal_is_read => Attack::python(
        "
for root, _, names in os.walk(FOLDER + '/journal'):
    for name in names:
        text = open(os.path.join(root, name), errors='replace').read()
        if 'attack' in text or 'python3' in text:
            won()
os.listdir(FOLDER + '/journal')
",
    );

    the_journal_is_appended_to => Attack::python(
        "
def attack(place):
    with open(place, 'a') as file:
        file.write('')
    won()
names = [os.path.join(FOLDER, 'journal', name) for name in os.listdir(FOLDER + '/journal')]
each(attack, [name for name in names if os.path.isfile(name)])
",
    );
}
