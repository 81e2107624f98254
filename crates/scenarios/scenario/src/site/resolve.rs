//! `[radio.site]`, and that of further radios, with nodes and places looked up.

use wayhop_core::{Position, Time};
use wayhop_document::Result;
use wayhop_radio::{Beam, PairLoss, RadioConfig, SiteConfig, StationAntenna};

use super::locate::locate;
use super::map::Map;
use super::{Antenna, Pair, Site, Zone};
use crate::file::Scenario;
use crate::interfaces::Radio;
use crate::nodes::Placement;

/// The site of a radio, if it has one; `section` is where the scenario has the radio.
pub(crate) fn resolve(
    given: &Radio,
    section: &str,
    radio: &RadioConfig,
    placed: &Placement<'_>,
    map: Option<&Map>,
) -> Result<Option<Box<SiteConfig>>> {
    let (scenario, doc) = (placed.scenario, placed.doc());
    let Some(site) = &given.site else { return Ok(None) };
    let section = &format!("{section}.site");
    let zones = site.zones.iter().enumerate();
    let (antennas, entries) = antennas(site, section, radio, placed)?;
    let resolved = SiteConfig {
        loss_db: site.loss_db,
        shadowing_sigma_db: site.shadowing_sigma_db,
        shadowing_distance_m: site.shadowing_distance_m,
        drift_sigma_db: site.drift_sigma_db,
        drift_time_s: site.drift_time_s,
        rician_k_db: site.rician_k_db,
        fade_distance_m: site.fade_distance_m,
        zones: zones.map(|(i, z)| zone(i, z, section, scenario, map)).collect::<Result<_, _>>()?,
        antennas,
        pairs: pairs(site, section, placed)?,
    };
    resolved.check().map_err(|(key, reason)| {
        let key = in_scenario(&key, &entries);
        doc.error(&format!("{section}.{key}"), reason, "see docs/reference/scenario.md")
    })?;
    Ok(Some(Box::new(resolved)))
}

/// The key of a setting, where the scenario has it: one entry may apply to the antennas of several nodes.
fn in_scenario(key: &str, entries: &[usize]) -> String {
    let of_antenna = key.strip_prefix("antenna[").and_then(|rest| rest.split_once(']'));
    let entry = of_antenna.and_then(|(i, field)| Some((entries.get(i.parse::<usize>().ok()?)?, field)));
    entry.map_or_else(|| key.to_owned(), |(entry, field)| format!("antenna[{entry}]{field}"))
}

fn zone(
    i: usize,
    z: &Zone,
    section: &str,
    scenario: &Scenario,
    map: Option<&Map>,
) -> Result<wayhop_radio::Zone> {
    let doc = &scenario.document;
    let key = format!("{section}.zone[{i}]");
    let flat = |p: Position| [p.x, p.y];
    let corners = if z.corners.is_empty() {
        let named = format!("{key}.name");
        let map = map.ok_or_else(|| {
            let reason = format!("zone {:?} has no corners, and the scenario has no map", z.name);
            doc.error(&named, reason, "add corners to the zone, or a map with an area of that name")
        })?;
        map.area(&z.name, &named, doc)?.iter().copied().map(flat).collect()
    } else {
        let corner = |(c, &p)| locate(p, scenario, &format!("{key}.corners[{c}]")).map(flat);
        z.corners.iter().enumerate().map(corner).collect::<Result<_, _>>()?
    };
    Ok(wayhop_radio::Zone {
        name: z.name.clone(),
        corners,
        ends: z.ends,
        loss_db: z.loss_db,
        rician_k_db: z.rician_k_db,
        fade_distance_m: z.fade_distance_m,
    })
}

/// The antennas, and the number of the scenario's entry for each.
fn antennas(
    site: &Site,
    section: &str,
    radio: &RadioConfig,
    placed: &Placement<'_>,
) -> Result<(Vec<StationAntenna>, Vec<usize>)> {
    let (mut out, mut entries) = (Vec::new(), Vec::new());
    for (i, a) in site.antennas.iter().enumerate() {
        for (k, node) in a.nodes.iter().enumerate() {
            let station = placed.find(node, &format!("{section}.antenna[{i}].nodes[{k}]"))?.0;
            entries.push(i);
            let (width_deg, front_to_back_db) = (a.beam_width_deg, a.front_to_back_db);
            let beam = |bearing_deg| Beam { bearing_deg, width_deg, front_to_back_db };
            out.push(StationAntenna {
                station,
                gain_dbi: a.gain_dbi.unwrap_or(radio.antenna_gain_dbi),
                height_m: a.height_m.unwrap_or(radio.antenna_height_m),
                beam: bearing(a, &format!("{section}.antenna[{i}].towards"), station, placed)?.map(beam),
            });
        }
    }
    Ok((out, entries))
}

/// Where an antenna points, if it is directional; `key` is the scenario's key for the target node.
fn bearing(a: &Antenna, key: &str, station: u32, placed: &Placement<'_>) -> Result<Option<f64>> {
    let doc = placed.doc();
    let Some(target) = &a.towards else { return Ok(a.bearing_deg) };
    if a.bearing_deg.is_some() {
        return Err(doc.error(key, "both towards and bearing_deg are given", "remove one of them"));
    }
    let at = |node: u32| placed.tracks[node as usize].position(Time::ZERO);
    let (here, there) = (at(station), at(placed.find(target, key)?.0));
    let (dx, dy) = (there.x - here.x, there.y - here.y);
    if dx == 0.0 && dy == 0.0 {
        let remedy = "name a node at another position";
        return Err(doc.error(key, "the antenna points at its own position", remedy));
    }
    Ok(Some(libm::atan2(dx, dy).to_degrees()))
}

fn pairs(site: &Site, section: &str, placed: &Placement<'_>) -> Result<Vec<PairLoss>> {
    let pair = |(i, p): (usize, &Pair)| {
        let end = |k: usize| placed.find(&p.nodes[k], &format!("{section}.pair[{i}].nodes"));
        Ok(PairLoss { stations: [end(0)?.0, end(1)?.0], loss_db: p.loss_db })
    };
    site.pairs.iter().enumerate().map(pair).collect()
}
