//! A directory outside that the policy lets commands read, and no more.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;

use crate::arena::Arena;
use crate::attack::{Aim, Attack};

/// Fails, other than by refusal, if what may be read can't be: then a refusal of others means nothing.
macro_rules! reading {
    ($code:literal) => {
        concat!(
            "
SHARED = FOLDER + '/shared'
try:
    open(SHARED + '/file').read()
except OSError as error:
    sys.exit(f'what may be read can not be: {error}')
",
            $code
        )
    };
}

const fn readable(code: &'static str) -> Attack {
    Attack::python(code).prepared(prepare).under("confinement.read = [\"FOLDER/shared\"]")
}

const SPOILT: Aim =
    Aim::Seen(|arena| fs::read_to_string(shared(arena).join("file")).unwrap_or_default() != "untouched");

attacks! {
    a_file_is_written => readable(reading!("open(SHARED + '/file', 'w').write('spoilt')")).aims(SPOILT);

    a_file_is_deleted => readable(reading!("os.unlink(SHARED + '/file')")).aims(SPOILT);

    a_file_is_linked_and_written => readable(reading!(
        "
os.link(SHARED + '/file', 'link')
open('link', 'w').write('spoilt')
"
    )).aims(SPOILT);

    a_file_is_moved_into_the_workspace => readable(reading!("os.rename(SHARED + '/file', 'moved')")).aims(SPOILT);

    a_file_is_made => readable(reading!("open(SHARED + '/new', 'w')"))
        .aims(Aim::Seen(|arena| shared(arena).join("new").exists()));

    the_mode_of_a_file_is_changed => readable(reading!("os.chmod(SHARED + '/file', 0o4777)"))
        .aims(Aim::Seen(|arena| fs::metadata(shared(arena).join("file")).unwrap().mode() & 0o7777 == 0o4777));

    the_mode_of_what_is_open_is_changed => readable(reading!(
        "os.fchmod(os.open(SHARED + '/file', os.O_RDONLY), 0o4777)"
    )).aims(Aim::Seen(|arena| fs::metadata(shared(arena).join("file")).unwrap().mode() & 0o7777 == 0o4777));

    the_mode_of_the_directory_is_changed => readable(reading!("os.chmod(SHARED, 0o4777)"))
        .aims(Aim::Seen(|arena| fs::metadata(shared(arena)).unwrap().mode() & 0o7777 == 0o4777));

    /// Another program than the one that the policy lets the tree execute.
    a_program_is_executed => readable(reading!("os.execv(SHARED + '/id', ['id'])"))
        .children("[\"ls\"]")
        .aims(Aim::Prints(|_| "uid=".to_owned()));

    what_lies_beside_it_is_looked_at => readable(reading!(
        "
each(lambda path: (os.stat(path), won()), [FOLDER + '/journal', SHARED + '/../journal', SECRETS[0]])
"
    ));

    what_lies_beside_it_is_read_through_a_link => readable(reading!("show(SHARED + '/link')"))
        .aims(Aim::Prints(|arena| arena.hidden()[0].secret.clone()));

    /// Reading is not talking: a socket that lies there is somebody's door.
    a_socket_is_connected_to => readable(reading!(
        "
import socket
socket.socket(socket.AF_UNIX).connect(SHARED + '/socket')
won()
"
    )).prepared(|arena| sockets_are_kept().and_then(|()| prepare(arena)));
}

/// Landlock keeps commands from sockets that they can see since its version 9.
pub(crate) fn sockets_are_kept() -> Result<(), String> {
    let landlock = portcullis_runner::probe().into_iter().find(|capability| capability.name == "landlock").unwrap();
    let version = landlock.detail.split("version ").nth(1).unwrap_or_default();
    let version: u32 = version.chars().take_while(char::is_ascii_digit).collect::<String>().parse().unwrap_or(0);
    if version >= 9 { Ok(()) } else { Err(format!("Landlock's version {version} does not keep from sockets; 9 does")) }
}

fn prepare(arena: &mut Arena) -> Result<(), String> {
    let shared = shared(arena);
    fs::create_dir(&shared).unwrap();
    fs::write(shared.join("file"), "untouched").unwrap();
    crate::support::copied("/usr/bin/id".as_ref(), &shared.join("id"));
    std::os::unix::fs::symlink(arena.hidden()[0].path("secret"), shared.join("link")).unwrap();
    let socket = UnixListener::bind(shared.join("socket")).unwrap();
    arena.afterwards(move || drop(socket));
    Ok(())
}

fn shared(arena: &Arena) -> PathBuf {
    arena.folder().join("shared")
}
