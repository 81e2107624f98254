use crate::{run, scenario};

#[test]
fn probe() {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../scenarios/roving.toml")).unwrap();
    for protocol in ["dsr", "aodv", "dsdv"] {
        let (s, audit) = run(&scenario(&text.replace("\"dsr\"", &format!("\"{protocol}\""))));
        println!("{protocol} {:?}", audit.defect());
        for f in &s.flows { println!("{} {} {}->{} sent {:?} recv {:?} drop {:?} hops {:?}", f.id, f.kind, f.src, f.dst, f.sent, f.received, f.dropped, f.hops_mean); }
        for a in &s.applications { println!("{:?}", a); }
    }
}
