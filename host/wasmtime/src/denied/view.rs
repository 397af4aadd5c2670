//! The view that calls go through.

use std::fs::File;
use std::sync::Arc;

use wasmtime::component::{HasData, Resource};
use wasmtime_wasi::filesystem::{Descriptor, Dir, WasiFilesystemCtxView};
use wasmtime_wasi::p2::FsResult;
use wasmtime_wasi::p2::bindings::filesystem::types::{ErrorCode, PathFlags};
use wasmtime_wasi::runtime::spawn_blocking;

use super::walk::{self, Found, LastLink, Standing};
use super::{DeniedPaths, Shared};

/// The stock implementation's view, and what is denied.
pub(crate) struct DeniedPathsView<'a> {
    pub(super) stock: WasiFilesystemCtxView<'a>,
    /// None: all calls go to the stock implementation.
    shared: Option<Arc<Shared>>,
}

/// Says that [`DeniedPathsView`] is what calls get.
pub(crate) struct DeniedPathsData;

impl HasData for DeniedPathsData {
    type Data<'a> = DeniedPathsView<'a>;
}

/// A place that was judged, in the form that the stock implementation takes.
pub(super) struct Judged {
    /// The directory, in the table. [`DeniedPathsView::forget`] takes it out.
    pub(super) parent: Resource<Descriptor>,
    /// One name, or `.`.
    pub(super) name: String,
    pub(super) standing: Standing,
}

impl Judged {
    /// The directory, to be handed to the stock implementation.
    pub(super) fn parent(&self) -> Resource<Descriptor> {
        Resource::new_borrow(self.parent.rep())
    }
}

impl<'a> DeniedPathsView<'a> {
    pub(crate) fn new(stock: WasiFilesystemCtxView<'a>, denied: DeniedPaths) -> Self {
        Self { stock, shared: denied.shared }
    }

    /// What is denied; none where the stock implementation does all.
    pub(super) fn shared(&self) -> Option<Arc<Shared>> {
        self.shared.clone()
    }

    /// Finds the place that a path stands for. The guest's permissions go with it.
    pub(super) async fn judge(
        &mut self,
        shared: &Arc<Shared>,
        descriptor: &Resource<Descriptor>,
        path: String,
        last: LastLink,
    ) -> FsResult<Judged> {
        let (directory, perms, open_mode) = match self.stock.table.get(descriptor)? {
            Descriptor::Dir(Dir { dir, perms, open_mode, .. }) => (Arc::clone(dir), *perms, *open_mode),
            Descriptor::File(_) => return Err(ErrorCode::NotDirectory.into()),
        };
        let shared = Arc::clone(shared);
        let found = spawn_blocking(move || walk::find(&shared, &directory, &path, last)).await?;
        let Found { parent, name, standing } = found;
        let parent = self.stock.table.push(Descriptor::Dir(Dir::new(parent, perms, open_mode, false)))?;
        Ok(Judged { parent, name, standing })
    }

    /// A guest that may not write is told so before anything is looked up, as by the stock implementation.
    pub(super) fn require_write(&self, descriptor: &Resource<Descriptor>) -> FsResult<()> {
        match self.stock.table.get(descriptor)? {
            Descriptor::Dir(directory) if directory.perms.write_not_permitted() => Err(ErrorCode::NotPermitted.into()),
            Descriptor::Dir(_) | Descriptor::File(_) => Ok(()),
        }
    }

    /// As [`judge`](Self::judge), of a place where something is to be made that is no directory, or put.
    pub(super) async fn judge_to_fill(
        &mut self,
        shared: &Arc<Shared>,
        descriptor: &Resource<Descriptor>,
        path: String,
    ) -> FsResult<Judged> {
        self.judge_as_free(shared, descriptor, path, ErrorCode::Access).await
    }

    /// As [`judge`](Self::judge), of something that is to be taken away.
    pub(super) async fn judge_to_remove(
        &mut self,
        shared: &Arc<Shared>,
        descriptor: &Resource<Descriptor>,
        path: String,
    ) -> FsResult<Judged> {
        self.judge_as_free(shared, descriptor, path, ErrorCode::Busy).await
    }

    async fn judge_as_free(
        &mut self,
        shared: &Arc<Shared>,
        descriptor: &Resource<Descriptor>,
        path: String,
        needed: ErrorCode,
    ) -> FsResult<Judged> {
        self.require_write(descriptor)?;
        let judged = self.judge(shared, descriptor, path, LastLink::Keep).await?;
        match judged.standing {
            Standing::Free => Ok(judged),
            Standing::Needed => {
                self.forget(judged)?;
                Err(needed.into())
            }
        }
    }

    /// A link is not made if it leads to a denied place now. Where it leads later is judged when it is used.
    pub(super) async fn judge_target(&mut self, shared: &Arc<Shared>, link: &Judged, target: &str) -> FsResult<()> {
        let directory = self.file(&link.parent)?;
        let (shared, target) = (Arc::clone(shared), target.to_owned());
        Ok(spawn_blocking(move || walk::judge_target(&shared, &directory, &target)).await?)
    }

    /// Takes a judged directory out of the table.
    pub(super) fn forget(&mut self, judged: Judged) -> FsResult<()> {
        self.stock.table.delete(judged.parent)?;
        Ok(())
    }

    /// Judges what a descriptor has open, where it is by now.
    pub(super) async fn judge_open(
        &mut self,
        shared: &Arc<Shared>,
        descriptor: &Resource<Descriptor>,
    ) -> FsResult<Arc<File>> {
        let file = self.file(descriptor)?;
        let (shared, judged) = (Arc::clone(shared), Arc::clone(&file));
        spawn_blocking(move || walk::judge(&shared, &judged)).await?;
        Ok(file)
    }

    fn file(&self, descriptor: &Resource<Descriptor>) -> FsResult<Arc<File>> {
        Ok(match self.stock.table.get(descriptor)? {
            Descriptor::Dir(directory) => Arc::clone(&directory.dir),
            Descriptor::File(file) => Arc::clone(&file.file),
        })
    }
}

/// What becomes of a link at a path's end, by a call's flags.
pub(super) fn last_link(flags: PathFlags) -> LastLink {
    if flags.contains(PathFlags::SYMLINK_FOLLOW) { LastLink::Follow } else { LastLink::Keep }
}
