//! What is denied, when the host's user replaces it: editors save a file by renaming another over it, and repositories
//! are deleted and made anew. The kernel takes away every mount that lies on what is replaced or deleted, in all
//! namespaces (`umount(2)` is not asked). Between two commands that is found out; while one runs it is the user who shows
//! what was hidden.

use std::fs;

use crate::arena::Arena;
use crate::denied::{HOOK, SECRET, there};

attacks! {
    a_file_that_was_saved_between_two_commands_is_read => there("pass")
        .then("show('.env')")
        .while_the_user(save)
        .aims(SECRET);

    a_file_that_was_deleted_and_made_between_two_commands_is_read => there("pass")
        .then("show('.env')")
        .while_the_user(|arena| {
            fs::remove_file(arena.workspace().join(".env")).unwrap();
            fs::write(arena.workspace().join(".env"), "what is denied").unwrap();
        })
        .aims(SECRET);

    a_directory_that_was_made_anew_between_two_commands_is_written => there("pass")
        .then("open('.git/hooks/pre-commit', 'w').write('spoilt')")
        .while_the_user(|arena| {
            fs::remove_dir_all(arena.workspace().join(".git")).unwrap();
            fs::create_dir_all(arena.workspace().join(".git/hooks")).unwrap();
        })
        .aims(HOOK);

    /// What the command has under its parent's name is then what was there before, or nothing.
    a_parent_that_was_renamed_between_two_commands_is_written => there("pass")
        .then("open('.git/hooks/pre-commit', 'w').write('spoilt')")
        .while_the_user(|arena| {
            let git = arena.workspace().join(".git");
            fs::rename(&git, arena.workspace().join("old")).unwrap();
            fs::create_dir_all(git.join("hooks")).unwrap();
        })
        .aims(HOOK);
}

/// As an editor does.
fn save(arena: &Arena) {
    let workspace = arena.workspace();
    fs::write(workspace.join("new"), "what is denied").unwrap();
    fs::rename(workspace.join("new"), workspace.join(".env")).unwrap();
}
