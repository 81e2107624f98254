//! What gets from each radio to each open bus of two switches in a row.
//!
//! With e_i(r) the gain from radio i to a bus r that sends signals back, the gain between two radios is the sum of e_i(r) e_j(r): as
//! with one switch, but e_i(r) to a bus of the second switch is itself a sum over the joined buses, of what two attenuators leave.

use crate::junction::Junction;

/// The gains from each radio to each open bus, with the insertion losses in them.
pub(crate) struct Ways {
    /// Radio by radio: to the first switch's open buses, then to the second's.
    pub(crate) to: Vec<f64>,
    open: usize,
}

impl Ways {
    /// `gain_at` gives the gain of an attenuator.
    pub(crate) fn new(j: &Junction, ports: &[f64], gain_at: impl Fn(usize) -> f64) -> Self {
        let open = j.open();
        let mut to = vec![0.0; (j.first + j.second) * open];
        for (radio, row) in to.chunks_mut(open).enumerate() {
            fill(j, ports, &gain_at, radio, row);
        }
        Self { to, open }
    }

    pub(crate) fn of(&self, radio: usize) -> &[f64] {
        &self.to[radio * self.open..][..self.open]
    }

    pub(crate) fn gain(&self, i: usize, j: usize) -> f64 {
        self.of(i).iter().zip(self.of(j)).map(|(a, b)| a * b).sum()
    }
}

/// The gains of one radio to each open bus.
pub(crate) fn fill(
    j: &Junction,
    ports: &[f64],
    gain_at: &impl Fn(usize) -> f64,
    radio: usize,
    row: &mut [f64],
) {
    let input = j.input_of(radio);
    let port = ports[input];
    let (begin, _) = j.row(input);
    let own = j.buses - j.joined;
    if radio >= j.first {
        row[..own].fill(0.0);
        for (m, to) in row[own..].iter_mut().enumerate() {
            *to = port * gain_at(begin + m);
        }
        return;
    }
    // The joined buses are the first ones.
    for (k, to) in row[..own].iter_mut().enumerate() {
        *to = port * gain_at(begin + j.joined + k);
    }
    for (m, to) in row[own..].iter_mut().enumerate() {
        *to = (0..j.joined).map(|k| port * gain_at(begin + k) * through(j, ports, gain_at, k, m)).sum();
    }
}

/// From a joined bus to a bus of the second switch.
pub(crate) fn through(
    j: &Junction,
    ports: &[f64],
    gain_at: &impl Fn(usize) -> f64,
    bus: usize,
    m: usize,
) -> f64 {
    let input = j.first + bus;
    ports[input] * gain_at(j.row(input).0 + m)
}

/// The paths between two radios, each as a product of gains.
pub(crate) fn paths(
    junction: &Junction,
    ports: &[f64],
    gain_at: impl Fn(usize) -> f64,
    [i, j]: [usize; 2],
) -> Vec<f64> {
    let own = junction.buses - junction.joined;
    // To each open bus: one way, or one over each joined bus.
    let ways = |radio: usize, r: usize| -> Vec<f64> {
        let input = junction.input_of(radio);
        let (port, (begin, _)) = (ports[input], junction.row(input));
        match (radio < junction.first, r < own) {
            (true, true) => vec![port * gain_at(begin + junction.joined + r)],
            (true, false) => (0..junction.joined)
                .map(|k| port * gain_at(begin + k) * through(junction, ports, &gain_at, k, r - own))
                .collect(),
            (false, true) => Vec::new(),
            (false, false) => vec![port * gain_at(begin + r - own)],
        }
    };
    let over = |r: usize| {
        let (a, b) = (ways(i, r), ways(j, r));
        a.into_iter().flat_map(move |a| b.clone().into_iter().map(move |b| a * b)).collect::<Vec<_>>()
    };
    (0..junction.open()).flat_map(over).collect()
}
