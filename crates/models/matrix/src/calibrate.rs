//! The insertion loss of each port, from path losses that were measured between radios.

use serde::{Deserialize, Serialize};
use wayhop_core::NormalEquations;

use crate::switch::{Settings, Switch};
use crate::switch_error::SwitchError;

/// A measurement: between which two radios, and the path loss, dB.
pub type Measurement = (usize, usize, f64);

/// The result of a calibration, as files have it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// One-way insertion loss of each input's port, dB; with two switches the first's radios, the joined buses, the second's radios.
    pub insertion_db: Vec<f64>,
}

/// Reads measurements: one per line, `radio,radio,path loss in dB`. Empty lines and those that begin with `#` are skipped.
///
/// # Errors
/// A line is not a measurement; the message begins with its number.
pub fn measurements(text: &str) -> Result<Vec<Measurement>, SwitchError> {
    let lines = text.lines().enumerate().filter(|(_, l)| !l.trim().is_empty() && !l.starts_with('#'));
    let row = |(number, line): (usize, &str)| {
        let mut cells = line.split(',').map(str::trim);
        let mut cell = || cells.next();
        let radio = |c: Option<&str>| c.and_then(|c| c.parse::<usize>().ok());
        let found = radio(cell()).zip(radio(cell())).zip(cell().and_then(|c| c.parse::<f64>().ok()));
        found.filter(|(_, db)| (0.0..=400.0).contains(db)).map(|((i, j), db)| (i, j, db)).ok_or_else(|| {
            SwitchError(format!(
                "{}: {line:?} is not a measurement; write radio,radio,path loss in dB, such as 0,1,87.5",
                number + 1
            ))
        })
    };
    lines.map(row).collect()
}

/// The insertion loss of each port, one way, dB; and the root mean square of what they leave unexplained, dB. All measurements were made
/// with these settings.
///
/// `L_ij` less what the attenuators make is `IL_i + IL_j`: least squares over all pairs that were measured.
///
/// # Errors
/// A radio is none, or too few pairs were measured to tell the ports apart: each port needs a triangle of measured pairs.
pub fn calibrate(
    switch: &Switch,
    settings: &Settings,
    measured: &[Measurement],
) -> Result<(Vec<f64>, f64), SwitchError> {
    let n = switch.radios();
    if let Some((i, j, _)) = measured.iter().find(|(i, j, _)| i == j || *i.max(j) >= n) {
        return Err(SwitchError(format!("between radios {i} and {j}: give two radios from 0 to {}", n - 1)));
    }
    let made = switch.path_losses_db(settings);
    let rest = |&(i, j, loss): &Measurement| {
        let attenuators = made[switch.links().of(i, j)] - switch.insertion_db(i, j);
        loss - attenuators
    };
    let mut equations = NormalEquations::new(n);
    for m in measured {
        for (row, other) in [(m.0, m.1), (m.1, m.0)] {
            *equations.element(row, row) += 1.0;
            *equations.element(row, other) += 1.0;
            equations.right[row] += rest(m);
        }
    }
    let ports = equations.solve(1e-6).ok_or_else(|| {
        SwitchError(format!(
            "{} measurements do not determine {n} ports: measure all pairs of at least three radios, and \
             each other radio with one of them",
            measured.len()
        ))
    })?;
    let squares = measured.iter().map(|m| {
        let error = rest(m) - ports[m.0] - ports[m.1];
        error * error
    });
    let rms = (squares.sum::<f64>() / measured.len() as f64).sqrt();
    Ok((ports, rms))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::links::pairs;

    #[test]
    fn ports_are_found_from_what_they_make() {
        let truth = [20.0, 23.5, 25.0, 21.25];
        let switch = Switch::new(4, 2, 127.0, 1.0, 46.0).unwrap();
        let settings = Settings(vec![10, 30, 20, 5, 7, 8, 90, 3]);
        let real = switch.clone().calibrated(&truth).unwrap().path_losses_db(&settings);
        let measured: Vec<_> = pairs(4).zip(&real).map(|((i, j), &l)| (i, j, l)).collect();
        let (ports, rms) = calibrate(&switch, &settings, &measured).unwrap();
        assert!(ports.iter().zip(truth).all(|(a, b)| (a - b).abs() < 1e-5), "{ports:?}");
        assert!(rms < 1e-5);
        // A chain of pairs leaves each other port free: one up, one down.
        assert!(calibrate(&switch, &settings, &[measured[0], measured[3], measured[5]]).is_err());
        assert!(calibrate(&switch, &settings, &[(0, 4, 50.0)]).is_err());
        assert!(calibrate(&switch, &settings, &[]).is_err());
    }
}
