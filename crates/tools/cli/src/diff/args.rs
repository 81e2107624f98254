//! The arguments of `wayhop diff`.

use std::path::PathBuf;

use crate::scenario_args::seconds;

/// Examples for the help.
pub(crate) const EXAMPLES: &str = "\
Example:
  wayhop run scenarios/chain.toml --captures --out runs/chain
  wayhop diff runs/chain/captures/left.pcapng runs/chain/captures/1.pcapng --positions runs/chain";

#[derive(Debug, clap::Args)]
pub(crate) struct DiffArgs {
    /// Capture of the sending node (pcap or pcapng)
    pub(crate) sent: PathBuf,
    /// Capture of the receiving node
    pub(crate) heard: PathBuf,
    /// MAC (02:00:00:00:00:01) or IP address of the sender, if its capture does not mark outgoing frames
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) sender: Option<String>,
    /// Length of the windows in which losses are counted, in seconds
    #[arg(long, value_name = "S", value_parser = seconds, default_value = "5", allow_negative_numbers = true)]
    pub(crate) window: f64,
    /// Share of all losses above which a window belongs to a burst, 0 to 100 %
    #[arg(long, value_name = "PERCENT", value_parser = percent, default_value = "1", allow_negative_numbers = true)]
    pub(crate) threshold: f64,
    /// Run directory of both nodes, for their positions; the captures must have the nodes' names, as in a run
    #[arg(long, value_name = "RUN")]
    pub(crate) positions: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

fn percent(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(p) if (0.0..=100.0).contains(&p) => Ok(p),
        _ => Err("give a number from 0 to 100".to_owned()),
    }
}
