#![no_main]

use std::fs;
use std::sync::LazyLock;

use crc::{CRC_32_ISO_HDLC, Crc};
use wayhop_protocols::CLASSIFIER;
use wayhop_trace::{Manifest, RunDir, TABLES, Tables, export_csv, outcome_rows, recover};

static SUM: Crc<u32> = Crc::<u32>::new(&CRC_32_ISO_HDLC);
/// The run directory of this process.
static DIR: LazyLock<std::path::PathBuf> = LazyLock::new(|| {
    let path = std::env::temp_dir().join(format!("wayhop-fuzz-checkpoint-{}", std::process::id()));
    drop(RunDir::create(&path, &Manifest::new("", 1, Vec::new(), 0), CLASSIFIER).expect("a run directory"));
    path
});

// A killed run: two tables that begin like Parquet's, and a checkpoint of records with right checksums. Of each record an octet tells
// kind and table, two its length.
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut checkpoint = b"WHCKPT1\n".to_vec();
    let mut rest = bytes;
    while let [head, low, high, more @ ..] = rest {
        let len = usize::from(u16::from_le_bytes([*low, *high])).min(more.len());
        let table = ["", "packets", "nodes", "events"][usize::from(head >> 3) % 4];
        let mut body = vec![head & 7, table.len() as u8];
        body.extend(table.as_bytes());
        body.extend(&more[..len]);
        checkpoint.extend((body.len() as u32).to_le_bytes());
        checkpoint.extend(SUM.checksum(&body).to_le_bytes());
        checkpoint.extend(&body);
        rest = &more[len..];
    }
    let dir = DIR.as_path();
    fs::write(dir.join("tables.checkpoint"), checkpoint).expect("a file");
    for table in ["packets", "nodes", "events"] {
        fs::write(dir.join(format!("{table}.parquet")), b"PAR1").expect("a file");
    }
    let run = RunDir::open(dir, CLASSIFIER).expect("a run");
    let _ = run.summary();
    let _ = outcome_rows(&run, |_| ());
    for table in TABLES {
        let _ = export_csv(&run, table, &mut std::io::sink());
    }
    let _ = Tables::of(&run, "dsr").packets(&mut |_| Ok(()));
    let manifest = fs::read(dir.join("manifest.json")).expect("a manifest");
    let _ = recover(dir, CLASSIFIER);
    fs::write(dir.join("manifest.json"), manifest).expect("a manifest");
    let _ = fs::remove_file(dir.join("summary.json"));
});
