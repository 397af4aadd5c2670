//! What a guest may grow to, over all its core instances together.

use wasmtime::ResourceLimiter;

/// Most core instances of one component instance. Python components have about 30.
pub const MAX_INSTANCES: usize = 1000;
/// Most linear memories.
pub const MAX_MEMORIES: usize = 100;
/// Most tables.
pub const MAX_TABLES: usize = 1000;
/// Most table elements in all tables together; each costs the host 8 bytes.
pub const MAX_TABLE_ELEMENTS: usize = 1 << 20;

/// Counts memory and table elements over the whole store, since a component can have many of both.
#[derive(Debug)]
pub(crate) struct Limiter {
    memory: Share,
    elements: Share,
}

#[derive(Debug)]
struct Share {
    used: usize,
    most: usize,
}

impl Limiter {
    /// A limiter of this many bytes of linear memory.
    pub(crate) fn new(memory: u64) -> Self {
        let most = usize::try_from(memory).unwrap_or(usize::MAX);
        Self { memory: Share { used: 0, most }, elements: Share { used: 0, most: MAX_TABLE_ELEMENTS } }
    }
}

impl Share {
    /// Growth that the engine then fails to carry out stays counted: a guest that hits the host's own limits gets
    /// less, never more.
    fn grow(&mut self, current: usize, desired: usize) -> bool {
        let used = self.used.saturating_add(desired.saturating_sub(current));
        let fits = used <= self.most;
        if fits {
            self.used = used;
        }
        fits
    }
}

impl ResourceLimiter for Limiter {
    fn memory_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        Ok(maximum.is_none_or(|maximum| desired <= maximum) && self.memory.grow(current, desired))
    }

    fn table_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        Ok(maximum.is_none_or(|maximum| desired <= maximum) && self.elements.grow(current, desired))
    }

    fn instances(&self) -> usize {
        MAX_INSTANCES
    }

    fn memories(&self) -> usize {
        MAX_MEMORIES
    }

    fn tables(&self) -> usize {
        MAX_TABLES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memories_share_one_ceiling() {
        let mut limiter = Limiter::new(100);
        assert!(limiter.memory_growing(0, 60, None).unwrap());
        assert!(!limiter.memory_growing(0, 60, None).unwrap());
        assert!(limiter.memory_growing(0, 40, None).unwrap());
        assert!(!limiter.memory_growing(60, 61, None).unwrap());
        assert!(!limiter.table_growing(0, MAX_TABLE_ELEMENTS + 1, None).unwrap());
    }
}
