//! What a program needs to know to show the settings of a scenario with their meanings.

use schemars::schema_for;
use serde_json::{Value, json};
use wayhop_radio::{PRESETS, RadioConfig};

use crate::file::Scenario;

/// The JSON Schema of a scenario file.
pub fn scenario_schema() -> Value {
    schema_for!(Scenario).to_value()
}

/// `scenario` is the schema of the file; `radio` and each of `protocols` has the schema of the keys that may stand in that
/// section besides, and the named sets of their values.
pub fn forms() -> Value {
    let sets = PRESETS.iter().filter_map(|(name, about)| {
        let values = serde_json::to_value(RadioConfig::preset(name)?).ok()?;
        Some(json!({"name": name, "about": about, "values": values}))
    });
    let protocol = |d: &&wayhop_core::Description| {
        let sets = d
            .profiles
            .iter()
            .filter_map(|p| Some(json!({"name": p.name, "about": p.about, "values": (d.profile)(p.name)?})));
        json!({
            "name": d.name,
            "about": format!("{}, {}", d.full_name, d.specification),
            "schema": (d.schema)(),
            "sets": sets.collect::<Vec<_>>(),
        })
    };
    json!({
        "scenario": scenario_schema(),
        "radio": {"schema": schema_for!(RadioConfig).to_value(), "sets": sets.collect::<Vec<_>>()},
        "protocols": wayhop_protocols::ALL.iter().map(protocol).collect::<Vec<_>>(),
        "protocol": wayhop_protocols::default().name,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_has_a_meaning_and_every_set_has_its_values() {
        let forms = forms();
        let sections = forms["protocols"].as_array().unwrap().iter().chain([&forms["radio"]]);
        for section in sections {
            let properties = section["schema"]["properties"].as_object().cloned().unwrap_or_default();
            for (key, property) in &properties {
                assert!(property["description"].is_string(), "{key} of {}", section["name"]);
            }
            for set in section["sets"].as_array().unwrap() {
                for key in set["values"].as_object().unwrap().keys() {
                    assert!(properties.contains_key(key), "{key} of {}", set["name"]);
                }
            }
        }
        assert_eq!(forms["radio"]["sets"].as_array().unwrap().len(), PRESETS.len());
    }
}
