//! A workspace with things that are denied, and a guest in it.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use portcullis_wasmtime::{DeniedPaths, DeniedPathsView, p2};
use tempfile::TempDir;
use wasmtime::component::{Component, Linker, ResourceTable};
use wasmtime::{Engine, Store};
use wasmtime_wasi::p2::bindings::CommandPre;
use wasmtime_wasi::p2::pipe::MemoryOutputPipe;
use wasmtime_wasi::{FsPerms, WasiCtx, WasiCtxView, WasiView};

use crate::support::{component, within};

/// What the tests' policy would deny.
pub(crate) const DENIED: [&str; 8] =
    [".git/hooks", ".env", "deep/a/b/secret", "empty", "absent", "missing/later", "shortcut", "pointer/data"];

/// Where it is, once links are followed.
const REAL: [&str; 10] = [
    ".git/hooks",
    ".env",
    "deep/a/b/secret",
    "empty",
    "absent",
    "missing/later",
    "shortcut",
    "vault/key",
    "store/data",
    "pointer",
];

struct State {
    wasi: WasiCtx,
    table: ResourceTable,
    denied: DeniedPaths,
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

impl DeniedPathsView for State {
    fn denied_paths(&mut self) -> &DeniedPaths {
        &self.denied
    }
}

/// Compiled once for all tests.
fn guest() -> &'static CommandPre<State> {
    static GUEST: LazyLock<CommandPre<State>> = LazyLock::new(|| {
        let engine = Engine::default();
        let mut linker = Linker::new(&engine);
        wasmtime_wasi::p2::add_to_linker_async(&mut linker).unwrap();
        p2::add_denied_paths_to_linker(&mut linker).unwrap();
        let component = Component::from_file(&engine, component("descriptors")).unwrap();
        CommandPre::new(linker.instantiate_pre(&component).unwrap()).unwrap()
    });
    &GUEST
}

/// A folder with a workspace.
pub(crate) struct Workspace {
    folder: TempDir,
    denied: DeniedPaths,
}

impl Workspace {
    /// With everything that the attacks want, and nothing denied.
    pub(crate) fn open() -> Self {
        let workspace = Self { folder: tempfile::tempdir().unwrap(), denied: DeniedPaths::default() };
        for (path, text) in [
            (".git/HEAD", "ref: refs/heads/main"),
            (".git/hooks/pre-commit", "HOOK"),
            (".env", "SECRET"),
            ("src/main.rs", "fn main() {}"),
            ("deep/a/b/secret/key", "KEY"),
            ("prepared/later", "EVIL"),
            ("vault/key", "VAULT"),
            ("store/data", "STORE"),
        ] {
            let path = workspace.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        fs::create_dir(workspace.path().join("empty")).unwrap();
        for (target, link) in [
            (".git/hooks", "to-hooks"),
            (".git", "to-git"),
            (".env", "to-env"),
            ("to-env", "to-to-env"),
            ("../.env", "src/up"),
            ("../absent", "src/to-absent"),
            // Denied paths that are links, or have links on the way.
            ("vault/key", "shortcut"),
            ("hop", "pointer"),
            ("store", "hop"),
        ] {
            symlink(target, workspace.path().join(link)).unwrap();
        }
        fs::hard_link(workspace.path().join(".env"), workspace.path().join("hard-env")).unwrap();
        workspace
    }

    /// The same, and [`DENIED`] is denied.
    pub(crate) fn closed() -> Self {
        Self::open().denying(&DENIED)
    }

    /// Denies these paths.
    pub(crate) fn denying(mut self, paths: &[&str]) -> Self {
        let paths: Vec<String> = paths.iter().map(|&path| path.to_owned()).collect();
        self.denied = DeniedPaths::new(&self.path(), &paths).unwrap();
        self
    }

    pub(crate) fn path(&self) -> PathBuf {
        let path = self.folder.path().join("workspace");
        fs::create_dir_all(&path).unwrap();
        fs::canonicalize(path).unwrap()
    }

    /// The guest's answers to these steps.
    pub(crate) async fn answers(&self, perms: FsPerms, steps: &[&str]) -> Vec<String> {
        let stdout = MemoryOutputPipe::new(1 << 20);
        let mut wasi = WasiCtx::builder();
        wasi.stdout(stdout.clone()).arg("descriptors").args(steps);
        let path = self.path();
        for name in [".", path.to_str().unwrap()] {
            wasi.preopened_dir(&path, name, perms).unwrap();
        }
        let state = State { wasi: wasi.build(), table: ResourceTable::new(), denied: self.denied.clone() };
        let mut store = Store::new(guest().engine(), state);
        let running = async {
            let command = guest().instantiate_async(&mut store).await.unwrap();
            command.wasi_cli_run().call_run(&mut store).await.unwrap()
        };
        assert_eq!(within("the guest's end", running).await, Ok(()));
        drop(store);
        String::from_utf8(stdout.contents().to_vec()).unwrap().lines().map(str::to_owned).collect()
    }

    /// As [`answers`](Self::answers), of a guest that may write.
    pub(crate) async fn writes(&self, steps: &[&str]) -> Vec<String> {
        self.answers(FsPerms::ReadWrite, steps).await
    }

    /// All that is denied: what is there, its content, times and links. An attack must leave it as it was.
    pub(crate) fn treasure(&self) -> Vec<String> {
        let mut found = Vec::new();
        REAL.iter().for_each(|path| describe(&self.path(), Path::new(path), &mut found));
        found
    }
}

fn describe(workspace: &Path, path: &Path, found: &mut Vec<String>) {
    let full = workspace.join(path);
    let Ok(metadata) = fs::symlink_metadata(&full) else {
        return found.push(format!("{path:?} is missing"));
    };
    let content = if metadata.is_symlink() {
        format!("{:?}", fs::read_link(&full).unwrap())
    } else if metadata.is_file() {
        fs::read_to_string(&full).unwrap()
    } else {
        String::new()
    };
    found.push(format!(
        "{path:?} {:o} {} {}.{} {content}",
        metadata.mode(),
        metadata.nlink(),
        metadata.mtime(),
        metadata.mtime_nsec()
    ));
    if metadata.is_dir() {
        let mut names: Vec<_> = fs::read_dir(&full).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort_unstable();
        names.iter().for_each(|name| describe(workspace, &path.join(name), found));
    }
}
