//! What every world does in the same way, with a world of three nodes that write down what happens to them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::thread::JoinHandle;

use serde_json::{Map, Value, json};
use tempfile::TempDir;
use wayhop_control::answer::{LinkOverride, NodePosition};
use wayhop_control::{
    Access, Client, ClientError, ControlError, ErrorCode, EventKind, LinkState, NodeRef, Owner, ParameterSet,
    Place, Request, Server,
};
use wayhop_core::{Command, Inspect, Refused};

use crate::common::about;

struct World {
    parameters: Vec<ParameterSet>,
    journal: Vec<String>,
    quit: bool,
    has_links: bool,
}

impl World {
    fn new(has_links: bool) -> Self {
        let set = ParameterSet::from(json!({"ttl": 5, "name": "x"}).as_object().cloned().unwrap_or_default());
        Self { parameters: vec![set; 3], journal: Vec::new(), quit: false, has_links }
    }
}

impl Owner for World {
    fn time_s(&self) -> f64 {
        1.5
    }
    fn inspect(&mut self, node: u32, out: &mut dyn Inspect) {
        out.row("routes", &[("destination", &"10.0.0.9"), ("hops", &node)]);
        out.row("journal", &[("lines", &self.journal.len())]);
    }
    fn counters(&mut self, node: u32) -> BTreeMap<String, u64> {
        BTreeMap::from([("sent".to_owned(), u64::from(node) * 10)])
    }
    fn parameters(&mut self, node: u32) -> &mut ParameterSet {
        &mut self.parameters[node as usize]
    }
    fn command(&mut self, node: u32, command: &Command) -> Result<(), Refused> {
        // The last node is a stubborn one.
        if let Command::SetParameters { json } = command
            && node == 2
            && json.contains("13")
        {
            return Err(Refused("ttl 13 is unlucky: take 14".to_owned()));
        }
        self.journal.push(match command {
            Command::SetParameters { json } => format!("{node} {json}"),
            other => format!("{node} {other:?}"),
        });
        Ok(())
    }
    fn position(&mut self, node: u32) -> NodePosition {
        let local = Some(Place::Local { x: f64::from(node), y: 0.0, z: 0.0 });
        NodePosition { local, ..NodePosition::default() }
    }
    fn set_position(&mut self, node: u32, place: Option<Place>) -> Result<(), ControlError> {
        self.journal.push(format!("{node} at {place:?}"));
        Ok(())
    }
    fn links(&mut self) -> Result<Vec<LinkOverride>, ControlError> {
        Ok(vec![LinkOverride { from: 0, to: 1, state: LinkState::Down }])
    }
    fn set_link(
        &mut self,
        from: u32,
        to: u32,
        state: LinkState,
        _: Option<&str>,
    ) -> Result<(), ControlError> {
        if !self.has_links {
            return Err(ControlError::unsupported("no", "do not"));
        }
        self.journal.push(format!("{from}->{to} {state:?}"));
        Ok(())
    }
    fn take_down(&mut self, node: u32, for_s: Option<f64>, lose_tables: bool) -> Result<(), ControlError> {
        self.journal.push(format!("{node} down {for_s:?} {lose_tables}"));
        Ok(())
    }
    fn bring_up(&mut self, node: u32) -> Result<(), ControlError> {
        self.journal.push(format!("{node} up"));
        Err(ControlError::is_up())
    }
    fn quit(&mut self) {
        self.quit = true;
    }
}

struct TestOwner {
    path: PathBuf,
    owner: Option<JoinHandle<World>>,
    _folder: TempDir,
}

impl TestOwner {
    fn new(mut world: World) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.sock");
        let server = Server::bind(&path, about(), Access::Owner).expect("a socket");
        let owner = std::thread::spawn(move || {
            while !world.quit {
                server.serve(&mut world);
                std::thread::sleep(std::time::Duration::from_micros(300));
            }
            world
        });
        Self { path, owner: Some(owner), _folder: folder }
    }

    fn client(&self) -> Client {
        Client::connect(&self.path).expect("a connection")
    }

    fn ask(&self, node: Option<u32>, request: Request) -> Result<Value, ControlError> {
        match self.client().ask(node.map(NodeRef::Number), request) {
            Ok(v) => Ok(v),
            Err(ClientError::Refused(e)) => Err(e),
            Err(e) => panic!("{e}"),
        }
    }

    /// Ends it by its socket, and gives what it wrote down.
    fn journal(mut self) -> Vec<String> {
        assert_eq!(self.ask(None, Request::Quit {}), Ok(Value::Null), "the end is answered");
        self.owner.take().expect("once").join().expect("no panic").journal
    }
}

fn values(v: &Value) -> Map<String, Value> {
    v.as_object().expect("an object").clone()
}

#[test]
fn questions_are_answered_for_one_node_or_for_all() {
    let run = TestOwner::new(World::new(true));
    let tables = run.ask(Some(1), Request::Tables { tables: vec!["routes".to_owned()] }).expect("tables");
    let expected = json!({"time_s": 1.5, "nodes": [{"node": 1, "name": "mid", "held": {}, "rows_left_out": 0,
        "tables": {"routes": [{"destination": "10.0.0.9", "hops": 1}]}}]});
    assert_eq!(tables, expected);
    let counters = run.ask(None, Request::Counters {}).expect("counters");
    let sent: Vec<&Value> = (0..3).map(|n| &counters["nodes"][n]["counters"]["sent"]).collect();
    assert_eq!(sent, [&json!(0), &json!(10), &json!(20)]);
    let places = run.ask(None, Request::Position {}).expect("positions");
    assert_eq!(
        (&places["nodes"][2]["name"], &places["nodes"][2]["local"]["x"]),
        (&json!("right"), &json!(2.0))
    );
    let links = run.ask(None, Request::Links {}).expect("links");
    assert_eq!(links, json!({"links": [{"from": 0, "to": 1, "state": "down"}]}));
}

#[test]
fn parameters_change_at_all_nodes_or_at_none() {
    let run = TestOwner::new(World::new(true));
    let ttls = |answer: &Value| -> Vec<u64> {
        (0..3).map(|n| answer["nodes"][n]["parameters"]["ttl"].as_u64().expect("a number")).collect()
    };
    let changed =
        run.ask(None, Request::SetParameters { values: values(&json!({"ttl": 7})) }).expect("changed");
    assert_eq!(ttls(&changed), [7, 7, 7]);
    let refused = run.ask(None, Request::SetParameters { values: values(&json!({"ttl": 13})) });
    assert_eq!(refused.expect_err("the last node refuses").code, ErrorCode::Refused);
    let now = run.ask(None, Request::Parameters {}).expect("parameters");
    assert_eq!(ttls(&now), [7, 7, 7]);
    let unknown = run.ask(Some(0), Request::SetParameters { values: values(&json!({"tll": 1})) });
    assert!(unknown.expect_err("no such key").remedy.contains("did you mean ttl?"));
    let journal = run.journal();
    let old = "{\"name\":\"x\",\"ttl\":7}";
    assert_eq!(journal.last().map(String::as_str), Some(format!("1 {old}").as_str()), "nodes were restored");
    assert_eq!(journal.iter().filter(|l| l.ends_with(old)).count(), 5, "three changes, two taken back");
}

#[test]
fn orders_reach_their_nodes_and_subscribers_are_told() {
    let run = TestOwner::new(World::new(true));
    let mut watcher = run.client();
    watcher.subscribe(None, vec![EventKind::Link, EventKind::Position]).expect("a subscription");
    let destination = Some(std::net::Ipv4Addr::new(10, 0, 0, 1).into());
    run.ask(Some(1), Request::PurgeRoutes { destination }).expect("done");
    let place = Place::Local { x: 1.0, y: 2.0, z: 0.0 };
    run.ask(Some(2), Request::SetPosition { place }).expect("done");
    let (a, b) = (NodeRef::Name("left".to_owned()), NodeRef::Number(1));
    let link = |one_way| Request::SetLink {
        a: a.clone(),
        b: b.clone(),
        one_way,
        state: LinkState::Down,
        interface: None,
    };
    run.ask(None, link(false)).expect("done");
    run.ask(None, link(true)).expect("done");
    run.ask(Some(2), Request::ReleasePosition {}).expect("done");
    let mut events = Vec::new();
    for _ in 0..4 {
        let event = watcher.event().expect("an event").expect("still there");
        events.push((event.kind(), event.node()));
    }
    let link = EventKind::Link;
    assert_eq!(events, [(EventKind::Position, Some(2)), (link, Some(0)), (link, Some(1)), (link, Some(0))]);
    assert_eq!(
        run.journal(),
        [
            "1 PurgeRoutes { destination: Some(10.0.0.1) }",
            "2 at Some(Local { x: 1.0, y: 2.0, z: 0.0 })",
            "0->1 Down",
            "1->0 Down",
            "0->1 Down",
            "2 at None",
        ]
    );
}

#[test]
fn what_cannot_be_done_is_refused_with_a_remedy() {
    let run = TestOwner::new(World::new(false));
    let place = Place::Local { x: 0.0, y: 0.0, z: 0.0 };
    let which = run.ask(None, Request::SetPosition { place }).expect_err("which node?");
    assert_eq!((which.code, which.remedy.contains("--node")), (ErrorCode::UnknownNode, true));
    let link = |a, b| Request::SetLink {
        a: NodeRef::Number(a),
        b: NodeRef::Number(b),
        one_way: false,
        interface: None,
        state: LinkState::Up,
    };
    assert_eq!(run.ask(None, link(0, 1)).expect_err("no links here").code, ErrorCode::Unsupported);
    assert_eq!(run.ask(None, link(1, 1)).expect_err("to itself").code, ErrorCode::Refused);
    assert_eq!(run.ask(None, link(0, 7)).expect_err("nobody").code, ErrorCode::UnknownNode);
    assert_eq!(run.journal(), Vec::<String>::new());
}
