//! Whole ns-2 scripts: `ns` runs them with a recorder in front, whose output becomes a scenario.

use std::path::Path;

use toml::{Table, Value};
use wayhop_document::{Error, Omissions, Result};

use crate::text::shown;
use crate::{ImportedScenario, table};

/// Runs a script under `ns` without a packet: `ns RECORDER OUTPUT SCRIPT [ARGUMENT...]`.
pub const NS2_RECORDER: &str = include_str!("ns2_script/recorder.tcl");

/// The radio of `wavelan-914-ns2` in ns-2's terms: a script that leaves it alone changes nothing.
const PRESET: &str = "wavelan-914-ns2";
/// Things left out that are counted one by one.
const MOST_COUNTED: u32 = 1_000_000;

/// What the recorder wrote.
#[derive(Default)]
struct RecorderScript<'a> {
    moves: String,
    traffic: String,
    settings: Vec<(&'a str, &'a str)>,
    skipped: Omissions,
}

/// A scenario from what the recorder wrote of a script. `protocols` are the names of those that have a profile for
/// ns-2. Fails if the script failed, or creates no nodes.
pub fn ns2_script(script: &Path, recorded: &str, protocols: &[&str]) -> Result<ImportedScenario> {
    let recorded = read(script, recorded).map_err(|e| e.in_file(script))?;
    let mut out = ImportedScenario::default();
    let file = |end: &str| Value::from(table([("kind", "ns2".into()), ("path", end.into())]));
    out.table.insert("movement".into(), file(".movement.tcl"));
    out.files.push((".movement.tcl".into(), recorded.moves));
    if !recorded.traffic.is_empty() {
        out.table.insert("traffic".into(), vec![file(".traffic.tcl")].into());
        out.files.push((".traffic.tcl".into(), recorded.traffic));
    }
    out.skipped.push(recorded.skipped);
    let settings = Settings(&recorded.settings);
    if let Some(area) = settings.area() {
        out.table.insert("area".into(), area.into());
    }
    out.table.insert("protocol".into(), settings.protocol(protocols, &mut out.remarks).into());
    out.table.insert("radio".into(), settings.radio(&mut out.remarks).into());
    Ok(out)
}

fn read<'a>(script: &Path, recorded: &'a str) -> Result<RecorderScript<'a>> {
    let mut out = RecorderScript { skipped: Omissions::of(script), ..RecorderScript::default() };
    for line in recorded.lines() {
        match line.split_once(' ') {
            Some(("M", line)) => out.moves.extend([line, "\n"]),
            Some(("T", line)) => out.traffic.extend([line, "\n"]),
            Some(("S", setting)) => out.settings.extend(setting.split_once(' ')),
            Some(("N", what)) => {
                let (count, what) = what.split_once(' ').unwrap_or(("1", what));
                // "flows to class X": one is a "flow to class X".
                let (things, rest) = what.split_once(' ').unwrap_or((what, ""));
                let one = format!("{} {rest}", things.trim_end_matches('s'));
                for _ in 0..count.parse().unwrap_or(1).min(MOST_COUNTED) {
                    out.skipped.add(None, [&one, what]);
                }
            }
            Some(("E", what)) => {
                let (line, what) = what.split_once(' ').unwrap_or(("0", what));
                let reason =
                    format!("the script fails in ns-2: {}", what.chars().take(200).collect::<String>());
                let e = Error::new(reason, "correct it until `ns` runs it");
                return Err(match line.parse() {
                    Ok(line) if line > 0 => e.at_line(line),
                    _ => e,
                });
            }
            _ => {
                let remedy = "report this as a bug";
                return Err(Error::new(format!("the recorder wrote {}", shown(line)), remedy));
            }
        }
    }
    if out.moves.is_empty() {
        return Err(Error::new("the script creates no mobile nodes", "use a wireless script"));
    }
    Ok(out)
}

struct Settings<'a>(&'a [(&'a str, &'a str)]);

impl Settings<'_> {
    fn text(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(n, _)| *n == name).map(|(_, value)| *value)
    }

    fn number(&self, name: &str) -> Option<f64> {
        self.text(name)?.trim().parse().ok().filter(|v: &f64| v.is_finite())
    }

    fn area(&self) -> Option<Table> {
        let (x, y) = self.text("area")?.split_once(' ')?;
        let metres = |text: &str| text.trim().parse::<f64>().ok().filter(|v| (0.0..=1e7).contains(v));
        Some(table([("x_m", metres(x)?.into()), ("y_m", metres(y)?.into())]))
    }

    fn protocol(&self, known: &[&str], remarks: &mut Vec<String>) -> Table {
        let said = self.text("adhocRouting").unwrap_or("none");
        if let Some(name) = known.iter().find(|name| name.eq_ignore_ascii_case(said)) {
            return table([("name", (*name).into()), ("profile", "ns2".into())]);
        }
        remarks.push(format!(
            "Wayhop does not have the script's routing protocol, {}: packets reach only neighbours; choose another one with --protocol",
            shown(said)
        ));
        table([("name", "none".into())])
    }

    fn radio(&self, remarks: &mut Vec<String>) -> Table {
        let mut radio = table([("preset", PRESET.into())]);
        let mut set = |key: &str, value: Option<f64>, usual: f64| {
            let differs = |v: &f64| v.is_finite() && (v - usual).abs() > 1e-3 * usual.abs().max(1.0);
            radio.extend(value.filter(differs).map(|v| (key.to_owned(), v.into())));
        };
        let decibels = |name: &str| self.number(name).filter(|v| *v > 0.0).map(|v| 10.0 * libm::log10(v));
        let dbm = |name: &str| decibels(name).map(|db| db + 30.0);
        let loss = decibels("Phy/WirelessPhy.L_").unwrap_or(0.0);
        set("tx_power_dbm", dbm("Phy/WirelessPhy.Pt_").map(|p| p - loss), 24.5);
        set("frequency_mhz", self.number("Phy/WirelessPhy.freq_").map(|f| f / 1e6), 914.0);
        set("receive_threshold_dbm", dbm("Phy/WirelessPhy.RXThresh_"), -64.374_692);
        set("carrier_sense_threshold_dbm", dbm("Phy/WirelessPhy.CSThresh_"), -78.071_539);
        set("capture_db", decibels("Phy/WirelessPhy.CPThresh_"), 10.0);
        set("antenna_height_m", self.number("Antenna/OmniAntenna.Z_"), 1.5);
        let gains = ["Gt_", "Gr_"].map(|g| decibels(&format!("Antenna/OmniAntenna.{g}")).unwrap_or(0.0));
        set("antenna_gain_dbi", Some(f64::midpoint(gains[0], gains[1])), 0.0);
        set("data_rate_mbps", self.text("Mac/802_11.dataRate_").and_then(mbps), 2.0);
        set("basic_rate_mbps", self.text("Mac/802_11.basicRate_").and_then(mbps), 1.0);
        let mut whole = |key: &str, name: &str, usual: i64| {
            let value = self.number(name).filter(|v| (0.0..1e6).contains(v)).map(|v| v as i64);
            radio.extend(value.filter(|v| *v != usual).map(|v| (key.to_owned(), v.into())));
        };
        whole("rts_threshold_bytes", "Mac/802_11.RTSThreshold_", 0);
        whole("cw_min", "Mac/802_11.CWMin_", 31);
        whole("cw_max", "Mac/802_11.CWMax_", 1023);
        whole("queue_packets", "ifqLen", 50);
        if self.text("ifqType").is_some_and(|queue| !queue.contains("PriQueue")) {
            radio.insert("queue_classes".into(), false.into());
        }
        match self.text("propType") {
            None | Some("Propagation/TwoRayGround") => {}
            Some("Propagation/FreeSpace") => _ = radio.insert("path_loss".into(), "free-space".into()),
            Some("Propagation/Shadowing") => {
                radio.insert("path_loss".into(), "log-distance".into());
                let keys = [("path_loss_exponent", "pathlossExp_"), ("shadowing_sigma_db", "std_db_")];
                radio.extend(keys.iter().filter_map(|(key, name)| {
                    let value = self.number(&format!("Propagation/Shadowing.{name}"))?;
                    Some(((*key).to_owned(), value.into()))
                }));
            }
            Some(other) => {
                remarks.push(format!("{} is replaced by two-ray ground; adjust [radio]", shown(other)));
            }
        }
        if let Some(mac) = self.text("macType").filter(|mac| *mac != "Mac/802_11") {
            remarks.push(format!("{} is replaced by IEEE 802.11 medium access", shown(mac)));
        }
        if self.text("energyModel").is_some_and(|model| !model.is_empty()) {
            remarks.push("the energy model is left out; describe the batteries in [energy]".to_owned());
        }
        radio
    }
}

/// A rate as ns-2 writes it: 2Mb, 11e6, 1000k.
fn mbps(text: &str) -> Option<f64> {
    let text = text.trim().trim_end_matches(['b', 'B']);
    let (number, scale) = match text.char_indices().last()? {
        (i, 'k' | 'K') => (&text[..i], 1e3),
        (i, 'm' | 'M') => (&text[..i], 1e6),
        _ => (text, 1.0),
    };
    number.parse::<f64>().ok().map(|v| v * scale / 1e6).filter(|v| *v > 0.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const RECORDED: &str = "M $node_(0) set X_ 50\nM $node_(0) set Y_ 100\nT $ns_ at 40.0 \"$ns_ halt\"\nS adhocRouting Proto\n\
        S area 700 300\nS ifqLen 20\nS ifqType CMUPriQueue\nS propType Propagation/TwoRayGround\nS macType Mac/802_11\n\
        S Phy/WirelessPhy.Pt_ 0.28183815\nS Phy/WirelessPhy.RXThresh_ 3.652e-10\nS Phy/WirelessPhy.CSThresh_ 1.559e-11\n\
        S Phy/WirelessPhy.freq_ 914e+6\nS Phy/WirelessPhy.L_ 1.0\nS Phy/WirelessPhy.CPThresh_ 10.0\nS Mac/802_11.dataRate_ 1Mb\n\
        S Mac/802_11.basicRate_ 1Mb\nS Mac/802_11.RTSThreshold_ 0\nS Antenna/OmniAntenna.Gt_ 1.0\nN 2 links by wire\n";

    fn made(recorded: &str) -> Result<ImportedScenario> {
        ns2_script("s.tcl".as_ref(), recorded, &["proto"])
    }

    #[test]
    fn what_was_recorded_becomes_files_and_settings() {
        let mut i = made(RECORDED).unwrap();
        i.name_files("s");
        assert_eq!(i.table["movement"]["path"].as_str(), Some("s.movement.tcl"));
        assert_eq!(i.table["traffic"][0]["path"].as_str(), Some("s.traffic.tcl"));
        assert_eq!(i.table["area"]["x_m"].as_float(), Some(700.0));
        let protocol = &i.table["protocol"];
        assert_eq!((protocol["name"].as_str(), protocol["profile"].as_str()), (Some("proto"), Some("ns2")));
        // What is as in the preset is not said.
        let radio = i.table["radio"].as_table().unwrap();
        assert_eq!(radio.len(), 3, "{radio}");
        assert_eq!((&radio["data_rate_mbps"], &radio["queue_packets"]), (&1.0.into(), &20.into()));
        let moves = "$node_(0) set X_ 50\n$node_(0) set Y_ 100\n";
        assert_eq!(i.files[0], (".movement.tcl".into(), moves.into()));
        assert_eq!(i.skipped[0].kinds().collect::<Vec<_>>(), ["2 links by wire"]);
        assert!(i.remarks.is_empty());
    }

    #[test]
    fn settings_that_differ_from_ns2s_are_said() {
        let radio = |more: &str| {
            // The last word on a setting comes first.
            let i = made(&format!("{more}{RECORDED}")).unwrap();
            let protocol = i.table["protocol"]["name"].as_str().unwrap().to_owned();
            (i.table["radio"].as_table().unwrap().clone(), protocol, i.remarks)
        };
        let of = |more: &str, key: &str| radio(more).0[key].as_float().unwrap();
        assert!((of("S Phy/WirelessPhy.Pt_ 0.1\n", "tx_power_dbm") - 20.0).abs() < 1e-9);
        assert!((of("S Phy/WirelessPhy.RXThresh_ 1e-9\n", "receive_threshold_dbm") + 60.0).abs() < 1e-9);
        assert_eq!(of("S Mac/802_11.dataRate_ 11e6\n", "data_rate_mbps"), 11.0);
        assert_eq!(of("S Phy/WirelessPhy.freq_ 2.4e9\n", "frequency_mhz"), 2400.0);
        let (shadowed, ..) = radio("S propType Propagation/Shadowing\nS Propagation/Shadowing.std_db_ 4.0\n");
        assert_eq!(shadowed["path_loss"].as_str(), Some("log-distance"));
        assert_eq!(shadowed["shadowing_sigma_db"].as_float(), Some(4.0));
        assert_eq!(radio("S ifqType Queue/DropTail\n").0["queue_classes"].as_bool(), Some(false));
        let others = "S adhocRouting TORA\nS macType Mac/Simple\nS energyModel EnergyModel\n";
        let (_, protocol, remarks) = radio(others);
        assert_eq!((protocol.as_str(), remarks.len()), ("none", 3), "{remarks:?}");
    }

    #[test]
    fn a_script_that_fails_is_named_with_its_line() {
        let e = made("E 12 invalid command name \"Agent/landmark\"\n").unwrap_err().to_string();
        let reason = "the script fails in ns-2: invalid command name \"Agent/landmark\"";
        assert_eq!(e, format!("s.tcl:12: {reason}; correct it until `ns` runs it"));
        let e = made("S area 1 1\n").unwrap_err().to_string();
        assert_eq!(e, "s.tcl: the script creates no mobile nodes; use a wireless script");
    }

    proptest! {
        #[test]
        fn any_record_is_read_or_refused(text in "([MTSNE] [-A-Za-z0-9_./ ]{0,30}\\n){0,8}|\\PC{0,40}") {
            let _ = made(&text);
        }
    }
}
