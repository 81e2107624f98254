//! `wayhop corrections`: a GNSS reference station's corrections, through the mesh.

use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::sync::atomic::Ordering;

use clap::Subcommand;
use wayhop_corrections::{Group, Rover, Source};
use wayhop_runs::interruption::stop_on_signal;

use crate::failure::{Failure, say, usage};

const SEND_EXAMPLE: &str = "\
Each datagram floods the mesh: let the station send only what receivers need, once a second. A recording is played at its original \
speed. Stops at the end of the recording, or with Ctrl-C.

Examples:
  wayhop corrections send gpsd://localhost:2947
  wayhop corrections send tcp://station.example:3000
  wayhop corrections send station.rtcm3";

const RECEIVE_EXAMPLE: &str = "\
gpsd uses the corrections as a further device and passes them to its receivers. Stop with Ctrl-C.

Examples:
  wayhop corrections receive
  gpsd -n /dev/ttyACM0 tcp://127.0.0.1:2101";

#[derive(Debug, Subcommand)]
pub(crate) enum CorrectionsCommand {
    /// Send a reference station's corrections to all nodes
    #[command(after_help = SEND_EXAMPLE)]
    Send {
        /// Source of the station's RTCM 3 frames: gpsd://HOST:PORT, tcp://HOST:PORT (such as str2str's tcpsvr), a file or serial
        /// device, or - for standard input
        #[arg(value_name = "SOURCE")]
        source: Source,
        /// Maximum number of hops, 1 to 255
        #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u8).range(1..))]
        hops: u8,
        #[command(flatten)]
        group: GroupArgs,
    },
    /// Receive corrections for this host's gpsd
    #[command(after_help = RECEIVE_EXAMPLE)]
    Receive {
        /// Address and TCP port from which gpsd reads the corrections
        #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:2101")]
        feed: SocketAddr,
        /// Accept corrections only from this node. Default: the first one heard, until it is silent for 30 s
        #[arg(long, value_name = "ADDRESS")]
        from: Option<Ipv4Addr>,
        /// Accept corrections only from the reference station with this RTCM 3 number, 0 to 4095
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(0..=4095))]
        station: Option<u16>,
        #[command(flatten)]
        group: GroupArgs,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct GroupArgs {
    /// Interface of the node for programs
    #[arg(long, value_name = "NAME", default_value = "mesh0")]
    interface: String,
    /// Multicast group and UDP port, the same on all nodes
    #[arg(long, value_name = "GROUP:PORT", default_value = "239.192.21.1:2101", value_parser = group)]
    group: SocketAddrV4,
    /// Print no progress
    #[arg(long, short)]
    quiet: bool,
}

/// A group whose packets are forwarded beyond neighbours (RFC 5771 section 4).
fn group(text: &str) -> Result<SocketAddrV4, String> {
    let at: SocketAddrV4 =
        text.parse().map_err(|_| "give an address and a port, such as 239.192.21.1:2101".to_owned())?;
    if !at.ip().is_multicast() || at.ip().octets()[..3] == [224, 0, 0] {
        return Err("give a group from 224.0.1.0 to 239.255.255.255; other addresses are not multicast, or stay on their \
                    link".to_owned());
    }
    Ok(at)
}

impl GroupArgs {
    fn group(&self, hops: u8) -> Group {
        Group { address: self.group, interface: self.interface.clone(), hops }
    }
}

pub(crate) fn corrections(command: &CorrectionsCommand) -> Result<(), Failure> {
    let stop = stop_on_signal()?;
    match command {
        CorrectionsCommand::Send { source, hops, group } => {
            let mut tell = teller(group.quiet);
            let cannot = |e| {
                Failure::Run(format!(
                    "cannot read corrections from {source}: {e}; check the address or file name"
                ))
            };
            let sent =
                wayhop_corrections::send(source, &group.group(*hops), &stop, &mut tell).map_err(cannot)?;
            say!("{} frames sent in {} datagrams, {} lost", sent.frames, sent.datagrams, sent.lost);
            if sent.frames == 0 && !stop.load(Ordering::Relaxed) {
                return Err(usage!(
                    "{source} contains no RTCM 3 frames; give the output of a reference station"
                ));
            }
        }
        CorrectionsCommand::Receive { feed, from, station, group } => {
            let rover = Rover { group: group.group(1), feed: *feed, from: *from, station: *station };
            let mut tell = teller(group.quiet);
            let cannot =
                |e| Failure::Run(format!("cannot listen on {feed}: {e}; choose another address with --feed"));
            let got = wayhop_corrections::receive(&rover, &stop, &mut tell).map_err(cannot)?;
            say!(
                "{} frames passed on from {} datagrams, {} datagrams rejected",
                got.frames,
                got.datagrams,
                got.refused
            );
        }
    }
    Ok(())
}

fn teller(quiet: bool) -> impl FnMut(&str) {
    move |line| {
        if !quiet {
            say!("{line}");
        }
    }
}
