//! The `wayhop` command.

fn main() -> std::process::ExitCode {
    wayhop_core::version::set(env!("WAYHOP_VERSION"));
    wayhop_cli::main()
}
