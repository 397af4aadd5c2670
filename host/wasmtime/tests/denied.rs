//! Denied paths and a guest that uses the workspace call by call.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on panics")]

#[path = "denied/attacks.rs"]
mod attacks;
#[path = "denied/guest.rs"]
mod guest;
#[path = "denied/ordinary.rs"]
mod ordinary;
#[path = "denied/races.rs"]
mod races;
mod support;
