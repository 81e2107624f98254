//! What a recorded run was configured with, for the scenario that it becomes: routing protocol and radio.

use toml::{Table, Value};
use wayhop_radio::DEFAULT_PRESET;
use wayhop_trace::{Manifest, Summary};

/// Keys of a radio that are about one interface of several, or name files.
const LEFT_OUT_OF_RADIO: [&str; 3] = ["name", "nodes", "site"];

/// Puts the protocol with its profile and parameters and the radio into a scenario. Returns what is guessed, or left out.
pub(crate) fn carry_over(scenario: &mut Table, manifest: &Manifest, summary: &Summary) -> Vec<String> {
    let recorded: Table = manifest.scenario.parse().unwrap_or_default();
    let mut remarks = Vec::new();
    protocol(scenario, recorded.get("protocol"), summary, &mut remarks);
    if let Some(differing) = manifest.merged.as_ref().map(|m| &m.differing).filter(|d| !d.is_empty()) {
        remarks.push(format!(
            "the nodes' configurations differ in {}: all nodes get the settings of {}",
            differing.join(", "),
            manifest.merged.as_ref().map_or("the first one", |m| &m.reference),
        ));
    }
    radio(scenario, &recorded, &mut remarks);
    let is_empty = |v: &Value| v.as_table().is_some_and(Table::is_empty);
    if recorded.get("security").is_some_and(|v| !is_empty(v)) {
        remarks.push(
            "the nodes authenticated routing messages with keys, which are never recorded: the scenario has no authentication; \
             add `security.keys_file` to have them"
                .to_owned(),
        );
    }
    remarks
}

fn protocol(scenario: &mut Table, recorded: Option<&Value>, summary: &Summary, remarks: &mut Vec<String>) {
    let several = summary.protocol.contains('+');
    let is_its = |p: &&Table| {
        let name = p.get("name").map_or(Some(&*summary.protocol), Value::as_str);
        name.is_some_and(|name| name.eq_ignore_ascii_case(&summary.protocol))
    };
    let chosen = recorded.and_then(Value::as_table).filter(is_its);
    if several {
        remarks.push(format!(
            "the nodes ran {}, but the scenario has the default protocol; change it with --set protocol.name=NAME",
            summary.protocol
        ));
        return;
    }
    if chosen.is_none() {
        remarks.push(format!(
            "the run did not record the profile and parameters of {0}: the scenario has {0}'s defaults",
            summary.protocol
        ));
    }
    let mut section = chosen.cloned().unwrap_or_default();
    section.insert("name".to_owned(), summary.protocol.clone().into());
    scenario.insert("protocol".to_owned(), section.into());
}

fn radio(scenario: &mut Table, recorded: &Table, remarks: &mut Vec<String>) {
    if ["radios", "wires"].iter().any(|key| recorded.get(*key).is_some()) {
        remarks.push("the nodes had several interfaces: the scenario has only the first radio".to_owned());
    }
    let Some(mut radio) = recorded.get("radio").and_then(Value::as_table).cloned() else {
        // What is left out of a scenario is the default; hosts have cards of their own.
        let is_scenario = ["nodes", "movement", "duration_s"].iter().any(|key| recorded.contains_key(*key));
        if !is_scenario {
            remarks.push(format!(
                "the run did not record its radio: {DEFAULT_PRESET} is a guess; change it with --set radio.preset=80211g or another \
                 of `wayhop presets`"
            ));
        }
        return;
    };
    let site = radio.contains_key("site");
    radio.retain(|key, _| !LEFT_OUT_OF_RADIO.contains(&key));
    if site {
        remarks.push("the radio's `site` is left out".to_owned());
    }
    scenario.insert("radio".into(), radio.into());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn carried(text: &str, protocol: &str) -> (Table, Vec<String>) {
        let manifest = Manifest::new(text, 1, Vec::new(), 0);
        let summary = Summary { protocol: protocol.to_owned(), ..Summary::default() };
        let mut scenario = Table::new();
        let remarks = carry_over(&mut scenario, &manifest, &summary);
        (scenario, remarks)
    }

    #[test]
    fn a_nodes_profile_and_parameters_come_along_and_the_radio_is_called_a_guess() {
        let text = "interface = \"wlan0\"\naddress = \"10.0.0.1/24\"\n";
        let section = "name = \"dsr\"\nprofile = \"cmu\"\nttl = 9\n";
        let (scenario, remarks) = carried(&format!("{text}[protocol]\n{section}"), "dsr");
        assert_eq!(scenario["protocol"].as_table(), Some(&section.parse().unwrap()));
        let [guess] = &remarks[..] else { panic!("{remarks:?}") };
        assert!(guess.contains("wavelan-914-cmu is a guess"), "{guess}");
    }

    #[test]
    fn what_differs_from_the_profile_stays_and_keys_are_told_of() {
        let text = "duration_s = 9.0\n[protocol]\nname = \"aodv\"\nactive_route_timeout_ms = 9000\n\
                    [radio]\npreset = \"80211g\"\nname = \"ch1\"\n[security]\nkeys_file = \"keys.toml\"\n";
        let (scenario, remarks) = carried(text, "aodv");
        assert_eq!(scenario["protocol"]["active_route_timeout_ms"].as_integer(), Some(9_000));
        assert_eq!(scenario["radio"].as_table().unwrap().len(), 1);
        assert!(remarks.len() == 1 && remarks[0].contains("authenticated"), "{remarks:?}");
    }

    #[test]
    fn records_that_say_nothing_become_defaults_with_a_remark() {
        let (scenario, remarks) = carried("# Merged\n", "dsdv");
        assert_eq!(scenario["protocol"]["name"].as_str(), Some("dsdv"));
        assert!(remarks[0].contains("dsdv's defaults") && remarks.len() == 2, "{remarks:?}");
        assert!(carried("[", "dsr+aodv").1[0].contains("dsr+aodv"));
    }
}
