//! The reference page of the command line, from its definition.

use std::fmt::Write as _;

use wayhop_trace::Status;

/// docs/reference/cli.md.
pub fn reference_markdown() -> String {
    let mut text =
        "# The command line\n\nGenerated from the definition; `cargo xtask docs` writes it. [Exit codes](exit-codes.md)\n".to_owned();
    let mut root = crate::command();
    root.build();
    page(&mut text, &mut root, "wayhop");
    text
}

/// docs/reference/exit-codes.md.
pub fn exit_codes_markdown() -> String {
    let mut text = "# Exit codes\n\nThe same for all commands; `cargo xtask docs` writes this page.\n\n\
        | code | meaning |\n|---|---|\n"
        .to_owned();
    for status in Status::ALL {
        let _ = writeln!(text, "| {} | {} |", status.code(), status.meaning());
    }
    text + "\n`emulate`, `lab` and `exec` with `-- COMMAND` end as the COMMAND does if all else is well: with its code, and with 128 \
        and the\nsignal's number if a signal ended it. Several logs of one `replay` give the worst code: 2, then 1, 3, 0. A reader \
        that goes away\n(`| head`) is no failure.\n"
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
