//! Scenarios as files that ns-2 runs.

use wayhop_document::{Error, Result};
use wayhop_simulator_files::ns2::{ExportOptions, Exporter, Ns2Files};

use crate::resolve::Resolved;

/// Writes a scenario as files that ns-2 sources after it has made `$ns_`, `$god_` and `$node_(0)` onwards.
pub fn export_ns2(scenario: &Resolved, options: ExportOptions) -> Result<Ns2Files> {
    let (movement, mut warnings) = export_ns2_movement(scenario, options)?;
    let (traffic, more) = export_ns2_traffic(scenario)?;
    // What both files cannot say is said once.
    let more: Vec<String> = more.into_iter().filter(|w| !warnings.contains(w)).collect();
    warnings.extend(more);
    Ok(Ns2Files { movement, traffic, warnings })
}

/// The file of the nodes' movement, and what it cannot say.
pub fn export_ns2_movement(scenario: &Resolved, options: ExportOptions) -> Result<(String, Vec<String>)> {
    let mut warnings = of_both(scenario)?;
    Ok((exporter(scenario).movement(options, &mut warnings)?, warnings))
}

/// The file of the flows, and what it cannot say.
pub fn export_ns2_traffic(scenario: &Resolved) -> Result<(String, Vec<String>)> {
    let mut warnings = of_both(scenario)?;
    Ok((exporter(scenario).traffic(&mut warnings)?, warnings))
}

fn exporter(scenario: &Resolved) -> Exporter<'_> {
    Exporter {
        tracks: &scenario.tracks,
        area: scenario.area,
        duration: scenario.duration,
        flows: &scenario.flows,
        profiles: scenario.protocol.description().profiles,
    }
}

/// What neither file can say.
fn of_both(scenario: &Resolved) -> Result<Vec<String>> {
    if !scenario.interfaces.is_single() {
        let reason = "ns-2 nodes have one radio each, but this scenario assigns radios or wires to nodes";
        return Err(Error::new(reason, "remove radios, wires and radio.nodes"));
    }
    let mut warnings = Vec::new();
    if !scenario.outages.is_empty() {
        warnings.push("outages: not supported by ns-2; in its run all nodes stay up".to_owned());
    }
    if !scenario.energy.is_empty() {
        warnings.push(
            "energy: not exported, because node-config sets ns-2's energy model; in its run all nodes stay up".to_owned(),
        );
    }
    Ok(warnings)
}
