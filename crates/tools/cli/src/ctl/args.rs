//! Arguments of `wayhop ctl`.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::PossibleValuesParser;
use clap::{Subcommand, ValueHint};
use clap_complete::ArgValueCompleter;
use wayhop_control::{EventKind, LinkState, MAX_PATH_LOSS_DB, NodeRef, Place};

use super::complete;

pub(crate) const EXAMPLES: &str = "\
Examples:
  wayhop ctl list
  wayhop ctl --run chain --node mid routes
  wayhop ctl params active_route_timeout_ms=1000
  wayhop ctl link left right down
  wayhop ctl --node mid down --for 30s --lose-tables
  wayhop ctl watch drop note --json
  wayhop ctl --node mid capture | wireshark -k -i -
  wayhop ctl --wait --run mesh0 watch

--socket and --run are needed only if several runs or daemons are running. docs/reference/control.md describes the messages.";

#[derive(Debug, clap::Args)]
pub(crate) struct CtlArgs {
    /// Path of the control socket
    #[arg(long, global = true, value_name = "PATH", conflicts_with = "run", value_hint = ValueHint::FilePath)]
    pub(crate) socket: Option<PathBuf>,
    /// Name of the run or daemon, as in `wayhop ctl list`
    #[arg(long, global = true, value_name = "NAME", add = ArgValueCompleter::new(complete::runs))]
    pub(crate) run: Option<String>,
    /// Only this node: its number, name or address. Default: all nodes
    #[arg(long, global = true, value_name = "NODE", add = ArgValueCompleter::new(complete::nodes))]
    pub(crate) node: Option<NodeRef>,
    /// Wait for a node that is not running yet; `watch` reconnects to one that restarts
    #[arg(long, global = true)]
    pub(crate) wait: bool,
    /// Print the answer as one JSON object, and events one per line
    #[arg(long, global = true)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) what: CtlCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CtlCommand {
    /// List the runs and daemons on this machine
    List,
    /// Show which run or daemon answers, and its nodes
    Hello,
    /// Show tables of the protocol and its host
    Tables {
        /// Names of tables. Default: all
        #[arg(value_name = "TABLE", add = ArgValueCompleter::new(complete::tables))]
        tables: Vec<String>,
    },
    /// Show the routes
    Routes,
    /// Show the neighbours and the links to them
    Neighbours,
    /// Show cached routes, links and positions
    Cache,
    /// Show queued packets
    Queues,
    /// Show the counters since the start
    Counters,
    /// Show the protocol's parameters, or change them while the nodes run
    Params {
        /// Parameters to show (KEY) or change (KEY=VALUE). Default: show all
        #[arg(value_name = "KEY[=VALUE]", add = ArgValueCompleter::new(complete::parameters))]
        params: Vec<String>,
    },
    /// Delete the route to a destination, or all routes
    Purge {
        /// Address or name of the destination. Default: all
        #[arg(value_name = "DST", add = ArgValueCompleter::new(complete::nodes))]
        destination: Option<NodeRef>,
    },
    /// Show the nodes' positions, or set the position of one
    Position {
        /// New position: LAT,LON in degrees, or X,Y in metres with the unit, such as 120m,40m
        #[arg(value_name = "PLACE", value_parser = place, allow_hyphen_values = true)]
        place: Option<Place>,
        /// Course of the node, in degrees clockwise from north
        #[arg(long, value_name = "DEGREES", default_value_t = 0.0, requires = "place", value_parser = number)]
        heading: f32,
        /// Speed of the node, in metres per second
        #[arg(long, value_name = "M_PER_S", default_value_t = 0.0, requires = "place", value_parser = number)]
        speed: f32,
        /// Return to the position from the GPS receiver or the scenario
        #[arg(long, conflicts_with = "place")]
        release: bool,
    },
    /// List the overridden links of an emulation or a lab
    Links,
    /// Override a link of an emulation or a lab, or which nodes a field node with a macfilter hears
    Link {
        /// Node at one end
        #[arg(add = ArgValueCompleter::new(complete::nodes))]
        a: NodeRef,
        /// Node at the other end
        #[arg(add = ArgValueCompleter::new(complete::nodes))]
        b: NodeRef,
        /// up, down, loss=SHARE (0 to 1, in addition to the radio model), path-loss=DB (instead of it, as over attenuators), or
        /// model (no override)
        #[arg(value_parser = link_state)]
        state: LinkState,
        /// Override only the direction from A to B
        #[arg(long)]
        one_way: bool,
        /// Only on the radio or wire of this name. Default: on all that both nodes have
        #[arg(long, value_name = "NAME")]
        interface: Option<String>,
    },
    /// Take a node down, like an outage in a scenario: its radio is off and its protocol stops
    Down {
        /// Bring the node back after this time, such as 30s, 500ms or 5m. Default: when `ctl up` is run
        #[arg(long = "for", value_name = "DURATION", value_parser = duration)]
        length: Option<f64>,
        /// Clear the node's tables, like a reboot
        #[arg(long)]
        lose_tables: bool,
    },
    /// Bring back a node that is down
    Up,
    /// Print events as they happen
    Watch {
        /// Kinds of events. Default: all but packet, sent and sizes
        #[arg(value_name = "KIND", value_parser = PossibleValuesParser::new(EventKind::ALL.map(EventKind::name)))]
        kinds: Vec<String>,
    },
    /// Capture the frames of a node as pcapng on standard output: `wayhop ctl capture | wireshark -k -i -`
    Capture {
        /// Capture only on this interface. Default: all interfaces of the node
        #[arg(long, value_name = "NAME")]
        interface: Option<String>,
        /// Stop after this many frames
        #[arg(long, value_name = "FRAMES", value_parser = clap::value_parser!(u64).range(1..))]
        count: Option<u64>,
        /// Stop after this time
        #[arg(long = "for", value_name = "SECONDS", value_parser = seconds)]
        duration: Option<Duration>,
        /// Bytes to keep of each frame. Default: all
        #[arg(long, value_name = "OCTETS", value_parser = clap::value_parser!(u32).range(1..=65_535))]
        snap_length: Option<u32>,
        /// Write to this file instead of standard output
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        out: Option<PathBuf>,
    },
    /// Stop the run or the daemon, like Ctrl-C
    Quit,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().ok().filter(|s| *s > 0.0);
    seconds
        .and_then(|s| Duration::try_from_secs_f64(s).ok())
        .ok_or_else(|| "give a number of seconds above 0".to_owned())
}

fn number(text: &str) -> Result<f32, String> {
    text.parse().ok().filter(|v: &f32| v.is_finite()).ok_or_else(|| "give a number".to_owned())
}

/// A duration in seconds: a number with its unit.
fn duration(text: &str) -> Result<f64, String> {
    let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let unit_s = match unit {
        "ms" => 1e-3,
        "s" | "" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err("the unit must be ms, s, m or h".to_owned()),
    };
    let number: f64 = number.parse().map_err(|_| "give a number with a unit, such as 30s".to_owned())?;
    let seconds = number * unit_s;
    let fits = (0.001..=1e9).contains(&seconds);
    if fits { Ok(seconds) } else { Err("give a time from 1ms to 1000000000s".to_owned()) }
}

fn link_state(text: &str) -> Result<LinkState, String> {
    match text {
        "up" => Ok(LinkState::Up),
        "down" => Ok(LinkState::Down),
        "model" => Ok(LinkState::Model),
        _ => {
            let number = |name: &str, most: f64| {
                let number: f64 = text.strip_prefix(name)?.parse().ok()?;
                (0.0..=most).contains(&number).then_some(number)
            };
            let loss = number("loss=", 1.0).map(LinkState::Loss);
            loss.or_else(|| number("path-loss=", MAX_PATH_LOSS_DB).map(LinkState::PathLoss)).ok_or_else(|| {
                "give up, down, model, loss=SHARE with a share from 0 to 1, or path-loss=DB with 0 to 300 dB"
                    .to_owned()
            })
        }
    }
}

fn place(text: &str) -> Result<Place, String> {
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    let metres = |p: &str| p.strip_suffix('m').and_then(|p| p.parse::<f64>().ok());
    let place = match parts[..] {
        [a, b] if a.ends_with('m') => metres(a).zip(metres(b)).map(|(x, y)| Place::Local { x, y, z: 0.0 }),
        [a, b, c] => metres(a).zip(metres(b)).zip(metres(c)).map(|((x, y), z)| Place::Local { x, y, z }),
        [a, b] => a.parse().ok().zip(b.parse().ok()).map(|(latitude_deg, longitude_deg)| Place::Earth {
            latitude_deg,
            longitude_deg,
            heading_deg: 0.0,
            speed_m_per_s: 0.0,
        }),
        _ => None,
    };
    let place =
        place.ok_or("give LAT,LON in degrees, such as 40.44,-79.94, or X,Y in metres, such as 120m,40m")?;
    place.check().map_err(|e| e.to_string())?;
    Ok(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_told_apart_by_their_unit() {
        let earth = |latitude_deg, longitude_deg| Place::Earth {
            latitude_deg,
            longitude_deg,
            heading_deg: 0.0,
            speed_m_per_s: 0.0,
        };
        assert_eq!(place("40.44,-79.94"), Ok(earth(40.44, -79.94)));
        assert_eq!(place("-33, 151"), Ok(earth(-33.0, 151.0)));
        assert_eq!(place("120m,40.5m"), Ok(Place::Local { x: 120.0, y: 40.5, z: 0.0 }));
        assert_eq!(place("-1m,2m,3m"), Ok(Place::Local { x: -1.0, y: 2.0, z: 3.0 }));
        for bad in ["", "1", "1,2,3", "91,0", "0,181", "1m,2", "nan,1", "infm,1m", "a,b"] {
            assert!(place(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn durations_have_a_unit() {
        for (text, seconds) in [("30s", 30.0), ("500ms", 0.5), ("2m", 120.0), ("1.5h", 5400.0), ("7", 7.0)] {
            assert_eq!(duration(text), Ok(seconds), "{text}");
        }
        for bad in ["", "s", "0s", "-1s", "1d", "nan", "inf", "1e99h", "0.1ms"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_share_of_loss_is_from_0_to_1() {
        assert_eq!(link_state("loss=0.25"), Ok(LinkState::Loss(0.25)));
        assert_eq!(link_state("model"), Ok(LinkState::Model));
        assert_eq!(link_state("path-loss=92.5"), Ok(LinkState::PathLoss(92.5)));
        for bad in ["loss", "loss=", "loss=1.1", "loss=-0.1", "loss=nan", "Up", "path-loss=301", "path-loss="]
        {
            assert!(link_state(bad).is_err(), "{bad}");
        }
    }
}
