//! Imports an interface that no host offers, so that nothing can instantiate it.

mod bindings {
    #![allow(
        missing_docs,
        unreachable_pub,
        clippy::all,
        clippy::undocumented_unsafe_blocks,
        clippy::allow_attributes_without_reason,
        reason = "generated code"
    )]
    wit_bindgen::generate!({
        inline: "
            package example:nowhere@1.0.0;
            interface thing {
                answer: func() -> u32;
            }
            world wrong-import {
                import thing;
            }
        ",
    });
}

fn main() {
    println!("{}", bindings::example::nowhere::thing::answer());
}
