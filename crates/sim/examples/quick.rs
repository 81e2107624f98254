//! x
use std::collections::BTreeMap;
use wayhop_core::*;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let text = std::fs::read_to_string(&a[1]).unwrap();
    let flows = std::fs::read_to_string(&a[2]).unwrap();
    let (proto, dur, seed) = (a[3].clone(), a[4].parse::<f64>().unwrap(), a[5].parse::<u64>().unwrap());
    let mut init: BTreeMap<usize, [f64; 3]> = BTreeMap::new();
    let mut moves = vec![];
    for l in text.lines() {
        let num = |s: &str| s.split(['(', ')']).nth(1).unwrap().parse::<usize>().unwrap();
        let f: Vec<&str> = l.split_whitespace().collect();
        if l.starts_with("$node_") { let i = num(l); let k = match f[2] { "X_" => 0, "Y_" => 1, _ => 2 }; init.entry(i).or_default()[k] = f[3].parse().unwrap(); }
        else if l.contains("setdest") { let n = num(f[3]); moves.push((f[2].parse::<f64>().unwrap(), n, f[5].parse::<f64>().unwrap(), f[6].parse::<f64>().unwrap(), f[7].trim_end_matches('"').parse::<f64>().unwrap())); }
    }
    let n = init.len();
    let mut b: Vec<wayhop_world::TrackBuilder> = (0..n).map(|i| wayhop_world::TrackBuilder::new(Position::new(init[&i][0], init[&i][1], init[&i][2]))).collect();
    for (t, n, x, y, v) in moves { b[n].set_destination(Time::from_secs_f64(t), x, y, v); }
    let list = flows.lines().filter(|l| !l.starts_with('#')).map(|l| { let f: Vec<f64> = l.split_whitespace().map(|x| x.parse().unwrap()).collect(); wayhop_sim::Quick { src: f[0] as u32, dst: f[1] as u32, start: f[2], interval: f[3], bytes: f[4] as usize } }).collect();
    let setup = wayhop_sim::Setup { seed, duration: Span::from_secs_f64(dur), addrs: (0..n as u32).map(|i| NodeId(i).default_addr()).collect(), tracks: b.into_iter().map(|b| b.finish()).collect(), radio: wayhop_radio::RadioConfig::preset("wavelan-914-cmu").unwrap(), flows: list };
    let profile = a.get(6).map_or("ns2", |s| s.as_str()).to_string();
    let make = move || -> Box<dyn Protocol> { if proto == "dsr" { Box::new(wayhop_dsr::Engine::new(wayhop_dsr::Params::profile(&profile).unwrap())) } else { todo!() } };
    let t = std::time::Instant::now();
    let mut s = wayhop_sim::Simulation::new(setup, &make, wayhop_trace::Recorder::hash_only());
    s.run(|_| std::ops::ControlFlow::Continue(()));
    let el = t.elapsed();
    s.print();
    println!("wall {:.3}", el.as_secs_f64());
}
