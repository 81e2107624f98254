//! The check as one JSON object.

use std::net::{Ipv4Addr, Ipv6Addr};

use serde::Serialize;
use wayhop_runs::estimate::{Estimate, packets};
use wayhop_scenario::{InForce, unit};

use super::{Check, Label};
use crate::failure::{Failure, json_line};

#[derive(Serialize)]
struct Object<'a> {
    wayhop: &'static str,
    scenario: &'a str,
    seed: u64,
    world: &'static str,
    protocol: &'a str,
    simulated_s: f64,
    values: Vec<ValueRow<'a>>,
    nodes: Vec<CheckedNode<'a>>,
    flows: Vec<Flow>,
    estimate: &'a Estimate,
    warnings: &'a [String],
}

#[derive(Serialize)]
struct ValueRow<'a> {
    key: &'a str,
    value: Option<&'a toml::Value>,
    unit: Option<&'static str>,
    #[serde(flatten)]
    label: Label,
}

#[derive(Serialize)]
struct CheckedNode<'a> {
    id: usize,
    name: &'a str,
    address: Ipv4Addr,
    #[serde(skip_serializing_if = "Option::is_none")]
    address6: Option<Ipv6Addr>,
}

#[derive(Serialize)]
struct Flow {
    id: usize,
    kind: &'static str,
    src: u32,
    /// None for all nodes.
    dst: Option<u32>,
    start_s: f64,
    stop_s: f64,
    /// None for TCP, which sends what it can.
    offered_packets: Option<f64>,
}

pub(super) fn object<'a>(
    check: &Check<'_>,
    values: &'a [InForce],
    estimate: &Estimate,
) -> Result<String, Failure> {
    let r = check.resolved;
    let node = |(id, name)| CheckedNode {
        id,
        name,
        address: r.addresses[id],
        address6: r.ipv6.as_ref().map(|plan| plan.addresses[id]),
    };
    let names = r.names.iter().map(String::as_str).enumerate();
    let flow = |(id, f): (usize, &wayhop_scenario::FlowConfig)| Flow {
        id,
        kind: f.kind.name(),
        src: f.src.0,
        dst: (!f.is_to_all()).then_some(f.dst.0),
        start_s: f.start.as_secs_f64(),
        stop_s: f.stop.unwrap_or(r.duration).min(r.duration).as_secs_f64(),
        offered_packets: packets(f, r),
    };
    let row = |v: &'a InForce| ValueRow {
        key: &v.key,
        value: v.value.as_ref(),
        unit: unit(&v.key),
        label: check.label(v),
    };
    json_line(&Object {
        wayhop: wayhop_core::version::full(),
        scenario: &r.name,
        seed: r.seed,
        world: check.world,
        protocol: r.protocol.name(),
        simulated_s: r.duration.as_secs_f64(),
        values: values.iter().map(row).collect(),
        nodes: names.map(node).collect(),
        flows: r.flows.iter().enumerate().map(flow).collect(),
        estimate,
        warnings: &check.warnings,
    })
}
