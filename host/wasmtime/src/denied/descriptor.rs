//! The methods of `wasi:filesystem/types`: those that take a path are judged, the others are the stock ones.

use wasmtime::component::Resource;
use wasmtime_wasi::p2::bindings::filesystem::types::{
    Advice, Descriptor, DescriptorFlags, DescriptorStat, DescriptorType, DirectoryEntry, DirectoryEntryStream,
    ErrorCode, Filesize, Host, HostDescriptor, HostDirectoryEntryStream, MetadataHashValue, NewTimestamp, OpenFlags,
    PathFlags,
};
use wasmtime_wasi::p2::{DynInputStream, DynOutputStream, FsError, FsResult};

use super::open::Opening;
use super::view::{DeniedPathsView, last_link};
use super::walk::LastLink;

/// The stock implementation gets names whose links were followed already.
fn keep() -> PathFlags {
    PathFlags::empty()
}

impl Host for DeniedPathsView<'_> {
    fn convert_error_code(&mut self, error: FsError) -> wasmtime::Result<ErrorCode> {
        self.stock.convert_error_code(error)
    }

    fn filesystem_error_code(&mut self, error: Resource<wasmtime::Error>) -> wasmtime::Result<Option<ErrorCode>> {
        self.stock.filesystem_error_code(error)
    }
}

impl HostDescriptor for DeniedPathsView<'_> {
    async fn open_at(
        &mut self,
        fd: Resource<Descriptor>,
        path_flags: PathFlags,
        path: String,
        open_flags: OpenFlags,
        flags: DescriptorFlags,
    ) -> FsResult<Resource<Descriptor>> {
        match self.shared() {
            None => self.stock.open_at(fd, path_flags, path, open_flags, flags).await,
            Some(shared) => self.open(&shared, &fd, path, Opening { path_flags, open_flags, flags }).await,
        }
    }

    async fn stat_at(
        &mut self,
        fd: Resource<Descriptor>,
        path_flags: PathFlags,
        path: String,
    ) -> FsResult<DescriptorStat> {
        let Some(shared) = self.shared() else { return self.stock.stat_at(fd, path_flags, path).await };
        let judged = self.judge(&shared, &fd, path, last_link(path_flags)).await?;
        let result = self.stock.stat_at(judged.parent(), keep(), judged.name.clone()).await;
        self.forget(judged)?;
        result
    }

    async fn metadata_hash_at(
        &mut self,
        fd: Resource<Descriptor>,
        path_flags: PathFlags,
        path: String,
    ) -> FsResult<MetadataHashValue> {
        let Some(shared) = self.shared() else { return self.stock.metadata_hash_at(fd, path_flags, path).await };
        let judged = self.judge(&shared, &fd, path, last_link(path_flags)).await?;
        let result = self.stock.metadata_hash_at(judged.parent(), keep(), judged.name.clone()).await;
        self.forget(judged)?;
        result
    }

    async fn set_times_at(
        &mut self,
        fd: Resource<Descriptor>,
        path_flags: PathFlags,
        path: String,
        accessed: NewTimestamp,
        modified: NewTimestamp,
    ) -> FsResult<()> {
        let Some(shared) = self.shared() else {
            return self.stock.set_times_at(fd, path_flags, path, accessed, modified).await;
        };
        self.require_write(&fd)?;
        let judged = self.judge(&shared, &fd, path, last_link(path_flags)).await?;
        let result = self.stock.set_times_at(judged.parent(), keep(), judged.name.clone(), accessed, modified).await;
        self.forget(judged)?;
        result
    }

    async fn readlink_at(&mut self, fd: Resource<Descriptor>, path: String) -> FsResult<String> {
        let Some(shared) = self.shared() else { return self.stock.readlink_at(fd, path).await };
        let judged = self.judge(&shared, &fd, path, LastLink::Keep).await?;
        let result = self.stock.readlink_at(judged.parent(), judged.name.clone()).await;
        self.forget(judged)?;
        result
    }

    async fn create_directory_at(&mut self, fd: Resource<Descriptor>, path: String) -> FsResult<()> {
        let Some(shared) = self.shared() else { return self.stock.create_directory_at(fd, path).await };
        self.require_write(&fd)?;
        // An empty directory above a denied path makes nothing appear there.
        let judged = self.judge(&shared, &fd, without_slash(&path), LastLink::Keep).await?;
        let result = self.stock.create_directory_at(judged.parent(), judged.name.clone()).await;
        self.forget(judged)?;
        result
    }

    async fn symlink_at(&mut self, fd: Resource<Descriptor>, target: String, path: String) -> FsResult<()> {
        let Some(shared) = self.shared() else { return self.stock.symlink_at(fd, target, path).await };
        let judged = self.judge_to_fill(&shared, &fd, path).await?;
        let result = match self.judge_target(&shared, &judged, &target).await {
            Ok(()) => self.stock.symlink_at(judged.parent(), target, judged.name.clone()).await,
            Err(denied) => Err(denied),
        };
        self.forget(judged)?;
        result
    }

    async fn link_at(
        &mut self,
        fd: Resource<Descriptor>,
        old_flags: PathFlags,
        old_path: String,
        new_fd: Resource<Descriptor>,
        new_path: String,
    ) -> FsResult<()> {
        let Some(shared) = self.shared() else {
            return self.stock.link_at(fd, old_flags, old_path, new_fd, new_path).await;
        };
        // With `symlink-follow` the stock implementation refuses.
        let old = self.judge(&shared, &fd, old_path, LastLink::Keep).await?;
        let result = match self.judge_to_fill(&shared, &new_fd, new_path).await {
            Ok(new) => {
                let names = (old.name.clone(), new.name.clone());
                let result = self.stock.link_at(old.parent(), old_flags, names.0, new.parent(), names.1).await;
                self.forget(new)?;
                result
            }
            Err(error) => Err(error),
        };
        self.forget(old)?;
        result
    }

    async fn rename_at(
        &mut self,
        fd: Resource<Descriptor>,
        old_path: String,
        new_fd: Resource<Descriptor>,
        new_path: String,
    ) -> FsResult<()> {
        let Some(shared) = self.shared() else {
            return self.stock.rename_at(fd, old_path, new_fd, new_path).await;
        };
        // A slash at the end of either wants a directory, and follows no link.
        let slash = if old_path.ends_with('/') || new_path.ends_with('/') { "/" } else { "" };
        let old = self.judge_to_remove(&shared, &fd, without_slash(&old_path)).await?;
        let result = match self.judge_to_fill(&shared, &new_fd, without_slash(&new_path)).await {
            Ok(new) => {
                let names = (format!("{}{slash}", old.name), new.name.clone());
                let result = self.stock.rename_at(old.parent(), names.0, new.parent(), names.1).await;
                self.forget(new)?;
                result
            }
            Err(error) => Err(error),
        };
        self.forget(old)?;
        result
    }

    async fn unlink_file_at(&mut self, fd: Resource<Descriptor>, path: String) -> FsResult<()> {
        let Some(shared) = self.shared() else { return self.stock.unlink_file_at(fd, path).await };
        let judged = self.judge_to_remove(&shared, &fd, path).await?;
        let result = self.stock.unlink_file_at(judged.parent(), judged.name.clone()).await;
        self.forget(judged)?;
        result
    }

    async fn remove_directory_at(&mut self, fd: Resource<Descriptor>, path: String) -> FsResult<()> {
        let Some(shared) = self.shared() else { return self.stock.remove_directory_at(fd, path).await };
        let judged = self.judge_to_remove(&shared, &fd, path).await?;
        let result = self.stock.remove_directory_at(judged.parent(), judged.name.clone()).await;
        self.forget(judged)?;
        result
    }

    /// Denied names are listed, as commands see them too. A directory that lies in a denied place by now is not.
    async fn read_directory(&mut self, fd: Resource<Descriptor>) -> FsResult<Resource<DirectoryEntryStream>> {
        if let Some(shared) = self.shared() {
            self.judge_open(&shared, &fd).await?;
        }
        self.stock.read_directory(fd).await
    }

    async fn advise(&mut self, fd: Resource<Descriptor>, at: Filesize, len: Filesize, advice: Advice) -> FsResult<()> {
        self.stock.advise(fd, at, len, advice).await
    }

    async fn sync_data(&mut self, fd: Resource<Descriptor>) -> FsResult<()> {
        self.stock.sync_data(fd).await
    }

    async fn get_flags(&mut self, fd: Resource<Descriptor>) -> FsResult<DescriptorFlags> {
        self.stock.get_flags(fd).await
    }

    async fn get_type(&mut self, fd: Resource<Descriptor>) -> FsResult<DescriptorType> {
        self.stock.get_type(fd).await
    }

    async fn set_size(&mut self, fd: Resource<Descriptor>, size: Filesize) -> FsResult<()> {
        self.stock.set_size(fd, size).await
    }

    async fn set_times(
        &mut self,
        fd: Resource<Descriptor>,
        accessed: NewTimestamp,
        modified: NewTimestamp,
    ) -> FsResult<()> {
        self.stock.set_times(fd, accessed, modified).await
    }

    async fn read(&mut self, fd: Resource<Descriptor>, len: Filesize, at: Filesize) -> FsResult<(Vec<u8>, bool)> {
        self.stock.read(fd, len, at).await
    }

    async fn write(&mut self, fd: Resource<Descriptor>, bytes: Vec<u8>, at: Filesize) -> FsResult<Filesize> {
        self.stock.write(fd, bytes, at).await
    }

    async fn sync(&mut self, fd: Resource<Descriptor>) -> FsResult<()> {
        self.stock.sync(fd).await
    }

    async fn stat(&mut self, fd: Resource<Descriptor>) -> FsResult<DescriptorStat> {
        self.stock.stat(fd).await
    }

    fn drop(&mut self, fd: Resource<Descriptor>) -> wasmtime::Result<()> {
        HostDescriptor::drop(&mut self.stock, fd)
    }

    fn read_via_stream(&mut self, fd: Resource<Descriptor>, at: Filesize) -> FsResult<Resource<DynInputStream>> {
        self.stock.read_via_stream(fd, at)
    }

    fn write_via_stream(&mut self, fd: Resource<Descriptor>, at: Filesize) -> FsResult<Resource<DynOutputStream>> {
        self.stock.write_via_stream(fd, at)
    }

    fn append_via_stream(&mut self, fd: Resource<Descriptor>) -> FsResult<Resource<DynOutputStream>> {
        self.stock.append_via_stream(fd)
    }

    async fn is_same_object(&mut self, a: Resource<Descriptor>, b: Resource<Descriptor>) -> wasmtime::Result<bool> {
        self.stock.is_same_object(a, b).await
    }

    async fn metadata_hash(&mut self, fd: Resource<Descriptor>) -> FsResult<MetadataHashValue> {
        self.stock.metadata_hash(fd).await
    }
}

impl HostDirectoryEntryStream for DeniedPathsView<'_> {
    async fn read_directory_entry(
        &mut self,
        stream: Resource<DirectoryEntryStream>,
    ) -> FsResult<Option<DirectoryEntry>> {
        self.stock.read_directory_entry(stream).await
    }

    fn drop(&mut self, stream: Resource<DirectoryEntryStream>) -> wasmtime::Result<()> {
        HostDirectoryEntryStream::drop(&mut self.stock, stream)
    }
}

/// A path without slashes at its end, where they don't mean that a link is followed.
fn without_slash(path: &str) -> String {
    match path.trim_end_matches('/') {
        "" => path.to_owned(),
        stripped => stripped.to_owned(),
    }
}
