//! Ways out of the workspace: links, renames, races, and the names that `/proc` gives to files.

use std::fs;

use crate::arena::Arena;
use crate::attack::{Aim, Attack};

const SPOILT: Aim = Aim::Places(|place| place.is_spoilt());

const SECRET: Aim = Aim::Prints(|arena| arena.hidden()[0].secret.clone());

attacks! {
    a_path_leads_up_and_out => Attack::python(
        "each(lambda path: show('../' * 40 + path.lstrip('/')), SECRETS)",
    ).aims(Aim::Secrets);

    /// Nothing is opened, so that rights to open do not matter: is it there at all?
    a_path_that_leads_up_and_out_is_looked_at => Attack::python(
        "each(lambda path: (os.stat('../' * 40 + path.lstrip('/')), won()), SECRETS)",
    );

    /// From a directory that the runner was asked to start the command in.
    a_path_leads_up_and_out_of_a_directory => Attack::python(
        "
each(lambda path: (os.stat('../' * 40 + path.lstrip('/')), won()), SECRETS)
each(lambda path: (os.stat('/proc/self/cwd/' + '../' * 40 + path.lstrip('/')), won()), SECRETS)
",
    ).prepared(|arena| {
        fs::create_dir_all(arena.workspace().join("sub/directory")).unwrap();
        Ok(())
    }).starting_in("sub/directory");

    /// Nothing is opened there either, only changed.
    a_directory_outside_is_changed_to => Attack::python("each(lambda place: (os.chdir(place), won()), HIDDEN)");

    the_names_of_proc_lead_out => Attack::python(
        "
names = ['/proc/self/root', '/proc/thread-self/root', '/proc/1/root', '/proc/self/task/' + str(os.getpid()) + '/root']
each(lambda name: (os.stat(name + SECRETS[0]), won()), names)
",
    );

    a_symbolic_link_leads_out => Attack::python(
        "
def attack(place):
    os.symlink(place, 'link')
    try:
        open('link/file', 'w').write('spoilt')
    finally:
        os.unlink('link')
each(attack, OUTSIDE)
",
    ).aims(SPOILT);

    /// Only one file system can show it: that of the workspace.
    a_hard_link_brings_a_file_in => Attack::python(
        "
os.link(SECRETS[0], 'linked')
show('linked')
",
    ).aims(SECRET);

    a_rename_brings_a_file_in => Attack::python(
        "
os.rename(SECRETS[0], 'taken')
show('taken')
",
    ).aims(SECRET);

    a_rename_takes_a_file_out => Attack::python(
        "
open('made', 'w').write('spoilt')
os.rename('made', HIDDEN[0] + 'file')
",
    ).aims(Aim::Seen(|arena| arena.hidden()[0].is_spoilt()));

    a_hard_link_takes_a_file_out => Attack::python(
        "
open('made', 'w').write('spoilt')
os.link('made', HIDDEN[0] + 'planted')
",
    ).aims(Aim::Seen(|arena| arena.hidden()[0].path("planted").exists()));

    /// A directory and a symbolic link change places all the time (`renameat2(2)`, `RENAME_EXCHANGE`) while files are
    /// opened below their name. Who checks the name first and opens it then loses some day.
    a_directory_turns_into_a_link_while_it_is_used => Attack::python(
        "
import threading
os.mkdir('swapped')
open('swapped/secret', 'w').write('the own one')
os.symlink(HIDDEN[0], 'link')
done = False
def swap():
    while not done:
        call('renameat2', -100, b'swapped', -100, b'link', 2)
thread = threading.Thread(target=swap)
thread.start()
failed = None
try:
    for _ in range(4000):
        try:
            text = open('swapped/secret').read()
            if text != 'the own one':
                print(text, flush=True)
                break
        except OSError as error:
            failed = error
finally:
    done = True
    thread.join()
if failed:
    raise failed
",
    ).aims(SECRET).finishes();

    /// A directory is moved while somebody stands in it and walks up: CVE-2017-1002101 and others.
    a_directory_moves_while_its_parent_is_looked_up => Attack::python(
        "
import threading
os.makedirs('a/b/c')
os.makedirs('z')
done = False
def move():
    while not done:
        os.rename('a/b/c', 'z/c')
        os.rename('z/c', 'a/b/c')
thread = threading.Thread(target=move)
thread.start()
depth = WORKSPACE.count('/')
path = '../' * (3 + depth) + SECRETS[0].lstrip('/')
failed = None
try:
    for _ in range(4000):
        fd = -1
        try:
            fd = os.open('a/b/c', os.O_PATH)
            file = os.open(path, os.O_RDONLY, dir_fd=fd)
            print(os.read(file, 200).decode(), flush=True)
            break
        except OSError as error:
            failed = error
        finally:
            if fd >= 0:
                os.close(fd)
finally:
    done = True
    thread.join()
if failed:
    raise failed
",
    ).aims(SECRET).finishes();

    the_root_of_proc_self_leads_out => Attack::python(
        "each(lambda path: show('/proc/self/root' + path), SECRETS)",
    ).aims(Aim::Secrets);

    the_working_directory_of_proc_self_leads_out => Attack::python(
        "each(lambda path: show('/proc/self/cwd/' + '../' * 40 + path.lstrip('/')), SECRETS)",
    ).aims(Aim::Secrets);

    the_root_of_a_process_of_the_host_leads_out => Attack::python(
        "each(lambda path: show(f'/proc/{VICTIM}/root' + path), SECRETS)",
    ).aims(Aim::Secrets);

    /// Whoever is there, be it the first process of a namespace.
    the_root_or_directory_of_any_process_leads_out => Attack::python(
        "
pids = [pid for pid in os.listdir('/proc') if pid.isdigit()]
each(lambda pid: show(f'/proc/{pid}/root' + SECRETS[0]), pids + ['thread-self'])
each(lambda pid: show(f'/proc/{pid}/cwd/' + '../' * 40 + SECRETS[0].lstrip('/')), pids)
",
    ).aims(SECRET);

    /// Shocker (2014): a file by its handle, past all paths. Takes `CAP_DAC_READ_SEARCH`.
    a_file_is_opened_by_its_handle => Attack::root(
        "
handle = bytes.fromhex(HANDLE)
mount = os.open('.', os.O_RDONLY)
fd = call('open_by_handle_at', mount, handle, os.O_RDONLY)
print(os.read(fd, 200).decode(), flush=True)
",
    ).prepared(handle).aims(SECRET);

    /// The name that a program's own file has, looked at from the workspace.
    a_link_in_the_workspace_leads_through_proc => Attack::python(
        "
os.symlink('/proc/self/root', 'link')
each(lambda path: show('link' + path), SECRETS)
",
    ).aims(Aim::Secrets);

    /// What the host put there is as bad as what the command makes itself.
    a_link_that_was_there_leads_out => Attack::python("show('prepared')")
        .prepared(|arena| {
            std::os::unix::fs::symlink(arena.hidden()[0].path("secret"), arena.workspace().join("prepared")).unwrap();
            Ok(())
        })
        .aims(SECRET);

    /// A mount covers something, in the workspace as well.
    what_a_mount_covers_is_uncovered => Attack::root(
        "
def look():
    try:
        show('covered/secret')
    except OSError as error:
        return error
look()
call('umount2', (WORKSPACE + '/covered').encode(), 2)
show('covered/secret')
",
    ).prepared(cover).aims(Aim::Prints(|_| "what is covered".to_owned()));
}

/// The handle of a secret, from outside.
fn handle(arena: &mut Arena) -> Result<(), String> {
    let handle = arena.python(
        "
handle = (ctypes.c_char * 136)()
struct.pack_into('I', handle, 0, 128)
number = ctypes.c_int()
call('name_to_handle_at', -100, SECRETS[0].encode(), handle, ctypes.byref(number), 0)
print(bytes(handle).hex())
",
    );
    arena.set("HANDLE", handle);
    Ok(())
}

fn cover(arena: &mut Arena) -> Result<(), String> {
    let covered = arena.workspace().join("covered");
    fs::create_dir(&covered).unwrap();
    fs::write(covered.join("secret"), "what is covered").unwrap();
    let mounted = std::process::Command::new("mount").args(["-t", "tmpfs", "none"]).arg(&covered).status().unwrap();
    if !mounted.success() {
        return Err("nothing can be mounted here".to_owned());
    }
    arena.afterwards(move || {
        // The attack may have done it.
        let _ = std::process::Command::new("umount").args(["-q", "-l"]).arg(&covered).status();
    });
    Ok(())
}
