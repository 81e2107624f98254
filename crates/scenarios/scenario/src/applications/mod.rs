//! Applications at nodes, looked up and checked.

pub(crate) mod schema;

use std::net::IpAddr;

use toml::{Table, Value};
use wayhop_core::{ApplicationDescription, ConfiguredApplication, LinkNeeds, LinkReach, NodeId};
use wayhop_document::{Document, Error, apply_set, unknown_name};

use crate::file::Scenario;
use crate::interfaces::{self, Attachment, Interfaces};
use crate::nodes::{NodeRef, Placement};
use crate::presets::overrides;
use schema::ApplicationSection;

/// The most applications in one scenario.
const MAX_APPLICATIONS: usize = 1_000_000;

/// One application at one node.
#[derive(Clone, Debug, PartialEq)]
pub struct ApplicationPlan {
    /// Where it runs.
    pub node: NodeId,
    /// What it is.
    pub application: ConfiguredApplication,
    /// What its links are attached to, in their order; `None` for the mesh.
    pub links: Vec<Option<Attachment>>,
}

/// Looks up and checks the sections `applications`.
pub(crate) fn resolve(
    scenario: &Scenario,
    placed: &Placement,
    interfaces: &Interfaces,
) -> Result<Vec<ApplicationPlan>, Error> {
    let doc = &scenario.document;
    let mut plans = Vec::new();
    for (k, section) in scenario.applications.iter().enumerate() {
        let key = format!("applications[{k}]");
        let description = wayhop_applications::find(&section.name).ok_or_else(|| {
            unknown_name(doc, &format!("{key}.name"), &section.name, wayhop_applications::names())
        })?;
        let given = with_addresses(description, section, &key, placed, doc)?;
        let parameters = overrides::application(description, &given, &key, doc)?;
        parameters.check().map_err(|e| {
            let at = e.key.map_or_else(|| key.clone(), |own| format!("{key}.{own}"));
            doc.error(&at, e.problem, e.remedy)
        })?;
        let application = ConfiguredApplication { description, parameters };
        for node in nodes(section, &key, placed, doc)? {
            check_addresses(&application, node, &key, placed, doc)?;
            let links = links(scenario, interfaces, &application, node, &key)?;
            plans.push(ApplicationPlan { node, application: application.clone(), links });
        }
        if plans.len() > MAX_APPLICATIONS {
            let remedy = "use fewer nodes or fewer applications";
            return Err(doc.error(&key, format!("more than {MAX_APPLICATIONS} applications"), remedy));
        }
    }
    Ok(plans)
}

/// The application of this name with settings of the form `key=value`; addresses where a scenario names nodes.
///
/// # Errors
/// If there is no such application or key, or a value is refused.
pub fn configure_application(name: &str, sets: &[String]) -> Result<ConfiguredApplication, Error> {
    let doc = Document::default();
    let description = wayhop_applications::find(name)
        .ok_or_else(|| unknown_name(&doc, "NAME", name, wayhop_applications::names()))?;
    let mut given = Table::new();
    sets.iter().try_for_each(|set| apply_set(&mut given, set))?;
    let parameters = overrides::application(description, &given, "--set", &doc)?;
    parameters
        .check()
        .map_err(|e| doc.error(&format!("--set {}", e.key.unwrap_or_default()), e.problem, e.remedy))?;
    Ok(ConfiguredApplication { description, parameters })
}

fn nodes(
    section: &ApplicationSection,
    key: &str,
    placed: &Placement,
    doc: &Document,
) -> Result<Vec<NodeId>, Error> {
    let Some(named) = &section.nodes else {
        return Ok((0..placed.tracks.len() as u32).map(NodeId).collect());
    };
    if named.is_empty() {
        let remedy = "name at least one node, or remove the key to run it on all nodes";
        return Err(doc.error(&format!("{key}.nodes"), "the list is empty", remedy));
    }
    named.iter().enumerate().map(|(i, n)| placed.find(n, &format!("{key}.nodes[{i}]"), doc)).collect()
}

/// What an application's links are attached to.
fn links(
    scenario: &Scenario,
    all: &Interfaces,
    application: &ConfiguredApplication,
    node: NodeId,
    key: &str,
) -> Result<Vec<Option<Attachment>>, Error> {
    let doc = &scenario.document;
    let one = |needs: LinkNeeds| {
        if needs.reach == LinkReach::Mesh {
            return Ok(None);
        }
        let at = interfaces::find(scenario, all, node, &needs.interface, key)?;
        let is_outside = |k: u16| all.wires[usize::from(k)].leads_out;
        match at {
            Attachment::Wire(k) if is_outside(k) => Ok(Some(at)),
            _ => {
                let reason = format!("{} is an interface of the mesh", needs.interface);
                let remedy = "name a wire with a `network`, or the uplink of a gateway";
                Err(doc.error(key, reason, remedy))
            }
        }
    };
    application.parameters.links().into_iter().map(one).collect()
}

/// Whether the node has the address that the application says is its own, and nobody has the one that moves.
fn check_addresses(
    application: &ConfiguredApplication,
    node: NodeId,
    key: &str,
    placed: &Placement,
    doc: &Document,
) -> Result<(), Error> {
    let (name, has) = (&placed.names[node.index()], placed.addresses[node.index()]);
    if let Some(own) = application.parameters.own_address().filter(|own| *own != has) {
        let reason = format!("node {name} has the address {has}, not {own}");
        let remedy = "give the node this address (nodes.node.address), or change it here";
        return Err(doc.error(key, reason, remedy));
    }
    let home = application.parameters.home_address();
    let Some(other) = home.and_then(|home| placed.addresses.iter().position(|a| *a == home)) else {
        return Ok(());
    };
    let reason = format!("node {} has the home address", placed.names[other]);
    Err(doc.error(key, reason, "give the node another address: the home address moves"))
}

/// The section's parameters, with the addresses of the nodes that they name.
fn with_addresses(
    description: &ApplicationDescription,
    section: &ApplicationSection,
    key: &str,
    placed: &Placement,
    doc: &Document,
) -> Result<Table, Error> {
    let mut given = section.parameters.clone();
    for own in description.nodes {
        let Some(value) = given.get_mut(*own) else { continue };
        let named = match &*value {
            Value::Integer(id) => NodeRef::Id(u32::try_from(*id).unwrap_or(u32::MAX)),
            Value::String(name) if name.parse::<IpAddr>().is_err() => NodeRef::Name(name.clone()),
            _ => continue,
        };
        let node = placed.find(&named, &format!("{key}.{own}"), doc)?;
        *value = placed.addresses[node.index()].to_string().into();
    }
    Ok(given)
}

#[cfg(test)]
mod tests {
    use crate::Scenario;

    fn resolved(applications: &str) -> Result<crate::Resolved, wayhop_document::Error> {
        let text = format!(
            "duration_s = 10\n[movement]\nkind = \"chain\"\nspacing_m = 100\n[nodes]\ncount = 3\n\
             [[nodes.node]]\nid = 2\nname = \"base\"\n{applications}"
        );
        Scenario::from_text(&text, &[])?.resolve()
    }

    #[test]
    fn nodes_are_named_where_an_application_takes_an_address() {
        for server in ["2", "\"base\"", "\"10.0.0.3\""] {
            let text = format!(
                "[[applications]]\nname = \"request\"\nnodes = [0, 1]\nserver = {server}\nthink_s = 2\n"
            );
            let plans = resolved(&text).unwrap().applications;
            assert_eq!(plans.iter().map(|p| p.node.0).collect::<Vec<_>>(), [0, 1]);
            for plan in plans {
                let values = plan.application.parameters.values();
                assert_eq!(
                    (&values["server"], &values["think_s"]),
                    (&"10.0.0.3".into(), &2.0.into()),
                    "{server}"
                );
            }
        }
        let all_nodes = resolved("[[applications]]\nname = \"request\"\n").unwrap().applications;
        assert_eq!(all_nodes.len(), 3, "without nodes, all run it");
    }

    #[test]
    fn what_is_wrong_has_its_key_and_a_remedy() {
        for (section, message) in [
            (
                "name = \"requests\"",
                "applications[0].name: unknown name \"requests\"; did you mean `request`?",
            ),
            (
                "name = \"request\"\nserver = \"bass\"",
                "applications[0].server: there is no node named \"bass\"; did you mean \"base\"?",
            ),
            (
                "name = \"request\"\nserver = 9",
                "applications[0].server: there is no node 9; the nodes are 0 to 2",
            ),
            (
                "name = \"request\"\nnodes = []",
                "applications[0].nodes: the list is empty; name at least one node",
            ),
            ("name = \"request\"\nthink = 1", "applications[0].think: unknown key; did you mean `think_s`?"),
            (
                "name = \"request\"\ntries = 0",
                "applications[0].tries: a request that is never sent; give 1 or more",
            ),
            (
                "name = \"request\"\nrequest_bytes = 3",
                "applications[0].request_bytes: a message of 3 bytes; give 16 to 1400 bytes",
            ),
        ] {
            let e = resolved(&format!("[[applications]]\n{section}\n")).unwrap_err().to_string();
            assert!(e.contains(message), "{section}: {e}");
        }
    }

    /// The roving node's scenario with something changed.
    fn roving(from: &str, to: &str) -> Result<crate::Resolved, wayhop_document::Error> {
        let text = include_str!("../../../../../scenarios/roving.toml");
        assert!(text.contains(from), "{from}");
        Scenario::from_text(&text.replace(from, to), &[])?.resolve()
    }

    #[test]
    fn links_of_applications_are_looked_up_and_addresses_checked() {
        let plans = roving("dsr", "dsr").unwrap().applications;
        let links: Vec<usize> = plans.iter().map(|p| p.links.iter().flatten().count()).collect();
        assert_eq!(links, [2, 1, 1], "the mesh is not a wire");
        for (from, to, message) in [
            (
                "interface = \"office\"\naddress",
                "interface = \"ofice\"\naddress",
                "applications[0]: there is no interface named \"ofice\"; did you mean",
            ),
            (
                "uplinks = [\"internet\"]",
                "uplinks = [\"radio\"]",
                "applications[0]: node 4 has no interface \"radio\"",
            ),
            (
                "address = \"10.1.0.1/24\"",
                "address = \"10.1.0.3/24\"",
                "applications[0]: node ha has the address 10.1.0.1, not 10.1.0.3; give",
            ),
            (
                "{ address = \"10.1.0.9\"",
                "{ address = \"10.2.0.9\"",
                "applications[0].mobiles[0].address: 10.2.0.9 is not the address of a mobile",
            ),
            (
                "home = \"10.1.0.9/24\"",
                "home = \"10.1.0.2/24\"",
                "applications[2]: node peer has the home address; give",
            ),
            ("home = \"10.1.0.9/24\"\n", "", "applications[2]: the key `home` is missing"),
            ("kind = \"mesh\"", "kind = \"mash\"", "applications[2].links: "),
        ] {
            let e = roving(from, to).unwrap_err().to_string();
            assert!(e.contains(message), "{to}: {e}");
        }
    }
}
