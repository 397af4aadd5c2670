//! Descriptors that the host has open and did not close for its children. Level `none` passes none on either, so that
//! these attacks are shown to work without the runner.

use std::fs::File;
use std::path::PathBuf;

use rustix::io::{FdFlags, fcntl_setfd};

use crate::arena::Arena;
use crate::attack::{Aim, Attack, Baseline};

attacks! {
    a_file_of_the_hosts_is_inherited => Attack {
        baseline: Baseline::Plain,
        ..Attack::python(
            "
fds = [int(name) for name in os.listdir('/proc/self/fd')]
each(lambda fd: print(os.pread(fd, 200, 0).decode(errors='replace'), flush=True), [fd for fd in fds if fd > 2])
",
        )
        .prepared(|arena| leak(arena, "secret"))
        .aims(Aim::Prints(|arena| arena.hidden()[0].secret.clone()))
    };

    /// CVE-2016-9962, CVE-2024-21626.
    a_directory_of_the_hosts_is_inherited => Attack {
        baseline: Baseline::Plain,
        ..Attack::python(
            "
def attack(fd):
    os.fchdir(fd)
    show('secret')
fds = [int(name) for name in os.listdir('/proc/self/fd')]
each(attack, [fd for fd in fds if fd > 2])
",
        )
        .prepared(|arena| leak(arena, ""))
        .aims(Aim::Prints(|arena| arena.hidden()[0].secret.clone()))
    };

    /// The same by name: no directory has to be changed to.
    a_directory_of_the_hosts_is_looked_into => Attack {
        baseline: Baseline::Plain,
        ..Attack::python("each(lambda fd: show(f'/proc/self/fd/{fd}/secret'), range(3, 1024))")
            .prepared(|arena| leak(arena, ""))
            .aims(Aim::Prints(|arena| arena.hidden()[0].secret.clone()))
    };

    /// Those that nobody leaked: of the runner's own.
    a_directory_of_the_hosts_is_open_above_the_numbers_that_are_listed => Attack {
        baseline: Baseline::Plain,
        ..Attack::python(
            "
def attack(fd):
    file = os.open('secret', os.O_RDONLY, dir_fd=fd)
    print(os.read(file, 200).decode(), flush=True)
each(attack, range(3, 1024))
",
        )
        .prepared(|arena| leak(arena, ""))
        .aims(Aim::Prints(|arena| arena.hidden()[0].secret.clone()))
    };

    /// The same: nothing is opened, so that rights to open do not matter.
    a_file_of_the_hosts_is_looked_at_below_a_descriptor => Attack {
        baseline: Baseline::Plain,
        ..Attack::python("each(lambda fd: (os.stat(f'/proc/self/fd/{fd}/secret'), won()), range(0, 1024))")
            .prepared(|arena| leak(arena, ""))
    };
}

/// Opens something outside in this process, for whoever is its child.
fn leak(arena: &mut Arena, name: &str) -> Result<(), String> {
    let path: PathBuf = arena.hidden()[0].path(name);
    let file = File::open(path).unwrap();
    fcntl_setfd(&file, FdFlags::empty()).unwrap();
    arena.afterwards(move || drop(file));
    Ok(())
}
