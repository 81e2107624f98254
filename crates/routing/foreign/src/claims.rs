//! What a library says about itself, unchecked.

/// A description as a library gave it. Everything in it comes from a stranger: [`crate::Facts::check`] reads it.
#[derive(Clone, Debug, Default)]
pub struct Claims {
    /// `name`.
    pub name: String,
    /// `full_name`.
    pub full_name: String,
    /// `specification`; empty if there is none.
    pub specification: String,
    /// `version`; empty if there is none.
    pub version: String,
    /// `data_plane`.
    pub data_plane: u32,
    /// `interests`.
    pub interests: u32,
    /// `position_interval_ns`.
    pub position_interval_ns: u64,
    /// `header_room`.
    pub header_room: u32,
    /// `carrier`.
    pub carrier: u8,
    /// `carrier_number`.
    pub carrier_number: u16,
    /// `parameters`.
    pub parameters: Vec<ParameterClaim>,
    /// `classes`.
    pub classes: Vec<String>,
    /// `types`: bits and names.
    pub types: Vec<(u32, String)>,
}

/// A parameter as a library gave it.
#[derive(Clone, Debug, Default)]
pub struct ParameterClaim {
    /// `key`.
    pub key: String,
    /// `type`.
    pub kind: u32,
    /// `flags`.
    pub flags: u32,
    /// `preset`.
    pub preset: String,
    /// `minimum`.
    pub minimum: Option<String>,
    /// `maximum`.
    pub maximum: Option<String>,
    /// `choices`.
    pub choices: Option<String>,
    /// `about`.
    pub about: String,
}
