//! Generated from the WIT package.

mod generated {
    wasmtime::component::bindgen!({
        path: "wit",
        world: "portcullis:shell/imports",
        imports: {
            "portcullis:shell/shell-exec.exec": async | trappable,
            default: trappable,
        },
        require_store_data_send: true,
    });
}

pub(crate) use generated::portcullis::shell::{shell_exec, types};
