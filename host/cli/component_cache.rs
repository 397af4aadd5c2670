//! The user's cache of compiled components.

use portcullis_policy::{Level, visible};
use portcullis_wasmtime::{ComponentCache, ToolEngine};

use crate::failure::in_one_line;
use crate::output::Voice;
use crate::state;

/// Gives the engine the cache in the user's cache directory, if commands are kept from it: the policy's level says what
/// all of them are held to. Without a cache everything runs all the same; `-v` says why there is none.
pub(crate) fn attach(engine: ToolEngine, level: Level, voice: Voice) -> ToolEngine {
    let opened = match state::cache_directory() {
        Ok(directory) => ComponentCache::open(&directory.join("components"), level)
            .map_err(|error| in_one_line(anyhow::Chain::new(&error))),
        Err(failure) => Err(failure.text()),
    };
    match opened {
        Ok(cache) => {
            voice.tell(&format!("cache {}", visible(&cache.directory().to_string_lossy())));
            engine.cache(cache)
        }
        Err(why) => {
            voice.tell(&format!("no cache: {why}"));
            engine
        }
    }
}
