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

Without --socket and --run the one run that goes on is meant. docs/reference/control.md describes the messages.";

#[derive(Debug, clap::Args)]
pub(crate) struct CtlArgs {
    /// The control socket
    #[arg(long, global = true, value_name = "PATH", conflicts_with = "run", value_hint = ValueHint::FilePath)]
    pub(crate) socket: Option<PathBuf>,
    /// The run or daemon of this name; `wayhop ctl list` shows them
    #[arg(long, global = true, value_name = "NAME", add = ArgValueCompleter::new(complete::runs))]
    pub(crate) run: Option<String>,
    /// One node, by number, name or address; without it, all
    #[arg(long, global = true, value_name = "NODE", add = ArgValueCompleter::new(complete::nodes))]
    pub(crate) node: Option<NodeRef>,
    /// Wait for a node that does not run yet; `watch` goes on when one that ended is back
    #[arg(long, global = true)]
    pub(crate) wait: bool,
    /// Print the answer as one JSON object; events one a line
    #[arg(long, global = true)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) what: CtlCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CtlCommand {
    /// The runs and daemons that go on here
    List,
    /// Who answers, and its nodes
    Hello,
    /// Tables of the protocol and its host
    Tables {
        /// Names of tables; without them, all
        #[arg(value_name = "TABLE", add = ArgValueCompleter::new(complete::tables))]
        tables: Vec<String>,
    },
    /// Routes, however the protocol keeps them
    Routes,
    /// Neighbours, and what is known of the links to them
    Neighbours,
    /// What is cached of the network
    Cache,
    /// Packets that wait
    Queues,
    /// Counts since the start
    Counters,
    /// Parameters of the protocol: shows them, or changes them while the nodes run
    Params {
        /// Those to show, or to change: KEY or KEY=VALUE
        #[arg(value_name = "KEY[=VALUE]", add = ArgValueCompleter::new(complete::parameters))]
        params: Vec<String>,
    },
    /// Forget the route to a destination, or all routes
    Purge {
        /// Its address or name; without it, all
        #[arg(value_name = "DST", add = ArgValueCompleter::new(complete::nodes))]
        destination: Option<NodeRef>,
    },
    /// Where nodes are; or tells one where it is
    Position {
        /// Where it is from now on: LAT,LON in degrees, or X,Y in metres with their unit, as in 120m,40m
        #[arg(value_name = "PLACE", value_parser = place, allow_hyphen_values = true)]
        place: Option<Place>,
        /// Its course, degrees clockwise from north
        #[arg(long, value_name = "DEGREES", default_value_t = 0.0, requires = "place", value_parser = number)]
        heading: f32,
        /// Its speed, metres per second
        #[arg(long, value_name = "M_PER_S", default_value_t = 0.0, requires = "place", value_parser = number)]
        speed: f32,
        /// Give its place back to its GPS receiver or to the scenario
        #[arg(long, conflicts_with = "place")]
        release: bool,
    },
    /// The links of an emulation or a lab that are overridden
    Links,
    /// Override a link of an emulation or a lab; of a field node with a macfilter, whom it hears
    Link {
        /// One end
        #[arg(add = ArgValueCompleter::new(complete::nodes))]
        a: NodeRef,
        /// The other
        #[arg(add = ArgValueCompleter::new(complete::nodes))]
        b: NodeRef,
        /// up; down; loss=SHARE, from 0 to 1, on top of the radio model; path-loss=DB in place of it, as over attenuators;
        /// model for no override
        #[arg(value_parser = link_state)]
        state: LinkState,
        /// Only what A sends to B
        #[arg(long)]
        one_way: bool,
        /// Only on the radio or wire of this name; without it, on all that both have
        #[arg(long, value_name = "NAME")]
        interface: Option<String>,
    },
    /// Take a node down, as an outage of a scenario does: its radio is off, and its protocol stands still
    Down {
        /// Bring it back after this time: 30s, 500ms, 5m; without it, `ctl up` does
        #[arg(long = "for", value_name = "DURATION", value_parser = duration)]
        length: Option<f64>,
        /// It comes back without its tables, as after a reboot
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
        /// Only those of this interface; without it, of all that the node has
        #[arg(long, value_name = "NAME")]
        interface: Option<String>,
        /// End after this many frames
        #[arg(long, value_name = "FRAMES", value_parser = clap::value_parser!(u64).range(1..))]
        count: Option<u64>,
        /// End after this time
        #[arg(long = "for", value_name = "SECONDS", value_parser = seconds)]
        duration: Option<Duration>,
        /// How much of each frame to keep, octets; without it, all
        #[arg(long, value_name = "OCTETS", value_parser = clap::value_parser!(u32).range(1..=65_535))]
        snap_length: Option<u32>,
        /// Write this file in place of standard output
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        out: Option<PathBuf>,
    },
    /// End the run or the daemon in good order
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
        _ => return Err("its unit is one of: ms, s, m, h".to_owned()),
    };
    let number: f64 = number.parse().map_err(|_| "give a number with a unit, as 30s".to_owned())?;
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
                "it is one of: up, down, model, loss=SHARE with a share from 0 to 1, path-loss=DB with 0 to 300 dB"
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
    let place = place.ok_or("give LAT,LON in degrees, as 40.44,-79.94, or X,Y in metres, as 120m,40m")?;
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
