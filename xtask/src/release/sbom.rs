//! The bill of materials of the program, in CycloneDX's format (version 1.6, JSON).

use std::process::Command;

use serde_json::{Value, json};

use super::linked::Linked;
use crate::command::output;

/// The libraries of the studio's page, among those that only build it: no crate has them.
const PAGE: &str = include_str!("../../../web/package-lock.json");

/// The document, for a program of these crates and of the studio's page.
pub(super) fn cyclonedx(version: &str, epoch: &str, linked: &[Linked]) -> Result<String, String> {
    let date = ["--utc", "--date", &format!("@{epoch}"), "+%Y-%m-%dT%H:%M:%SZ"];
    let time = output(Command::new("date").args(date))?;
    let mut components: Vec<Value> = linked.iter().map(of_crate).collect();
    components.extend(of_page()?);
    let own = format!("pkg:cargo/wayhop-cli@{version}");
    let all: Vec<&Value> = components.iter().map(|c| &c["bom-ref"]).collect();
    let document = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": time,
            "component": {
                "type": "application",
                "bom-ref": own,
                "name": "wayhop",
                "version": version,
                "licenses": [{ "expression": env!("CARGO_PKG_LICENSE") }],
                "purl": own,
            },
        },
        "components": components,
        "dependencies": [{ "ref": own, "dependsOn": all }],
    });
    Ok(format!("{document:#}\n"))
}

fn of_crate(c: &Linked) -> Value {
    let mut all = component(&format!("pkg:cargo/{}@{}", c.name, c.version), &c.name, &c.version, &c.licence);
    all["hashes"] = json!([{ "alg": "SHA-256", "content": c.checksum }]);
    all
}

fn of_page() -> Result<Vec<Value>, String> {
    let lock: Value = serde_json::from_str(PAGE).map_err(|e| format!("web/package-lock.json: {e}"))?;
    let packages = lock["packages"].as_object().ok_or("web/package-lock.json has no packages")?;
    let shipped = packages.iter().filter(|(_, package)| package["dev"] != true);
    let entry = |(name, package): (&str, &Value)| {
        let text =
            |key: &str| package[key].as_str().ok_or(format!("web/package-lock.json: {name} has no {key}"));
        let purl = format!("pkg:npm/{}@{}", name.replace('@', "%40"), text("version")?);
        Ok(component(&purl, name, text("version")?, text("license")?))
    };
    shipped
        .filter_map(|(path, package)| Some((path.strip_prefix("node_modules/")?, package)))
        .map(entry)
        .collect()
}

fn component(purl: &str, name: &str, version: &str, licence: &str) -> Value {
    json!({
        "type": "library",
        "bom-ref": purl,
        "name": name,
        "version": version,
        "licenses": [{ "expression": licence }],
        "purl": purl,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;
    use crate::release::{linked, packages};

    #[test]
    fn every_linked_crate_is_named_with_licence_and_checksum() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let linked = linked::crates(&root, packages::STATIC).unwrap();
        let document: Value = serde_json::from_str(&cyclonedx("0.2.0", "0", &linked).unwrap()).unwrap();
        assert_eq!(
            (&document["bomFormat"], &document["specVersion"], &document["version"]),
            (&json!("CycloneDX"), &json!("1.6"), &json!(1))
        );
        assert_eq!(document["metadata"]["timestamp"], "1970-01-01T00:00:00Z");
        let components = document["components"].as_array().unwrap();
        let mut names = BTreeSet::new();
        for c in components {
            let text =
                |key: &str| c[key].as_str().filter(|t| !t.is_empty()).unwrap_or_else(|| panic!("{key}: {c}"));
            assert_eq!(text("type"), "library");
            assert!(["pkg:cargo/", "pkg:npm/"].iter().any(|kind| text("purl").starts_with(kind)), "{c}");
            assert!(text("purl").ends_with(&format!("@{}", text("version"))), "{c}");
            assert_eq!(c["licenses"].as_array().map(Vec::len), Some(1), "{c}");
            assert!(c["licenses"][0]["expression"].as_str().is_some_and(|l| !l.contains('/')), "{c}");
            let digest = c["hashes"][0]["content"].as_str().unwrap_or_default();
            assert!(digest.len() == 64 || text("purl").starts_with("pkg:npm/"), "{c}");
            assert!(names.insert(text("bom-ref")), "twice: {c}");
        }
        assert_eq!(document["dependencies"][0]["dependsOn"].as_array().map(Vec::len), Some(names.len()));
        // Linked, in the page; for macros, for tests, for another system.
        let has = |name: &str| components.iter().any(|c| c["name"] == name);
        assert!(["parquet", "nix", "uplot"].iter().all(|name| has(name)));
        assert!(
            ["syn", "proptest", "windows-sys", "typescript", "wayhop-core"].iter().all(|name| !has(name))
        );
    }
}
