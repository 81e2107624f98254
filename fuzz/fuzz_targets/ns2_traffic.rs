//! ns-2 traffic files on a movement of four nodes: read or refused; whatever is read can be sent.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use wayhop_simulator_files::ns2::Importer;

const MOVEMENT: &str = "$node_(0) set X_ 1\n$node_(1) set X_ 2\n$node_(2) set X_ 3\n$node_(3) set X_ 4\n";

fuzz_target!(|text: &str| {
    let mut importer = Importer::default();
    importer.read(Path::new("movement"), MOVEMENT).expect("four nodes");
    if importer.read(Path::new("traffic"), text).is_err() {
        return;
    }
    if let Ok(read) = importer.finish(None) {
        for flow in &read.flows {
            flow.check().expect("a flow that can be sent");
            assert!(
                flow.src.index() < read.tracks.len()
                    && flow.dst.index() < read.tracks.len()
                    && flow.src != flow.dst
            );
        }
    }
});
