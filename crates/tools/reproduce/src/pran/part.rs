//! The parts of the reproduction.

use wayhop_report::Section;

/// Which experiments of the paper to run.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Figures 5 and 7 to 9.
    Demonstration,
    /// Table 1 and Figure 3.
    Forwarding,
    /// Both.
    All,
}

wayhop_core::names!(Part { Demonstration = "demonstration", Forwarding = "forwarding", All = "all", });

/// What a part has to show, and whether all of it was run.
pub(super) struct PartResults {
    pub(super) sections: Vec<Section>,
    pub(super) facts: Vec<(&'static str, String)>,
    pub(super) complete: bool,
}
