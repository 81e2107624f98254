//! The reference page of the command line, from its definition.

use std::fmt::Write as _;

/// docs/reference/cli.md.
pub fn reference_markdown() -> String {
    let mut text =
        "# The command line\n\nGenerated from the definition; `cargo xtask docs` writes it.\n".to_owned();
    let mut root = crate::command();
    root.build();
    page(&mut text, &mut root, "wayhop");
    text
}

fn page(text: &mut String, command: &mut clap::Command, path: &str) {
    // A fixed width: the page must not depend on the terminal of whoever makes it.
    let help = command.clone().term_width(100).render_long_help();
    let _ = write!(text, "\n## `{path}`\n\n```text\n{}\n```\n", help.to_string().trim_end());
    let names: Vec<String> = command.get_subcommands().map(|c| c.get_name().to_owned()).collect();
    for name in names.iter().filter(|n| *n != "help") {
        if let Some(sub) = command.find_subcommand_mut(name) {
            page(text, sub, &format!("{path} {name}"));
        }
    }
}
