//! The runs behind each row.

use std::path::Path;

use wayhop_report::{Row, Source};

use super::options::Options;
use super::plan::{BASE_MPS, CHAIN_SEEDS, Job, MAX_HOPS, Mechanism, SPEEDS_MPS};

pub(crate) fn behind(row: &Row, dir: &Path, options: &Options) -> Vec<Source> {
    let of = |job: Job| job.plan().0.source(dir, &options.runs);
    let pattern = options.runs.first_seed;
    let with_arp = |mechanism, speed_mps| of(Job::Pattern { pattern, speed_mps, mechanism });
    let without_arp = |mechanism, speed_mps| of(Job::WithoutArp { pattern, speed_mps, mechanism });
    let of_chains = crate::Options { first_seed: 1, seeds: CHAIN_SEEDS, ..options.runs.clone() };
    let chain = |hops| Job::Chain { hops, seed: 1 }.plan().0.source(dir, &of_chains);
    let speed = SPEEDS_MPS.into_iter().find(|s| row.row.ends_with(&format!("{s} m/s")));
    let is_of = |m: &Mechanism| row.row.starts_with(m.title());
    let mechanism = || Mechanism::ALL.into_iter().find(is_of).unwrap_or(Mechanism::Reno);
    match (row.artefact.as_str(), speed) {
        ("Equation 1", _) => {
            (1..=MAX_HOPS).filter(|h| row.row.starts_with(&h.to_string())).map(chain).collect()
        }
        ("Time", _) => {
            let command = Options { mechanisms: vec![], ..options.clone() }.command();
            vec![Source {
                command: format!("{command} --out {}", dir.display()),
                directory: dir.display().to_string(),
            }]
        }
        (_, Some(speed)) => {
            let is_gain = row.quantity.starts_with("gain");
            let mechanisms = [mechanism()].into_iter().chain(is_gain.then_some(Mechanism::Reno));
            let without = row.row.contains(super::arp::NONE);
            mechanisms.map(|m| if without { without_arp(m, speed) } else { with_arp(m, speed) }).collect()
        }
        _ if row.quantity == super::arp::BY_OUR_CHAINS => {
            let pattern = with_arp(Mechanism::Reno, BASE_MPS);
            [pattern].into_iter().chain((1..=MAX_HOPS).map(chain)).collect()
        }
        _ => vec![with_arp(Mechanism::Reno, BASE_MPS)],
    }
}
