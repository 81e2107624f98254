//! Applications at nodes, looked up and checked.

mod library;
pub(crate) mod schema;

use std::net::IpAddr;

use toml::{Table, Value};
use wayhop_core::{ApplicationDescription, ConfiguredApplication, LinkNeeds, LinkReach, NodeId};
use wayhop_document::{Document, Result, apply_set, unknown_name};

use crate::interfaces::{self, Attachment, Interfaces};
use crate::nodes::{NodeRef, Placement};
use crate::presets::overrides;
use schema::ApplicationSection;

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

pub(crate) fn resolve(placed: &Placement<'_>, interfaces: &Interfaces) -> Result<Vec<ApplicationPlan>> {
    let doc = placed.doc();
    let mut plans = Vec::new();
    for (k, section) in placed.scenario.applications.iter().enumerate() {
        let key = format!("applications[{k}]");
        if section.name.is_empty() {
            let remedy = "name an application, or the file of one with `library`";
            return Err(doc.error(&format!("{key}.name"), "the key is missing", remedy));
        }
        let description = wayhop_applications::find(&section.name).ok_or_else(|| {
            unknown_name(doc, &format!("{key}.name"), &section.name, wayhop_applications::names())
        })?;
        let given = with_addresses(description, section, &key, placed)?;
        let (defaults, schema) = ((description.defaults)(), (description.schema)());
        let parameters = overrides::of_json(&defaults, &schema, description.read, &given, (&key, doc))?;
        parameters.check().map_err(|e| {
            let at = e.key.map_or_else(|| key.clone(), |own| format!("{key}.{own}"));
            doc.error(&at, e.problem, e.remedy)
        })?;
        let application = ConfiguredApplication { description, parameters };
        for node in nodes(section, &key, placed)? {
            check_addresses(&application, node, &key, placed)?;
            let links = links(doc, interfaces, &application, node, &key)?;
            plans.push(ApplicationPlan { node, application: application.clone(), links });
        }
        if plans.len() > MAX_APPLICATIONS {
            let remedy = "use fewer nodes or fewer applications";
            return Err(doc.error(&key, format!("more than {MAX_APPLICATIONS} applications"), remedy));
        }
    }
    Ok(plans)
}

/// The application of this name, or of the library at this path, with settings of the form `key=value`; addresses where a
/// scenario names nodes. Fails if there is no such application or key, or a value is refused.
pub fn configure_application(name: &str, sets: &[String]) -> Result<ConfiguredApplication> {
    let doc = Document::default();
    let description = match wayhop_applications::locate(name) {
        Some(located) => {
            let path = located.map_err(|e| doc.error("NAME", e.problem, e.remedy))?;
            library::load(&path, "NAME", &doc)?
        }
        None => wayhop_applications::find(name)
            .ok_or_else(|| unknown_name(&doc, "NAME", name, wayhop_applications::names()))?,
    };
    let mut given = Table::new();
    sets.iter().try_for_each(|set| apply_set(&mut given, set))?;
    let (defaults, schema) = ((description.defaults)(), (description.schema)());
    let parameters = overrides::of_json(&defaults, &schema, description.read, &given, ("--set", &doc))
        .map_err(|e| {
            let option = e.key.clone().unwrap_or_default().replacen('.', " ", 1);
            e.key(option)
        })?;
    parameters
        .check()
        .map_err(|e| doc.error(&format!("--set {}", e.key.unwrap_or_default()), e.problem, e.remedy))?;
    Ok(ConfiguredApplication { description, parameters })
}

fn nodes(section: &ApplicationSection, key: &str, placed: &Placement<'_>) -> Result<Vec<NodeId>> {
    let Some(named) = &section.nodes else { return Ok(placed.all().collect()) };
    let key = format!("{key}.nodes");
    if named.is_empty() {
        let remedy = "name at least one node, or remove the key to run it on all nodes";
        return Err(placed.doc().error(&key, "the list is empty", remedy));
    }
    placed.find_each(named, &key)
}

/// What an application's links are attached to.
fn links(
    doc: &Document,
    all: &Interfaces,
    application: &ConfiguredApplication,
    node: NodeId,
    key: &str,
) -> Result<Vec<Option<Attachment>>> {
    let one = |needs: LinkNeeds| {
        if needs.reach == LinkReach::Mesh {
            return Ok(None);
        }
        let at = interfaces::find(doc, all, node, &needs.interface, key)?;
        match at {
            Attachment::Wire(k) if all.wires[usize::from(k)].leads_out => Ok(Some(at)),
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
    placed: &Placement<'_>,
) -> Result<()> {
    let doc = placed.doc();
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
    placed: &Placement<'_>,
) -> Result<Table> {
    let mut given = section.parameters.clone();
    for own in description.nodes {
        let Some(value) = given.get_mut(*own) else { continue };
        let named = match &*value {
            Value::Integer(id) => NodeRef::Id(u32::try_from(*id).unwrap_or(u32::MAX)),
            Value::String(name) if name.parse::<IpAddr>().is_err() => NodeRef::Name(name.clone()),
            _ => continue,
        };
        let node = placed.find(&named, &format!("{key}.{own}"))?;
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
                let expected = (&"10.0.0.3".into(), &2.0.into());
                assert_eq!((&values["server"], &values["think_s"]), expected, "{server}");
            }
        }
        let all_nodes = resolved("[[applications]]\nname = \"request\"\n").unwrap().applications;
        assert_eq!(all_nodes.len(), 3, "without nodes, all run it");
    }

    #[test]
    fn what_is_wrong_has_its_key_and_a_remedy() {
        for (section, message) in [
            ("name = \"requests\"", "name: unknown name \"requests\"; did you mean `request`?"),
            ("server = \"bass\"", "server: there is no node named \"bass\"; did you mean \"base\"?"),
            ("server = 9", "server: there is no node 9; the nodes are 0 to 2"),
            ("nodes = []", "nodes: the list is empty; name at least one node"),
            ("think = 1", "think: unknown key; did you mean `think_s`?"),
            ("tries = 0", "tries: a request that is never sent; give 1 or more"),
            ("request_bytes = 3", "request_bytes: a message of 3 bytes; give 16 to 1400 bytes"),
        ] {
            let name = if section.starts_with("name") { "" } else { "name = \"request\"\n" };
            let e = resolved(&format!("[[applications]]\n{name}{section}\n")).unwrap_err().to_string();
            assert!(e.contains(&format!("applications[0].{message}")), "{section}: {e}");
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
        let interface = "[0]: there is no interface named \"ofice\"; did you mean";
        let own = "[0]: node ha has the address 10.1.0.1, not 10.1.0.3; give";
        let mobile = "[0].mobiles[0].address: 10.2.0.9 is not the address of a mobile";
        for (key, from, to, message) in [
            ("interface = \"", "office\"\naddress", "ofice\"\naddress", interface),
            ("uplinks = [\"", "internet", "radio", "[0]: node 4 has no interface \"radio\""),
            ("address = \"", "10.1.0.1/24", "10.1.0.3/24", own),
            ("{ address = \"", "10.1.0.9", "10.2.0.9", mobile),
            ("home = \"", "10.1.0.9/24", "10.1.0.2/24", "[2]: node peer has the home address; give"),
            ("", "home = \"10.1.0.9/24\"\n", "", "[2]: the key `home` is missing"),
            ("kind = \"", "mesh", "mash", "[2].links: "),
        ] {
            let e = roving(&format!("{key}{from}"), &format!("{key}{to}")).unwrap_err().to_string();
            assert!(e.contains(&format!("applications{message}")), "{to}: {e}");
        }
    }
}
