//! Uses up what the host has.

use std::hint::black_box;
use std::time::Duration;

use crate::say;

const MIB: usize = 1 << 20;

/// Computes for ever, without one call of the host.
pub(crate) fn compute() {
    say("looping");
    let mut number = 0_u64;
    loop {
        number = black_box(number.wrapping_add(1));
    }
}

/// Waits for ever, in the host.
pub(crate) fn wait() {
    say("waiting");
    loop {
        std::thread::sleep(Duration::from_nanos(u64::MAX));
    }
}

/// Allocates and touches memory until the host gives no more. Prints `allocated N MiB` every 16 MiB, so that a host
/// that ends the component leaves a trace, and `refused at N MiB` where the host only says no.
pub(crate) fn allocate() {
    let mut held: Vec<Vec<u8>> = Vec::with_capacity(4096);
    loop {
        let mut block = Vec::new();
        if held.len() == held.capacity() || block.try_reserve_exact(MIB).is_err() {
            return say(&format!("refused at {} MiB", held.len()));
        }
        block.resize(MIB, 1);
        held.push(black_box(block));
        if held.len().is_multiple_of(16) {
            say(&format!("allocated {} MiB", held.len()));
        }
    }
}
