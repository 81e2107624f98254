//! `wayhop import`.

use std::fs::{self, File};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use clap::Subcommand;
use wayhop_document::{Omissions, relative_path};
use wayhop_import::{
    FcdCoordinates, Heights, ImportedScenario, NamedText, core_xml, csv, eel, fcd, gpx, kml, nmea, pcapng,
};
use wayhop_scenario::{Movement, Protocol, Scenario, Traffic};
use wayhop_simulator_files::{BonnMotion, Columns};

use crate::failure::{Failure, harmless, put_into, say, usage, warn};
use crate::ns2_script::record;
use crate::recover;
use crate::scenario_args::ChangeArgs;

/// What every import writes, and changes to it.
#[derive(Debug, clap::Args)]
pub(crate) struct ImportedArgs {
    #[command(flatten)]
    changes: ChangeArgs,
    /// Scenario file to write; files that it refers to go beside it. Default: standard output, if it refers to none
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Reject a file if anything in it would be skipped, and list what. By default, skipped content is only counted
    #[arg(long)]
    strict: bool,
}

/// What to do with heights.
#[derive(Debug, clap::Args)]
pub(crate) struct HeightArgs {
    /// Ignore heights and put all nodes at z = 0. By default, z is the height above the first position
    #[arg(long)]
    flat: bool,
}

/// Files with the tracks of nodes.
#[derive(Debug, clap::Args)]
pub(crate) struct TrackArgs {
    /// Files recorded with the same clock
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    heights: HeightArgs,
    #[command(flatten)]
    to: ImportedArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ImportArgs {
    /// Check a BonnMotion movement file and write a scenario that uses it
    Bonnmotion {
        /// Movement file (.movements), plain or gzip
        #[arg(value_name = "FILE")]
        movement: PathBuf,
        /// Read waypoints as time x y. Without this or --3d, NAME.params beside the file decides, or the numbers if only one
        /// reading is possible
        #[arg(long = "2d", conflicts_with = "heights")]
        flat: bool,
        /// Read waypoints as time x y z
        #[arg(long = "3d")]
        heights: bool,
        /// Read a status at the end of each waypoint, as in the model DisasterArea: 2 takes the node down, 1 brings it back
        #[arg(long)]
        status: bool,
        #[command(flatten)]
        to: ImportedArgs,
    },
    /// Import a CORE session (XML), with devices at their positions on the canvas or the globe
    Core {
        /// Session file
        file: PathBuf,
        #[command(flatten)]
        to: ImportedArgs,
    },
    /// Import tables of positions (CSV) whose first line names the columns: time, node, and x, y, z in metres or lat, lon, alt
    Csv(TrackArgs),
    /// Import an EMANE event log (EEL): locations and path losses of its NEMs
    Eel {
        /// Event log
        file: PathBuf,
        #[command(flatten)]
        heights: HeightArgs,
        #[command(flatten)]
        to: ImportedArgs,
    },
    /// Import SUMO's floating car data: vehicles, persons and containers, which appear and disappear
    Fcd {
        /// File written with --fcd-output, plain or gzip
        file: PathBuf,
        /// Read positions as longitude and latitude (--fcd-output.geo). By default, detected from the file
        #[arg(long, conflicts_with = "metres")]
        geo: bool,
        /// Read positions as metres, even if they look like longitude and latitude
        #[arg(long)]
        metres: bool,
        #[command(flatten)]
        heights: HeightArgs,
        #[command(flatten)]
        to: ImportedArgs,
    },
    /// Import GPX files: each track is a node
    Gpx(TrackArgs),
    /// Import KML files: each placemark with a track or a point is a node
    Kml(TrackArgs),
    /// Import logs of GPS receivers (NMEA 0183): each file is a node
    Nmea(TrackArgs),
    /// Import the traffic in captures (pcap or pcapng): each address is a node
    Pcapng {
        /// Captures recorded with the same clock
        #[arg(required = true, value_name = "CAPTURE")]
        files: Vec<PathBuf>,
        #[command(flatten)]
        to: ImportedArgs,
    },
    /// Import a run, such as a field run: tracks, traffic, and a macfilter file of the links on which frames were received
    Run {
        /// Run directory, merged or recorded with --identities
        run: PathBuf,
        #[command(flatten)]
        to: ImportedArgs,
    },
    /// Check ns-2 movement and traffic files, or record a whole script, and write a scenario that uses them
    Ns2 {
        /// Movement file (setdest), plain or gzip
        #[arg(long, value_name = "FILE", required_unless_present = "script")]
        movement: Option<PathBuf>,
        /// Traffic file (cbrgen), or SUMO's activity file
        #[arg(long, value_name = "FILE", requires = "movement")]
        traffic: Option<PathBuf>,
        /// Whole script to record: `ns` runs it without sending packets. It runs with your rights
        #[arg(long, value_name = "FILE", conflicts_with_all = ["movement", "traffic"])]
        script: Option<PathBuf>,
        #[command(flatten)]
        to: ImportedArgs,
    },
}

pub(crate) fn import(a: &ImportArgs) -> Result<(), Failure> {
    match a {
        ImportArgs::Ns2 { movement: Some(movement), traffic, to, .. } => {
            named(to.changes.load_ns2(movement, traffic.as_deref())?, to)
        }
        ImportArgs::Ns2 { script: Some(script), to, .. } => {
            let has_ns2 = |d: &&wayhop_core::Description| d.profiles.iter().any(|p| p.name == "ns2");
            let protocols: Vec<&str> =
                wayhop_protocols::ALL.iter().copied().filter(has_ns2).map(|d| d.name).collect();
            write(wayhop_import::ns2_script(script, &record(script)?, &protocols), script, to)
        }
        ImportArgs::Ns2 { .. } => Err(usage!("give --movement or --script")),
        ImportArgs::Bonnmotion { movement, flat, heights, status, to } => {
            bonnmotion(movement, [*flat, *heights, *status], to)
        }
        ImportArgs::Core { file, to } => write(core_xml((file, &text(file)?)), file, to),
        ImportArgs::Csv(a) => a.read(csv),
        ImportArgs::Eel { file, heights, to } => write(eel((file, &text(file)?), heights.chosen()), file, to),
        ImportArgs::Fcd { file, geo, metres, heights, to } => {
            let places = match (geo, metres) {
                (true, _) => FcdCoordinates::Degrees,
                (_, true) => FcdCoordinates::Metres,
                _ => FcdCoordinates::Detect,
            };
            write(fcd((file, &text(file)?), places, heights.chosen()), file, to)
        }
        ImportArgs::Gpx(a) => a.read(gpx),
        ImportArgs::Kml(a) => a.read(kml),
        ImportArgs::Nmea(a) => a.read(nmea),
        ImportArgs::Pcapng { files, to } => {
            let open = |path: &PathBuf| -> Result<BufReader<File>, Failure> {
                let file = File::open(path).map_err(|e| {
                    let what = match e.kind() {
                        io::ErrorKind::NotFound => "no such file; check the name".to_owned(),
                        _ => format!("cannot be read ({e}); check the file's permissions"),
                    };
                    usage!("{}: {what}", path.display())
                })?;
                Ok(BufReader::new(file))
            };
            let opened = files.iter().map(|p| Ok((p.as_path(), open(p)?))).collect::<Result<_, Failure>>()?;
            write(pcapng(opened, wayhop_protocols::CLASSIFIER), &files[0], to)
        }
        ImportArgs::Run { run, to } => {
            let dir = recover::open(run)?;
            write(wayhop_import::run(&dir).map(with_short_protocol), run, to)
        }
    }
}

/// Without the parameters of the protocol that its profile has anyway.
fn with_short_protocol(mut made: ImportedScenario) -> ImportedScenario {
    let protocol = made.table.get("protocol").and_then(|p| p.clone().try_into::<Protocol>().ok());
    let short = protocol.and_then(|p| toml::Table::try_from(p.shortened()).ok());
    made.table.extend(short.map(|p| ("protocol".to_owned(), p.into())));
    made
}

impl ImportedArgs {
    /// Rejects files with skipped content, if --strict is given.
    fn check(&self, skipped: &[Omissions]) -> Result<(), Failure> {
        if self.strict && skipped.iter().any(|s| !s.is_empty()) {
            return Err(Failure::Scenario(skipped.iter().flat_map(Omissions::errors).collect()));
        }
        Ok(())
    }
}

impl HeightArgs {
    fn chosen(&self) -> Heights {
        if self.flat { Heights::LeaveOut } else { Heights::Read }
    }
}

impl TrackArgs {
    fn read(
        &self,
        read: impl Fn(&[NamedText<'_>], Heights) -> Result<ImportedScenario, wayhop_import::Error>,
    ) -> Result<(), Failure> {
        let texts = self.files.iter().map(|f| text(f)).collect::<Result<Vec<_>, _>>()?;
        let named: Vec<NamedText<'_>> =
            self.files.iter().zip(&texts).map(|(f, t)| (f.as_path(), t.as_str())).collect();
        write(read(&named, self.heights.chosen()), &self.files[0], &self.to)
    }
}

/// The text of a file that the command line names: no scenario does.
fn text(path: &Path) -> Result<String, Failure> {
    let octets = wayhop_document::read_octets(path).map_err(|mut e| {
        if !path.exists() {
            "check the name".clone_into(&mut e.remedy);
        }
        e
    })?;
    wayhop_import::text(&octets).map_err(|e| Failure::usage(e.in_file(path)))
}

/// Writes an imported scenario, and the files that it refers to.
fn write(
    made: Result<ImportedScenario, wayhop_import::Error>,
    from: &Path,
    to: &ImportedArgs,
) -> Result<(), Failure> {
    let mut made = made.map_err(Failure::usage)?;
    to.check(&made.skipped)?;
    let name = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let name = to.out.as_deref().map_or_else(|| name(from), name);
    made.table.entry("name").or_insert_with(|| name.clone().into());
    let traffic = made.table.get("traffic").and_then(toml::Value::as_array);
    let moves = made.table.get("movement").and_then(|m| m.get("path"));
    let names_files =
        moves.is_some() || traffic.is_some_and(|all| all.iter().any(|f| f.get("path").is_some()));
    if names_files && to.out.is_none() {
        return Err(usage!("the scenario needs further files; give --out FILE to write them beside it"));
    }
    made.name_files(&name);
    let folder = to.out.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
    if to.out.is_some() {
        for (end, content) in &made.files {
            let path = folder.join(format!("{name}{end}"));
            fs::write(&path, content).map_err(Failure::write(&path))?;
        }
    }
    let text = toml::to_string(&made.table).map_err(Failure::run)?;
    // What is written must be readable, with the changes of the command line.
    let place = to.out.clone().unwrap_or_else(|| PathBuf::from("imported.toml"));
    let scenario = Scenario::of_file(&place, text, &to.changes.all_sets())?;
    let resolved = scenario.resolve()?;
    warn(&resolved.warnings);
    let remarks = made.remarks.iter().map(|r| r.replace("NAME", &name));
    for note in made.skipped.iter().flat_map(Omissions::notes).chain(remarks) {
        say!("note: {}", harmless(&note));
    }
    finish(&scenario, to.out.as_deref())
}

fn finish(scenario: &Scenario, out: Option<&Path>) -> Result<(), Failure> {
    put_into(out, &toml::to_string(scenario).map_err(Failure::run)?)
}

/// Writes a scenario that refers to a movement file, and perhaps to a traffic file.
fn named(mut scenario: Scenario, to: &ImportedArgs) -> Result<(), Failure> {
    let resolved = scenario.resolve()?;
    to.check(&resolved.skipped)?;
    warn(&resolved.warnings);
    // Settings that the files leave open are written too, so that later defaults do not change the scenario.
    scenario.duration_s = Some(resolved.duration.as_secs_f64());
    let out = to.out.as_deref();
    if let Some(out) = out {
        move_paths(&mut scenario, out).map_err(Failure::write(out))?;
    }
    finish(&scenario, out)
}

/// A scenario that refers to a BonnMotion movement file, with the columns that it has.
fn bonnmotion(file: &Path, flags: [bool; 3], to: &ImportedArgs) -> Result<(), Failure> {
    let columns = match flags {
        [false, false, false] => None,
        [_, false, false] => Some(Columns::Flat),
        [_, true, false] => Some(Columns::Heights),
        [_, false, true] => Some(Columns::FlatStatus),
        [_, true, true] => Some(Columns::HeightsStatus),
    };
    let mut scenario = to.changes.load_ns2(file, None)?;
    let said = match &scenario.movement {
        Some(Movement::Bonnmotion { columns, .. }) => *columns,
        _ => None,
    };
    let read = BonnMotion::load(file, columns.or(said))?;
    if let Some(Movement::Bonnmotion { columns, .. }) = &mut scenario.movement {
        *columns = Some(read.columns);
    }
    named(scenario, to)
}

/// Paths in a scenario count from its folder, those of the command line from the working directory.
fn move_paths(scenario: &mut Scenario, out: &Path) -> io::Result<()> {
    let folder = match out.parent() {
        Some(p) if p != Path::new("") => p.canonicalize()?,
        _ => PathBuf::from(".").canonicalize()?,
    };
    let from_there = |path: &mut PathBuf| -> io::Result<()> {
        if path.is_relative() {
            *path = relative_path(&folder, &path.canonicalize()?);
        }
        Ok(())
    };
    if let Some(Movement::Ns2 { path, .. } | Movement::Bonnmotion { path, .. }) = &mut scenario.movement {
        from_there(path)?;
    }
    for entry in &mut scenario.traffic {
        if let Traffic::Ns2(file) = entry {
            from_there(&mut file.path)?;
        }
    }
    Ok(())
}
