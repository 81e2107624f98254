//! The `wayhop` command.

fn main() -> std::process::ExitCode {
    wayhop_cli::main()
}
