//! Completions and manual pages, from the command line's own definition.

use std::io;
use std::path::Path;

use clap::CommandFactory as _;
use portcullis_policy::Code;

use crate::args::Arguments;
use crate::failure::Failure;
use crate::output;

pub(crate) fn completions(shell: clap_complete::Shell) -> Result<u8, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "portcullis", &mut script);
    output::print(|out| out.write_all(&script))?;
    Ok(0)
}

pub(crate) fn man(directory: Option<&Path>) -> Result<u8, Failure> {
    let command = Arguments::command();
    match directory {
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(command).render(&mut page).map_err(|error| failed(error, "make the manual page"))?;
            output::print(|out| out.write_all(&page))?;
        }
        Some(directory) => {
            let write = || -> io::Result<()> {
                std::fs::create_dir_all(directory)?;
                clap_mangen::generate_to(command, directory)
            };
            write().map_err(|error| failed(error, &format!("write manual pages into {}", directory.display())))?;
        }
    }
    Ok(0)
}

fn failed(error: io::Error, what: &str) -> Failure {
    Failure::new(Code::Internal, anyhow::Error::new(error).context(format!("can't {what}")))
}
