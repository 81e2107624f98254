//! What a merger is asked for.

/// How runs are to be merged.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The node whose clock counts, by its name or its address; the first run's if there is none.
    pub reference: Option<String>,
    /// Leave nodes out that share no frame with the reference, in place of refusing.
    pub leave_apart: bool,
    /// For the manifest: the command and its arguments.
    pub command: Vec<String>,
    /// For the manifest: the wall clock, seconds since 1970.
    pub now_unix_s: u64,
    /// What the merged run is called.
    pub name: String,
}
