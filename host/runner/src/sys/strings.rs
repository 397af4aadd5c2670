//! Lists of strings as `execve(2)` takes them.

use std::ffi::{CString, NulError, c_char};
use std::ptr;

/// Strings for `execve(2)`: each ends in NUL, and a null pointer ends the list.
#[derive(Debug)]
pub(crate) struct Strings {
    /// Keeps what the pointers lead to.
    _owned: Vec<CString>,
    pointers: Vec<*const c_char>,
}

// SAFETY: the pointers lead to the strings beside them, which nobody changes.
unsafe impl Send for Strings {}
// SAFETY: as above; they are only read.
unsafe impl Sync for Strings {}

impl Strings {
    /// Fails for a string that contains NUL.
    pub(crate) fn new<I: IntoIterator<Item: Into<Vec<u8>>>>(strings: I) -> Result<Self, NulError> {
        let owned = strings.into_iter().map(CString::new).collect::<Result<Vec<_>, _>>()?;
        let pointers = owned.iter().map(|string| string.as_ptr()).chain([ptr::null()]).collect();
        Ok(Self { _owned: owned, pointers })
    }

    pub(super) fn as_ptr(&self) -> *const *const c_char {
        self.pointers.as_ptr()
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::CStr;

    use proptest::prelude::*;

    use super::*;

    impl Strings {
        fn seen(&self) -> Vec<&CStr> {
            assert_eq!(self.pointers.last(), Some(&ptr::null()));
            let strings = self.pointers.iter().filter(|pointer| !pointer.is_null());
            // SAFETY: each leads to a string that `_owned` keeps.
            strings.map(|&pointer| unsafe { CStr::from_ptr(pointer) }).collect()
        }
    }

    proptest! {
        #[test]
        fn strings_reach_the_kernel_as_they_are_or_are_refused(strings: Vec<Vec<u8>>) {
            match Strings::new(strings.clone()) {
                Ok(made) => {
                    let seen: Vec<Vec<u8>> = made.seen().into_iter().map(|string| string.to_bytes().to_vec()).collect();
                    prop_assert_eq!(seen, strings);
                }
                Err(_) => prop_assert!(strings.iter().any(|string| string.contains(&0))),
            }
        }
    }
}
