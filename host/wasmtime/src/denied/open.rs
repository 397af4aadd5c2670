//! Opening takes more than one step.

use std::sync::Arc;

use wasmtime::component::Resource;
use wasmtime_wasi::filesystem::Descriptor;
use wasmtime_wasi::p2::FsResult;
use wasmtime_wasi::p2::bindings::filesystem::types::{
    DescriptorFlags, ErrorCode, HostDescriptor as _, OpenFlags, PathFlags,
};
use wasmtime_wasi::runtime::spawn_blocking;

use super::Shared;
use super::view::{DeniedPathsView, Judged, last_link};
use super::walk::{LastLink, Standing};

/// How something is to be opened.
#[derive(Debug, Clone, Copy)]
pub(super) struct Opening {
    pub(super) path_flags: PathFlags,
    pub(super) open_flags: OpenFlags,
    pub(super) flags: DescriptorFlags,
}

impl Opening {
    /// A link at the end is followed, unless a new file is wanted: then it is in the way.
    fn last_link(self) -> LastLink {
        if self.open_flags.contains(OpenFlags::CREATE | OpenFlags::EXCLUSIVE) {
            LastLink::Keep
        } else {
            last_link(self.path_flags)
        }
    }

    /// Whether it may change something. With the flag for directories, the stock implementation finds that wrong first.
    fn writes(self) -> bool {
        let Self { path_flags: _, open_flags, flags } = self;
        !open_flags.contains(OpenFlags::DIRECTORY)
            && (open_flags.contains(OpenFlags::CREATE)
                || open_flags.contains(OpenFlags::TRUNCATE)
                || flags.contains(DescriptorFlags::WRITE))
    }

    /// Takes out the order to cut the file, and asks for what it takes to do that later. Whether there was one.
    fn defer_truncation(&mut self) -> bool {
        // Directories with it: the stock implementation refuses the combination.
        if !self.open_flags.contains(OpenFlags::TRUNCATE) || self.open_flags.contains(OpenFlags::DIRECTORY) {
            return false;
        }
        self.open_flags &= !OpenFlags::TRUNCATE;
        if !self.flags.contains(DescriptorFlags::WRITE) {
            // What is not opened to write is opened to read, says the stock implementation.
            self.flags |= DescriptorFlags::READ | DescriptorFlags::WRITE;
        }
        true
    }
}

impl DeniedPathsView<'_> {
    /// Opens what a path stands for. It is judged before the guest has it, and before it is cut to length zero.
    pub(super) async fn open(
        &mut self,
        shared: &Arc<Shared>,
        descriptor: &Resource<Descriptor>,
        path: String,
        mut opening: Opening,
    ) -> FsResult<Resource<Descriptor>> {
        if opening.writes() {
            self.require_write(descriptor)?;
        }
        let judged = self.judge(shared, descriptor, path, opening.last_link()).await?;
        let truncates = opening.defer_truncation();
        let opened = match judged.standing {
            Standing::Free => self.open_judged(&judged, opening).await,
            Standing::Needed => self.open_needed(&judged, opening).await,
        };
        self.forget(judged)?;
        let opened = opened?;
        match self.accept(shared, &opened, truncates).await {
            Ok(()) => Ok(opened),
            Err(error) => {
                self.stock.table.delete(opened)?;
                Err(error)
            }
        }
    }

    async fn open_judged(&mut self, judged: &Judged, opening: Opening) -> FsResult<Resource<Descriptor>> {
        let Opening { path_flags: _, open_flags, flags } = opening;
        self.stock.open_at(judged.parent(), PathFlags::empty(), judged.name.clone(), open_flags, flags).await
    }

    /// A file in the place of a directory that a denied path leads through is not made. What is there can be opened.
    async fn open_needed(&mut self, judged: &Judged, mut opening: Opening) -> FsResult<Resource<Descriptor>> {
        if !opening.open_flags.contains(OpenFlags::CREATE) {
            return self.open_judged(judged, opening).await;
        }
        if opening.open_flags.contains(OpenFlags::EXCLUSIVE) {
            return Err(ErrorCode::Access.into());
        }
        opening.open_flags &= !OpenFlags::CREATE;
        match self.open_judged(judged, opening).await {
            Err(error) if matches!(error.downcast_ref(), Some(ErrorCode::NoEntry)) => Err(ErrorCode::Access.into()),
            opened => opened,
        }
    }

    async fn accept(&mut self, shared: &Arc<Shared>, opened: &Resource<Descriptor>, truncates: bool) -> FsResult<()> {
        let file = self.judge_open(shared, opened).await?;
        if truncates {
            // As the kernel has it: of pipes and devices there is nothing to cut.
            spawn_blocking(move || if file.metadata()?.is_file() { file.set_len(0) } else { Ok(()) }).await?;
        }
        Ok(())
    }
}
