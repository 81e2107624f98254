//! Lines of the protocol. They come from other programs, and reading them is harmless whatever they contain.

use serde::Deserialize;
use serde_json::{Value, json};
use wayhop_core::{AccuracyFrom, Fix, FixQuality, FixStatus};

use super::utc::nanos;

/// What a line from gpsd means for a node.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum Report {
    /// The receiver knows where it is, and how well: class TPV. The accuracy is that of `epx`, `epy` and `epv`.
    Fix(Fix, FixQuality),
    /// It does not.
    NoFix,
    /// How exact the receiver takes its position to be: class GST.
    Deviations(Deviations),
    /// How many satellites it uses: class SKY.
    Satellites(u8),
    /// The daemon introduced itself: time to ask for reports.
    Version,
    /// Anything else.
    Other,
}

/// Standard deviations of a position.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Deviations {
    /// Time of the fix: nanoseconds since 1970 (UTC).
    pub time_unix_ns: Option<u64>,
    /// Horizontal, metres: the root of the sum of the squares of those north and east.
    pub horizontal_m: f64,
    /// Vertical, metres.
    pub vertical_m: Option<f64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    class: String,
    #[serde(default)]
    mode: u8,
    status: Option<u8>,
    time: Option<String>,
    lat: Option<f64>,
    lon: Option<f64>,
    #[serde(rename = "altHAE")]
    alt_hae: Option<f64>,
    /// Of a GST: the deviation of the altitude. (Of a TPV: an altitude, of releases before 3.20.)
    alt: Option<f64>,
    track: Option<f64>,
    speed: Option<f64>,
    epx: Option<f64>,
    epy: Option<f64>,
    epv: Option<f64>,
    dgps_age: Option<f64>,
    u_sat: Option<u16>,
    satellites: Option<Vec<Satellite>>,
}

#[derive(Deserialize)]
struct Satellite {
    #[serde(default)]
    used: bool,
}

/// Reads a line from gpsd; none if it is not an object with a class.
pub fn parse_report(line: &str) -> Option<Report> {
    let line: Line = serde_json::from_str(line).ok()?;
    Some(match line.class.as_str() {
        "VERSION" => Report::Version,
        "TPV" => fix(&line).map_or(Report::NoFix, |fix| Report::Fix(fix, quality(&line))),
        "GST" => deviations(&line).map_or(Report::Other, Report::Deviations),
        "SKY" => satellites(&line).map_or(Report::Other, Report::Satellites),
        _ => Report::Other,
    })
}

/// An error that somebody may have measured, metres.
fn metres(v: Option<f64>) -> Option<f64> {
    v.filter(|v| (0.0..=1e7).contains(v))
}

fn horizontal(north: Option<f64>, east: Option<f64>) -> Option<f64> {
    Some(metres(north)?.hypot(metres(east)?))
}

fn quality(line: &Line) -> FixQuality {
    let accuracy_m = horizontal(line.epy, line.epx);
    let vertical_m = metres(line.epv);
    FixQuality {
        mode: line.mode,
        status: FixStatus::of_gpsd(line.mode, line.status),
        time_unix_ns: line.time.as_deref().and_then(nanos),
        altitude_m: line.alt_hae.filter(|v| v.abs() <= 1e8),
        accuracy_m,
        vertical_m,
        accuracy_from: (accuracy_m.is_some() || vertical_m.is_some()).then_some(AccuracyFrom::Epx),
        satellites: None,
        corrections_age_s: line.dgps_age.filter(|v| (0.0..=1e9).contains(v)),
    }
}

fn deviations(line: &Line) -> Option<Deviations> {
    Some(Deviations {
        time_unix_ns: line.time.as_deref().and_then(nanos),
        horizontal_m: horizontal(line.lat, line.lon)?,
        vertical_m: metres(line.alt),
    })
}

/// Releases before 3.22 name the satellites only; a SKY with neither is about something else.
fn satellites(line: &Line) -> Option<u8> {
    let listed = || line.satellites.as_ref().map(|all| all.iter().filter(|s| s.used).count());
    line.u_sat.map(usize::from).or_else(listed).map(|n| n.min(u8::MAX.into()) as u8)
}

fn fix(line: &Line) -> Option<Fix> {
    // Modes 0 and 1: no fix.
    if line.mode < 2 {
        return None;
    }
    let latitude_deg = line.lat.filter(|v| (-90.0..=90.0).contains(v))?;
    let longitude_deg = line.lon.filter(|v| (-180.0..=180.0).contains(v))?;
    // A receiver that stands knows no course.
    let heading = line.track.filter(|v| (0.0..=360.0).contains(v)).unwrap_or(0.0);
    let speed = line.speed.filter(|v| (0.0..=10_000.0).contains(v)).unwrap_or(0.0);
    let heading_deg = heading as f32;
    Some(Fix {
        latitude_deg,
        longitude_deg,
        heading_deg: if heading_deg >= 360.0 { 0.0 } else { heading_deg },
        speed_m_per_s: speed as f32,
    })
}

/// What a client asks for.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Watch {
    /// Whether reports are wanted at all.
    pub enable: Option<bool>,
    /// Whether as JSON.
    pub json: Option<bool>,
}

/// A client's command.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum GpsdCommand {
    Version,
    Devices,
    Device,
    /// With an object, it changes what is sent; both kinds are answered with what is.
    Watch(Option<Watch>),
    Poll,
}

/// Reads a line of commands: `?WATCH={"enable":true};?POLL;`. Each is a command or the answer to something that is none.
pub(super) fn commands(line: &str) -> Vec<Result<GpsdCommand, Value>> {
    let mut all = Vec::new();
    let mut rest = line.trim_matches(|c: char| c.is_ascii_whitespace() || c == ';' || c == '\0');
    while !rest.is_empty() {
        let Some(text) = rest.strip_prefix('?') else {
            all.push(Err(error("Unrecognized request")));
            return all;
        };
        let word = text.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(text.len());
        let (name, tail) = text.split_at(word);
        let (argument, tail) = match tail.strip_prefix('=') {
            None => (None, tail),
            Some(tail) => {
                let Some((argument, tail)) = object(tail) else {
                    all.push(Err(error("Invalid argument")));
                    return all;
                };
                (Some(argument), tail)
            }
        };
        all.push(match name {
            "VERSION" => Ok(GpsdCommand::Version),
            "DEVICES" => Ok(GpsdCommand::Devices),
            "DEVICE" => Ok(GpsdCommand::Device),
            "POLL" => Ok(GpsdCommand::Poll),
            "WATCH" => match argument.map(serde_json::from_value::<Watch>).transpose() {
                Ok(watch) => Ok(GpsdCommand::Watch(watch)),
                Err(_) => Err(error("Invalid WATCH")),
            },
            _ => Err(error("Unrecognized request")),
        });
        rest = tail.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == ';' || c == '\0');
    }
    all
}

/// How many of a line's commands are understood, and how many are refused: for tests of the parser.
pub fn parse_commands(line: &str) -> (usize, usize) {
    let all = commands(line);
    let understood = all.iter().filter(|c| c.is_ok()).count();
    (understood, all.len() - understood)
}

/// The JSON object that a text begins with, and what follows.
fn object(text: &str) -> Option<(Value, &str)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    match values.next() {
        Some(Ok(value @ Value::Object(_))) => Some((value, &text[values.byte_offset()..])),
        _ => None,
    }
}

fn error(message: &str) -> Value {
    json!({"class": "ERROR", "message": message})
}

/// The path that the one receiver has in reports.
const DEVICE: &str = "wayhop";

pub(super) fn version() -> Value {
    let release = format!("wayhop-{}", wayhop_core::version::full());
    json!({"class": "VERSION", "release": release, "rev": release, "proto_major": 3, "proto_minor": 14})
}

pub(super) fn device(since: &str) -> Value {
    json!({"class": "DEVICE", "path": DEVICE, "driver": "wayhop", "activated": since, "flags": 1, "native": 0,
           "bps": 0, "parity": "N", "stopbits": 0, "cycle": 1.0})
}

pub(super) fn devices(since: &str) -> Value {
    json!({"class": "DEVICES", "devices": [device(since)]})
}

pub(super) fn watch(enable: bool, json: bool) -> Value {
    json!({"class": "WATCH", "enable": enable, "json": json, "nmea": false, "raw": 0, "scaled": false,
           "timing": false, "split24": false, "pps": false})
}

/// A report of where the receiver is: without altitude, which a [`Fix`] does not have, so of mode 2.
pub(super) fn tpv(fix: Option<&Fix>, time: &str) -> Value {
    match fix {
        None => json!({"class": "TPV", "device": DEVICE, "mode": 1, "time": time}),
        Some(f) => json!({"class": "TPV", "device": DEVICE, "mode": 2, "status": FixStatus::Simulated.gpsd(),
            "time": time, "ept": 0.001,
            "lat": f.latitude_deg, "lon": f.longitude_deg, "epx": 0.0, "epy": 0.0,
            "track": f.heading_deg, "speed": f.speed_m_per_s}),
    }
}

pub(super) fn poll(fix: Option<&Fix>, time: &str) -> Value {
    json!({"class": "POLL", "time": time, "active": 1, "tpv": [tpv(fix, time)], "gst": [], "sky": []})
}
