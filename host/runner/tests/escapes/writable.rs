//! The workspace where only a part of it may be written: `out`.

use std::fs;
use std::os::unix::fs::MetadataExt as _;

use crate::arena::Arena;
use crate::attack::{Aim, Attack};

const fn read_only(code: &'static str) -> Attack {
    Attack::python(code).prepared(prepare).under("confinement.write = [\"out\"]")
}

const SPOILT: Aim = Aim::Seen(|arena| text(arena) != "untouched");

/// Fails, other than by refusal, if what may be written can't be: then a refusal of others means nothing.
macro_rules! writing {
    ($code:literal) => {
        concat!(
            "
try:
    open('out/made', 'w').write('spoilt')
except OSError as error:
    sys.exit(f'what may be written can not be: {error}')
",
            $code
        )
    };
}

attacks! {
    a_file_is_written => read_only(writing!("open('file', 'w').write('spoilt')")).aims(SPOILT);

    a_file_is_written_through_a_link => read_only(writing!(
        "
os.symlink('../file', 'out/link')
open('out/link', 'w').write('spoilt')
"
    )).aims(SPOILT);

    a_file_is_linked_to_where_it_can_be_written => read_only(writing!(
        "
os.link('file', 'out/link')
open('out/link', 'w').write('spoilt')
"
    )).aims(SPOILT);

    a_file_is_moved_to_where_it_can_be_written => read_only(writing!("os.rename('file', 'out/moved')")).aims(SPOILT);

    a_file_is_replaced => read_only(writing!("os.rename('out/made', 'file')")).aims(SPOILT);

    a_directory_is_exchanged => read_only(writing!(
        "
os.mkdir('out/directory')
open('out/directory/file', 'w').write('spoilt')
call('renameat2', -100, b'directory', -100, b'out/directory', 2)
"
    )).aims(Aim::Seen(|arena| fs::read_to_string(arena.workspace().join("directory/file")).unwrap() == "spoilt"));

    a_file_is_made => read_only(writing!("open('new', 'w')"))
        .aims(Aim::Seen(|arena| arena.workspace().join("new").exists()));

    what_may_be_written_is_moved_away => read_only(writing!("os.rename('out', 'moved')"))
        .aims(Aim::Seen(|arena| !arena.workspace().join("out").exists()));

    the_mode_of_a_file_is_changed => read_only(writing!("os.chmod('file', 0o4777)"))
        .aims(Aim::Seen(|arena| fs::metadata(arena.workspace().join("file")).unwrap().mode() & 0o7777 == 0o4777));

    the_mode_of_the_workspace_is_changed => read_only(writing!(
        "each(lambda path: os.chmod(path, 0o4777), ['.', WORKSPACE])"
    )).aims(Aim::Seen(|arena| fs::metadata(arena.workspace()).unwrap().mode() & 0o7777 == 0o4777));

    /// Of the directory that the runner opened for it.
    the_mode_of_the_working_directory_is_changed => read_only(
        "each(lambda path: os.chmod(path, 0o4777), ['.', '/proc/self/cwd'])",
    ).starting_in("directory").aims(Aim::Seen(|arena| {
        fs::metadata(arena.workspace().join("directory")).unwrap().mode() & 0o7777 == 0o4777
    }));

    the_times_of_a_file_are_changed => read_only(writing!("os.utime('file', (1, 1))"))
        .aims(Aim::Seen(|arena| fs::metadata(arena.workspace().join("file")).unwrap().mtime() == 1));

    /// By the name that `/proc` gives to what is open for reading.
    a_file_is_opened_again_for_writing => read_only(writing!(
        "
fd = os.open('file', os.O_RDONLY)
os.write(os.open(f'/proc/self/fd/{fd}', os.O_WRONLY | os.O_TRUNC), b'spoilt')
"
    )).aims(SPOILT);
}

fn prepare(arena: &mut Arena) -> Result<(), String> {
    let workspace = arena.workspace();
    fs::create_dir(workspace.join("out")).unwrap();
    fs::create_dir(workspace.join("directory")).unwrap();
    fs::write(workspace.join("file"), "untouched").unwrap();
    fs::write(workspace.join("directory/file"), "untouched").unwrap();
    Ok(())
}

fn text(arena: &Arena) -> String {
    fs::read_to_string(arena.workspace().join("file")).unwrap_or_default()
}
