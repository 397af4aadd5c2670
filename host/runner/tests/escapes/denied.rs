//! Paths of the workspace that the policy denies to everybody, there or not yet: `.git/hooks` and `.env`.

use std::fs;

use crate::arena::Arena;
use crate::attack::{Aim, Attack};

/// What is denied is there.
pub(crate) const fn there(code: &'static str) -> Attack {
    Attack::python(code).prepared(prepare).under(DENY)
}

/// Nothing of it is there.
const fn missing(code: &'static str) -> Attack {
    Attack::python(code).under(DENY)
}

const DENY: &str = "workspace.deny = [\".git/hooks\", \".env\"]";

pub(crate) const SECRET: Aim = Aim::Prints(|_| "what is denied".to_owned());

/// A hook that git would run.
pub(crate) const HOOK: Aim = Aim::Seen(|arena| read(arena, ".git/hooks/pre-commit") == "spoilt");

const SPOILT: Aim = Aim::Seen(|arena| read(arena, ".env") != "what is denied");

const PLANTED: Aim = Aim::Seen(|arena| read(arena, ".env") == "spoilt");

attacks! {
    a_denied_file_is_read => there("show('.env')").aims(SECRET);

    a_denied_file_is_read_by_its_whole_path => there("show(WORKSPACE + '/.env')").aims(SECRET);

    a_denied_file_is_read_through_proc => there(
        "each(show, ['/proc/self/cwd/.env', '/proc/self/root' + WORKSPACE + '/.env'])",
    ).aims(SECRET);

    a_denied_file_is_read_through_a_link => there("os.symlink('.env', 'link'); show('link')").aims(SECRET);

    a_denied_file_is_linked_and_read => there("os.link('.env', 'link'); show('link')").aims(SECRET);

    a_denied_file_is_moved_and_read => there("os.rename('.env', 'moved'); show('moved')").aims(SECRET);

    a_denied_file_is_exchanged_and_read => there(
        "
open('other', 'w').write('other')
call('renameat2', -100, b'.env', -100, b'other', 2)
show('other')
",
    ).aims(SECRET);

    a_denied_directory_is_listed => there("if 'existing' in os.listdir('.git/hooks'): won()").finishes();

    a_file_of_a_denied_directory_is_read => there("show('.git/hooks/existing')").aims(SECRET);

    /// By who starts in it.
    a_file_is_made_in_a_denied_directory_by_who_starts_beside_it => there(
        "open('hooks/pre-commit', 'w').write('spoilt')",
    ).starting_in(".git").aims(HOOK);

    a_denied_file_is_written => there("open('.env', 'w').write('spoilt')").aims(SPOILT);

    a_denied_file_is_deleted => there("os.unlink('.env')").aims(SPOILT);

    a_denied_file_is_replaced => there(
        "
open('other', 'w').write('spoilt')
os.rename('other', '.env')
",
    ).aims(SPOILT);

    the_mode_of_a_denied_file_is_changed => there("os.chmod('.env', 0o4777)").aims(Aim::Seen(|arena| {
        use std::os::unix::fs::PermissionsExt as _;
        fs::metadata(arena.workspace().join(".env")).unwrap().permissions().mode() & 0o7777 == 0o4777
    }));

    a_file_is_made_in_a_denied_directory => there("open('.git/hooks/pre-commit', 'w').write('spoilt')").aims(HOOK);

    /// Whatever is in the way of a name is found by its parent.
    a_file_is_made_below_the_descriptor_of_a_parent => there(
        "
parent = os.open('.git', os.O_PATH)
hooks = os.open('hooks', os.O_PATH, dir_fd=parent)
fd = os.open('pre-commit', os.O_WRONLY | os.O_CREAT, dir_fd=hooks)
os.write(fd, b'spoilt')
",
    ).aims(HOOK);

    a_parent_is_renamed_and_back => there(
        "
os.rename('.git', 'moved')
open('moved/hooks/pre-commit', 'w').write('spoilt')
os.rename('moved', '.git')
",
    ).aims(HOOK);

    a_parent_is_exchanged => there(
        "
os.makedirs('evil/hooks')
open('evil/hooks/pre-commit', 'w').write('spoilt')
call('renameat2', -100, b'.git', -100, b'evil', 2)
",
    ).aims(HOOK);

    a_parent_is_replaced_by_a_link => there(
        "
os.makedirs('evil/hooks')
open('evil/hooks/pre-commit', 'w').write('spoilt')
os.rename('.git', 'moved')
os.symlink('evil', '.git')
",
    ).aims(HOOK);

    a_parent_is_deleted_and_made_anew => there(
        "
import shutil
shutil.rmtree('.git')
os.makedirs('.git/hooks')
open('.git/hooks/pre-commit', 'w').write('spoilt')
",
    ).aims(HOOK);

    a_denied_directory_is_renamed_and_made_anew => there(
        "
os.rename('.git/hooks', '.git/moved')
os.mkdir('.git/hooks')
open('.git/hooks/pre-commit', 'w').write('spoilt')
",
    ).aims(HOOK);

    a_denied_directory_is_replaced_by_a_link => there(
        "
os.makedirs('evil')
open('evil/pre-commit', 'w').write('spoilt')
os.rename('.git/hooks', '.git/moved')
os.symlink('../evil', '.git/hooks')
",
    ).aims(HOOK);

    a_file_is_linked_into_a_denied_directory => there(
        "
open('evil', 'w').write('spoilt')
os.link('evil', '.git/hooks/pre-commit')
",
    ).aims(HOOK);

    /// The workspace itself is an ancestor.
    the_workspace_is_renamed => there(
        "
os.rename(WORKSPACE, FOLDER + '/moved')
open(FOLDER + '/moved/.git/hooks/pre-commit', 'w').write('spoilt')
os.rename(FOLDER + '/moved', WORKSPACE)
",
    ).aims(HOOK);

    a_missing_file_is_made => missing("open('.env', 'w').write('spoilt')").aims(PLANTED);

    a_missing_file_is_moved_there => missing(
        "
open('other', 'w').write('spoilt')
os.rename('other', '.env')
",
    ).aims(PLANTED);

    a_missing_file_is_linked_there => missing(
        "
open('other', 'w').write('spoilt')
os.link('other', '.env')
",
    ).aims(PLANTED);

    a_link_is_made_where_a_file_is_missing => missing(
        "
open('other', 'w').write('spoilt')
os.symlink('other', '.env')
",
    ).aims(PLANTED);

    a_missing_directory_is_made => missing(
        "
os.makedirs('.git/hooks', exist_ok=True)
open('.git/hooks/pre-commit', 'w').write('spoilt')
",
    ).aims(HOOK);

    a_tree_is_moved_to_where_a_directory_is_missing => missing(
        "
os.makedirs('tree/hooks')
open('tree/hooks/pre-commit', 'w').write('spoilt')
os.rename('tree', '.git')
",
    ).aims(HOOK);

    a_link_is_made_where_a_parent_is_missing => missing(
        "
os.makedirs('tree/hooks')
open('tree/hooks/pre-commit', 'w').write('spoilt')
os.symlink('tree', '.git')
",
    ).aims(HOOK);

    /// In the next command, when nothing is as it was.
    a_missing_directory_is_made_by_the_next_command => missing(
        "
os.makedirs('.git', exist_ok=True)
",
    ).then(
        "
os.makedirs('.git/hooks', exist_ok=True)
open('.git/hooks/pre-commit', 'w').write('spoilt')
",
    ).aims(HOOK);
}

pub(crate) fn prepare(arena: &mut Arena) -> Result<(), String> {
    let workspace = arena.workspace();
    fs::create_dir_all(workspace.join(".git/hooks")).unwrap();
    fs::write(workspace.join(".git/hooks/existing"), "what is denied").unwrap();
    fs::write(workspace.join(".env"), "what is denied").unwrap();
    Ok(())
}

fn read(arena: &Arena, path: &str) -> String {
    fs::read_to_string(arena.workspace().join(path)).unwrap_or_default()
}
