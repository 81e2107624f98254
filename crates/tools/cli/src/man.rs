//! `wayhop man`.

use std::fs;
use std::path::Path;

use crate::failure::Failure;

/// Writes a page for the command and each of its subcommands.
pub(crate) fn man(dir: &Path) -> Result<(), Failure> {
    fs::create_dir_all(dir).map_err(Failure::write(dir))?;
    let mut root = without_help(crate::command());
    root.build();
    pages(&root, dir)?;
    Ok(())
}

/// The `help` subcommands need no pages.
fn without_help(command: clap::Command) -> clap::Command {
    command.disable_help_subcommand(true).mut_subcommands(without_help)
}

fn pages(command: &clap::Command, dir: &Path) -> Result<(), Failure> {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned();
    command.get_subcommands().filter(|c| !c.is_hide_set()).try_for_each(|c| pages(c, dir))?;
    let path = dir.join(format!("{name}.1"));
    let mut page = Vec::new();
    let made = clap_mangen::Man::new(command.clone()).title(name).manual("Wayhop");
    made.render(&mut page).map_err(Failure::write(&path))?;
    fs::write(&path, page).map_err(Failure::write(&path))
}
