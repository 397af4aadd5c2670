//! Programs that the policy does not let a command's tree execute.

use std::fs;
use std::path::Path;

use crate::arena::Arena;
use crate::attack::{Aim, Attack};

/// What `id` prints.
const ID: Aim = Aim::Prints(|_| "uid=".to_owned());

/// What the library prints at the end of every program.
const PRELOADED: Aim = Aim::Prints(|_| "Memory usage summary".to_owned());

/// The one program that the trees of most attacks may execute; all others are attacks.
const LISTED: &str = "[\"ls\"]";

const SPOILT: Aim = Aim::Seen(|arena| fs::read(arena.folder().join("bin/python3")).unwrap().ends_with(b"spoilt"));

/// Fails, other than by refusal, if what is listed can't be executed: then a refusal of others means nothing.
macro_rules! listed {
    ($code:literal) => {
        concat!(
            "
import subprocess
try:
    subprocess.run(['/usr/bin/ls', '-d', '/'], check=True, stdout=subprocess.DEVNULL)
except OSError as error:
    sys.exit(f'what is listed does not run: {error}')
LOADER = '/lib64/ld-linux-x86-64.so.2' if platform.machine() == 'x86_64' else '/lib/ld-linux-aarch64.so.1'
needs(LOADER)
ID = open('id', 'rb').read()
",
            $code
        )
    };
}

attacks! {
    another_program_is_executed => Attack::python("os.execv('/usr/bin/id', ['id'])").aims(ID);

    a_program_executes_itself_again => Attack::python(
        "os.execv('/proc/self/exe', ['python3', '-I', '-S', '-c', 'print(\"won\")'])",
    );

    another_program_is_executed_by_a_child => Attack::python(
        "
import subprocess
print(subprocess.run(['/usr/bin/id'], check=True, capture_output=True, text=True).stdout)
",
    ).aims(ID);

    a_shell_is_executed_by_a_shell_command => Attack::python(
        "
if os.waitstatus_to_exitcode(os.system('echo won')) != 0:
    raise PermissionError(errno.EACCES, 'system')
",
    );

    /// A file without a name: it passes Landlock, and every mount option.
    memory_is_executed => Attack::python(
        "
fd = call('memfd_create', b'memory', 0)
os.write(fd, open('id', 'rb').read())
os.execve(f'/proc/self/fd/{fd}', ['id'], {})
",
    ).prepared(copies).aims(ID);

    /// A filter may let the command itself pass by a number that only the runner knows (an argument that the call does
    /// not use): is it one of these?
    the_number_of_the_first_execution_is_guessed => Attack::python(
        "
fd = os.open('/usr/bin/id', os.O_PATH)
arguments = (ctypes.c_char_p * 2)(b'id', None)
for guess in [0, -1, os.getpid(), os.getppid()] + [1 << bit for bit in range(63)] + list(range(2000)):
    try:
        call('execveat', fd, b'', arguments, None, 0x1000, guess)
    except OSError as error:
        failed = error
raise failed
",
    ).aims(ID);

    /// GTFOBins, `find`.
    find_executes_a_shell => Attack::program(
        "/usr/bin/find",
        &[".", "-maxdepth", "0", "-printf", "ready\\n", "-exec", "/bin/sh", "-c", "echo won", ";"],
    );

    /// GTFOBins, `tar`.
    tar_executes_a_shell_at_a_checkpoint => Attack::program(
        "/usr/bin/tar",
        &["-cf", "/dev/null", "--checkpoint=1", "--checkpoint-action=echo=ready", "--checkpoint-action=exec=echo won",
          "/dev/null"],
    );

    /// GTFOBins, `sed`.
    sed_executes_a_shell => Attack::program(
        "/usr/bin/sed",
        &["-n", "1{s/.*/ready/;p;e echo won\n}", "/proc/self/status"],
    );

    /// GTFOBins, `awk`.
    awk_executes_a_shell => Attack::program(
        "/usr/bin/awk",
        &["BEGIN { print \"ready\"; fflush(); system(\"echo won\") }"],
    );

    perl_executes_a_program => Attack::program(
        "/usr/bin/perl",
        &["-e", "$| = 1; print \"ready\\n\"; exec \"/usr/bin/env\", \"printf\", \"won\\n\""],
    );

    a_program_that_is_not_listed_is_executed => Attack::python(listed!("os.execv('/usr/bin/id', ['id'])"))
        .prepared(copies)
        .children(LISTED)
        .aims(ID);

    /// The loader has to be executable; what it loads is only read.
    the_loader_executes_a_program => Attack::python(listed!("os.execv(LOADER, ['ld', '/usr/bin/id'])"))
        .prepared(copies)
        .children(LISTED)
        .aims(ID)
        .becomes_another();

    the_loader_executes_a_file_of_the_workspace => Attack::python(listed!(
        "
open('evil', 'wb').write(ID)
os.execv(LOADER, ['ld', './evil'])
"
    )).prepared(copies).children(LISTED).aims(ID).becomes_another();

    a_file_of_the_workspace_is_executed => Attack::python(listed!(
        "
open('evil', 'wb').write(ID)
os.chmod('evil', 0o755)
os.execv('evil', ['id'])
"
    )).prepared(copies).children(LISTED).aims(ID);

    a_file_of_a_temporary_directory_is_executed => Attack::python(listed!(
        "
def attack(place):
    path = f'{place}/{UNIQUE}'
    with open(path, 'wb') as file:
        file.write(ID)
    os.chmod(path, 0o755)
    try:
        print(subprocess.run([path], check=True, capture_output=True, text=True).stdout, flush=True)
    finally:
        os.unlink(path)
each(attack, ['/tmp', '/var/tmp', '/dev/shm'])
"
    )).prepared(copies).children(LISTED).aims(ID);

    a_script_of_the_workspace_is_executed => Attack::python(listed!(
        "
open('script', 'w').write('#!/bin/sh\\necho won\\n')
os.chmod('script', 0o755)
os.execv('./script', ['script'])
"
    )).prepared(copies).children("[\"ls\", \"sh\"]");

    memory_is_executed_where_a_program_is_listed => Attack::python(listed!(
        "
fd = call('memfd_create', b'memory', 0)
os.write(fd, ID)
os.execve(f'/proc/self/fd/{fd}', ['id'], {})
"
    )).prepared(copies).children(LISTED).aims(ID);

    memory_is_executed_by_its_descriptor => Attack::python(listed!(
        "
fd = call('memfd_create', b'memory', 0)
os.write(fd, ID)
arguments = (ctypes.c_char_p * 2)(b'id', None)
call('execveat', fd, b'', arguments, None, 0x1000)
"
    )).prepared(copies).children(LISTED).aims(ID);

    /// In the workspace, and never with a name.
    a_nameless_file_is_executed => Attack::python(listed!(
        "
fd = os.open('.', os.O_TMPFILE | os.O_RDWR, 0o755)
os.write(fd, ID)
os.fchmod(fd, 0o755)
# A file that is open for writing is not executed.
again = os.open(f'/proc/self/fd/{fd}', os.O_RDONLY)
os.close(fd)
os.execve(f'/proc/self/fd/{again}', ['id'], {})
"
    )).prepared(copies).children(LISTED).aims(ID);

    /// By a name that is not its own.
    a_program_is_executed_through_a_link => Attack::python(listed!(
        "
os.symlink('/usr/bin/id', 'ls')
os.execv('./ls', ['ls'])
"
    )).prepared(copies).children(LISTED).aims(ID);

    /// `LD_PRELOAD`: what is listed runs, with code that the command wrote.
    a_library_of_the_workspace_is_put_before_a_program => Attack::python(listed!(
        "
os.dup2(1, 2)
# `ls` closes its standard error before the library writes there, and a shell ends without asking libraries.
os.execve('/usr/bin/python3', ['python3', '-I', '-S', '-c', 'pass'], {'LD_PRELOAD': WORKSPACE + '/library.so'})
"
    )).prepared(library).children("[\"ls\", \"/usr/bin/python3\"]").aims(PRELOADED).becomes_another();

    a_library_of_the_workspace_is_loaded => Attack::python(listed!(
        "
ctypes.CDLL(WORKSPACE + '/library.so')
won()
"
    )).prepared(library).children(LISTED);

    /// What the kernel shall do with files of a kind: `binfmt_misc`.
    an_interpreter_is_registered => Attack::root(
        "
needs('/proc/sys/fs/binfmt_misc/register')
os.close(os.open('/proc/sys/fs/binfmt_misc/register', os.O_WRONLY))
won()
",
    );

    the_file_of_the_program_is_replaced => Attack {
        program: "FOLDER/bin/python3",
        ..Attack::python(
            "
path = FOLDER + '/bin/python3'
open(path + '.new', 'w').write('spoilt')
os.rename(path + '.new', path)
",
        )
        .aims(SPOILT)
    };

    /// CVE-2019-5736: a descriptor of the program outlives its execution, and the name in `/proc` opens it anew.
    the_file_of_the_program_is_overwritten_through_proc => Attack {
        program: "FOLDER/bin/python3",
        ..Attack::python(
            "
fd = os.open('/proc/self/exe', os.O_PATH)
os.set_inheritable(fd, True)
code = f\"open('/proc/self/fd/{fd}', 'ab').write(b'spoilt')\"
os.execv('/usr/bin/python3', ['python3', '-I', '-S', '-c', code])
",
        )
        .children("\"any\"")
        .aims(SPOILT)
        .becomes_another()
    };

    /// The one that keeps the command, and starts the next.
    the_file_of_the_first_process_is_opened => Attack::root(
        "
try:
    os.open('/proc/1/exe', os.O_RDONLY)
except PermissionError:
    absent('the first process has powers that root does not have here')
    raise
won()
",
    );
}

/// A program in the workspace, as data: programs of the system's may be unreadable.
fn copies(arena: &mut Arena) -> Result<(), String> {
    fs::write(arena.workspace().join("id"), fs::read("/usr/bin/id").unwrap()).unwrap();
    Ok(())
}

/// And a library, which says that it was there.
fn library(arena: &mut Arena) -> Result<(), String> {
    copies(arena)?;
    let places = ["/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu", "/usr/lib64"].map(Path::new);
    let found = places.iter().find_map(|place| fs::read(place.join("libmemusage.so")).ok());
    let library = found.ok_or("libmemusage.so is not installed")?;
    fs::write(arena.workspace().join("library.so"), library).unwrap();
    Ok(())
}
