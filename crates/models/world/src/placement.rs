//! Where nodes stand that do not move.

use wayhop_core::{Position, Purpose, stream};

/// `count` nodes in a straight line along x, `spacing` metres apart, the first at `origin`.
pub fn chain(count: usize, spacing: f64, origin: Position) -> Vec<Position> {
    (0..count).map(|i| Position { x: origin.x + i as f64 * spacing, ..origin }).collect()
}

/// `count` nodes on a square grid with `columns` to a row, `spacing` metres apart in both directions, filled row by row
/// from `origin`. No columns: one row.
pub fn grid(count: usize, columns: usize, spacing: f64, origin: Position) -> Vec<Position> {
    let columns = if columns == 0 { count.max(1) } else { columns };
    (0..count)
        .map(|i| Position {
            x: origin.x + (i % columns) as f64 * spacing,
            y: origin.y + (i / columns) as f64 * spacing,
            z: origin.z,
        })
        .collect()
}

/// `count` nodes, each uniform in the box from the origin to `area` metres, from its own stream of `seed`.
pub fn uniform(count: usize, area: [f64; 3], seed: u64) -> Vec<Position> {
    (0..count)
        .map(|i| {
            let mut r = stream(seed, Purpose::Mobility, i as u64);
            Position { x: r.unit() * area[0], y: r.unit() * area[1], z: r.unit() * area[2] }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chain_and_grid_are_evenly_spaced() {
        let o = Position::new(50.0, 20.0, 1.5);
        assert_eq!(chain(3, 200.0, o)[2], Position::new(450.0, 20.0, 1.5));
        let g = grid(5, 2, 100.0, o);
        assert_eq!(g[1], Position::new(150.0, 20.0, 1.5));
        assert_eq!(g[4], Position::new(50.0, 220.0, 1.5));
        assert_eq!(grid(3, 0, 100.0, o)[2], Position::new(250.0, 20.0, 1.5));
    }

    #[test]
    fn uniform_fills_the_area_and_a_node_keeps_its_place_when_others_are_added() {
        let a = uniform(4_000, [1500.0, 300.0, 0.0], 3);
        assert!(a.iter().all(|p| (0.0..1500.0).contains(&p.x) && (0.0..300.0).contains(&p.y) && p.z == 0.0));
        // Mean of 4000 uniforms on 1500 m: standard error 1500 / sqrt(12 * 4000) = 6.85 m; five of those allowed.
        let mean = a.iter().map(|p| p.x).sum::<f64>() / a.len() as f64;
        assert!((mean - 750.0).abs() < 34.0, "{mean}");
        assert_eq!(uniform(10, [1500.0, 300.0, 0.0], 3)[..], a[..10]);
        assert_ne!(uniform(1, [1500.0, 300.0, 0.0], 4)[0], a[0]);
    }
}
