use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode;

use super::walk::{self, LastLink, Standing};
use super::{Shared, entry};

/// A workspace with a `.git` and a `src`, beside other folders.
struct World {
    folder: TempDir,
}

impl World {
    fn new() -> Self {
        let world = Self { folder: tempfile::tempdir().unwrap() };
        for folder in [".git/hooks", "src", "real/hooks"] {
            fs::create_dir_all(world.path(folder)).unwrap();
        }
        for file in [".git/hooks/pre-commit", "src/main.rs", "real/hooks/pre-commit"] {
            fs::write(world.path(file), file).unwrap();
        }
        world
    }

    fn path(&self, path: &str) -> PathBuf {
        fs::canonicalize(self.folder.path()).unwrap().join("workspace").join(path)
    }

    fn denying(&self, paths: &[&str]) -> Shared {
        let paths = paths.iter().map(|&path| path.to_owned()).collect();
        Shared { root: entry::directory(&self.path("")).unwrap(), paths }
    }

    fn open(&self, path: &str) -> File {
        File::open(self.path(path)).unwrap()
    }

    /// What becomes of a path, from the workspace.
    fn standing(&self, shared: &Shared, path: &str) -> Result<Standing, ErrorCode> {
        walk::find(shared, &self.open(""), path, LastLink::Follow).map(|found| found.standing)
    }

    /// Makes a link where something else was.
    fn relink(&self, target: impl AsRef<Path>, link: &str) {
        let link = self.path(link);
        let _ = fs::remove_dir_all(&link).or_else(|_| fs::remove_file(&link));
        symlink(target, link).unwrap();
    }
}

fn find(shared: &Shared, base: &File, path: &str) -> Result<String, ErrorCode> {
    walk::find(shared, base, path, LastLink::Follow).map(|found| found.name)
}

#[test]
fn a_descriptor_is_judged_by_where_its_directory_is_now() {
    let world = World::new();
    let shared = world.denying(&["later"]);
    let (directory, file) = (world.open("src"), world.open("src/main.rs"));
    assert!(walk::judge(&shared, &directory).is_ok() && walk::judge(&shared, &file).is_ok());
    assert_eq!(find(&shared, &directory, "main.rs").unwrap(), "main.rs");
    for elsewhere in ["later", "../outside"] {
        fs::rename(world.path("src"), world.path(elsewhere)).unwrap();
        for path in ["main.rs", ".", "new"] {
            assert!(matches!(find(&shared, &directory, path), Err(ErrorCode::Access)), "{elsewhere} {path}");
        }
        assert!(matches!(walk::judge(&shared, &directory), Err(ErrorCode::Access)), "{elsewhere}");
        assert!(matches!(walk::judge(&shared, &file), Err(ErrorCode::Access)), "{elsewhere}");
        fs::rename(world.path(elsewhere), world.path("src")).unwrap();
    }
    assert_eq!(find(&shared, &directory, "main.rs").unwrap(), "main.rs");
}

#[test]
fn what_was_found_stays_what_it_was_when_its_name_becomes_another() {
    let world = World::new();
    let shared = world.denying(&[".git/hooks"]);
    let found = walk::find(&shared, &world.open(""), "src/main.rs", LastLink::Follow).unwrap();
    fs::rename(world.path("src"), world.path("moved")).unwrap();
    world.relink(".git/hooks", "src");
    assert_eq!(entry::real_path(&found.parent).unwrap(), world.path("moved"));
}

#[test]
fn links_on_the_way_to_a_denied_path_are_followed_wherever_they_go() {
    let world = World::new();
    let back = world.path("../outside");
    symlink(world.path("real"), &back).unwrap();
    for target in [PathBuf::from("real"), PathBuf::from("src/../real/."), world.path("real"), back] {
        world.relink(&target, ".git");
        let shared = world.denying(&[".git/hooks"]);
        for path in ["real/hooks", "real/hooks/pre-commit", "real/hooks/new"] {
            assert!(matches!(world.standing(&shared, path), Err(ErrorCode::Access)), "{target:?} {path}");
        }
        assert!(matches!(world.standing(&shared, "real"), Ok(Standing::Needed)), "{target:?}");
        assert!(matches!(world.standing(&shared, "src/main.rs"), Ok(Standing::Free)), "{target:?}");
    }
}

#[test]
fn a_denied_path_whose_links_lead_nowhere_stays_denied_and_harms_nothing_else() {
    let world = World::new();
    for target in [".git", "nothing", "src/main.rs", "../nothing", "/nothing"] {
        world.relink(target, ".git");
        let shared = world.denying(&[".git/hooks"]);
        let found = walk::find(&shared, &world.open(""), ".git", LastLink::Keep).unwrap();
        assert_eq!(found.standing, Standing::Needed, "{target}");
        assert!(matches!(world.standing(&shared, "real/hooks"), Ok(Standing::Free)), "{target}");
    }
    // What would make it lead somewhere.
    world.relink("nothing", ".git");
    let shared = world.denying(&[".git/hooks"]);
    assert!(matches!(world.standing(&shared, "nothing"), Ok(Standing::Needed)));
    assert!(matches!(world.standing(&shared, "nothing/hooks"), Err(ErrorCode::NoEntry)));
}

#[test]
fn paths_and_links_are_bounded_as_the_kernel_bounds_them() {
    let world = World::new();
    let shared = world.denying(&[".git/hooks"]);
    for number in 0..=MAX {
        world.relink(
            if number == 0 { "src".to_owned() } else { format!("link-{}", number - 1) },
            &format!("link-{number}"),
        );
    }
    assert!(world.standing(&shared, &format!("link-{}", MAX - 1)).is_ok());
    assert!(matches!(world.standing(&shared, &format!("link-{MAX}")), Err(ErrorCode::Loop)));
    let long = |length: usize| format!("{}main.rs", "src/../".repeat(length / 7).split_off(7));
    assert!(world.standing(&shared, &long(4000)).is_ok());
    assert!(matches!(world.standing(&shared, &long(4200)), Err(ErrorCode::NameTooLong)));
    assert!(matches!(world.standing(&shared, "a\0b"), Err(ErrorCode::Invalid)));
}

const MAX: usize = entry::MAX_LINKS;

#[test]
fn a_link_to_a_name_that_no_guest_can_say_is_an_error() {
    let world = World::new();
    let shared = world.denying(&[".git/hooks"]);
    world.relink(std::ffi::OsStr::from_bytes(b"src/\xff"), "link");
    assert!(matches!(world.standing(&shared, "link"), Err(ErrorCode::IllegalByteSequence)));
}
