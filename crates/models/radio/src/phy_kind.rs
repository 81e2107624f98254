//! Families of modulations.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which airtime and error-rate formulas apply to the data and basic rates.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PhyKind {
    /// DSSS and HR/DSSS (IEEE 802.11-2020 clauses 15 and 16): 1, 2, 5.5 and 11 Mb/s.
    Dsss,
    /// ERP-OFDM (clause 18): 6 to 54 Mb/s.
    Ofdm,
    /// OFDM in the 5 GHz band (clause 17): without the 6 us of silence after each frame.
    #[serde(rename = "ofdm-5ghz")]
    Ofdm5Ghz,
}

impl PhyKind {
    /// Its rates, Mb/s.
    pub(crate) fn rates(self) -> &'static [f64] {
        match self {
            Self::Dsss => &[1.0, 2.0, 5.5, 11.0],
            Self::Ofdm | Self::Ofdm5Ghz => &[6.0, 9.0, 12.0, 18.0, 24.0, 36.0, 48.0, 54.0],
        }
    }
}
