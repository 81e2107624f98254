//! Least squares.

/// The normal equations of a least-squares problem: the lower triangle of a symmetric matrix, and a
/// right side.
#[derive(Debug, Clone)]
pub struct NormalEquations {
    /// Row by row.
    matrix: Vec<f64>,
    /// The right side.
    pub right: Vec<f64>,
}

impl NormalEquations {
    /// Zeros, for this number of unknowns.
    pub fn new(unknowns: usize) -> Self {
        Self { matrix: vec![0.0; unknowns * unknowns], right: vec![0.0; unknowns] }
    }

    /// Sets everything to zero.
    pub fn clear(&mut self) {
        self.matrix.fill(0.0);
        self.right.fill(0.0);
    }

    /// An element of the matrix.
    pub fn element(&mut self, row: usize, column: usize) -> &mut f64 {
        &mut self.matrix[row * self.right.len() + column]
    }

    /// The unknowns, by Cholesky's factorisation; none unless all elements on the factor's diagonal exceed `least`, which is not negative.
    pub fn solve(self, least: f64) -> Option<Vec<f64>> {
        let (mut factor, mut x) = (self.matrix, self.right);
        let n = x.len();
        for i in 0..n {
            let (above, row) = factor.split_at_mut(i * n);
            for j in 0..i {
                let done: f64 = row[..j].iter().zip(&above[j * n..]).map(|(a, b)| a * b).sum();
                row[j] = (row[j] - done) / above[j * n + j];
            }
            let done: f64 = row[..i].iter().map(|a| a * a).sum();
            // The root of a negative number is none, and exceeds nothing.
            let pivot = Some((row[i] - done).sqrt()).filter(|root| *root > least)?;
            row[i] = pivot;
            let done: f64 = row[..i].iter().zip(&x).map(|(a, b)| a * b).sum();
            x[i] = (x[i] - done) / pivot;
        }
        for i in (0..n).rev() {
            x[i] /= factor[i * n + i];
            for j in 0..i {
                x[j] -= factor[i * n + j] * x[i];
            }
        }
        Some(x)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_solution_of_a_product_with_its_transpose_is_found(
            rows in prop::collection::vec(prop::collection::vec(-3.0_f64..3.0, 6), 6..12),
            truth in prop::collection::vec(-10.0_f64..10.0, 6),
        ) {
            // A ridge, so that no matrix is singular.
            let mut equations = NormalEquations::new(6);
            for (i, x) in truth.iter().enumerate() {
                *equations.element(i, i) += 1.0;
                equations.right[i] += x;
            }
            for row in &rows {
                let sum: f64 = row.iter().zip(&truth).map(|(a, x)| a * x).sum();
                for (i, a) in row.iter().enumerate() {
                    equations.right[i] += a * sum;
                    for (j, b) in row.iter().enumerate().take(i + 1) {
                        *equations.element(i, j) += a * b;
                    }
                }
            }
            let found = equations.solve(0.0).expect("positive definite");
            for (a, b) in found.iter().zip(&truth) {
                prop_assert!((a - b).abs() < 1e-8, "{:?} {:?}", found, truth);
            }
        }
    }

    #[test]
    fn a_matrix_that_tells_unknowns_not_apart_has_no_solution() {
        let ones = |last: f64| {
            let mut equations = NormalEquations::new(2);
            *equations.element(0, 0) = 1.0;
            *equations.element(1, 0) = 1.0;
            *equations.element(1, 1) = last;
            equations
        };
        assert_eq!(ones(1.0).solve(0.0), None);
        assert_eq!(ones(0.5).solve(0.0), None);
        assert_eq!(ones(f64::NAN).solve(0.0), None);
        assert_eq!(ones(2.0).solve(0.0), Some(vec![0.0, 0.0]));
        assert_eq!(ones(2.0).solve(1.0), None);
        // What is above the diagonal does not count.
        let mut other = ones(2.0);
        *other.element(0, 1) = 7.0;
        other.right = vec![2.0, 3.0];
        assert_eq!(other.solve(0.0), Some(vec![1.0, 1.0]));
    }
}
