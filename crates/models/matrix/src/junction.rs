//! Two switches in a row, for more radios than one box has ports.
//!
//! Some buses of the first switch are cabled from their external connectors to inputs of the second. The rest of them, and all buses of
//! the second, are not terminated, and send signals back. So there are three kinds of ways:
//!
//! * Between two radios at the first switch: over its open buses, as with one switch; and over the joined ones, through the second
//!   switch and back.
//! * Between a radio at the first and one at the second: over each joined bus, through the attenuator at the second switch's input, over
//!   each bus of the second: three attenuators, and the insertion losses of three ports.
//! * Between two radios at the second switch: over its buses, as with one switch.

use crate::switch_error::SwitchError;

/// How two switches are cabled.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Junction {
    /// Inputs of the first switch that radios are cabled to.
    pub(crate) first: usize,
    pub(crate) buses: usize,
    /// How many of these lead to inputs of the second switch.
    pub(crate) joined: usize,
    /// Buses of the second switch.
    pub(crate) second_buses: usize,
    /// Radios at inputs of the second switch, behind those of the joined buses.
    pub(crate) second: usize,
}

/// The sizes of a switch.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Size {
    /// Inputs, for radios or for buses of another switch.
    pub inputs: usize,
    /// Buses.
    pub buses: usize,
}

impl std::str::FromStr for Size {
    type Err = String;

    /// From text such as `16x4`.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?}: give inputs and buses, such as 16x4");
        let (inputs, buses) = text.trim().split_once(['x', 'X']).ok_or_else(wrong)?;
        let number = |t: &str| t.trim().parse::<usize>().map_err(|_| wrong());
        Ok(Self { inputs: number(inputs)?, buses: number(buses)? })
    }
}

impl Junction {
    /// Two switches, of whose first `joined` buses lead to inputs of the second; with these radios, as many of them as possible at the
    /// first.
    ///
    /// # Errors
    /// There are more radios than inputs, or buses or inputs are missing.
    pub fn new([first, second]: [Size; 2], joined: usize, radios: usize) -> Result<Self, SwitchError> {
        let wrong = |what: String| Err(SwitchError(what));
        if joined == 0 || joined > first.buses || joined > second.inputs {
            return wrong(format!(
                "{joined} joined buses: give at least one, and at most the first switch's {} buses and the second's {} inputs",
                first.buses, second.inputs
            ));
        }
        let room = first.inputs.saturating_add(second.inputs - joined);
        if radios > room {
            return wrong(format!(
                "{radios} radios, and the two switches have inputs for {room}: {} + {} less {joined} for the joined buses; take larger ones, or join fewer buses",
                first.inputs, second.inputs
            ));
        }
        if second.buses == 0 {
            return wrong("a second switch without a bus: give at least one".to_owned());
        }
        let at_first = radios.min(first.inputs);
        let (buses, second_buses) = (first.buses, second.buses);
        Ok(Self { first: at_first, buses, joined, second_buses, second: radios - at_first })
    }

    /// Attenuators of the first switch: what is behind them in settings is the second's.
    pub fn first_attenuators(&self) -> usize {
        self.first * self.buses
    }

    /// All attenuators: at each radio of the first switch one for each of its buses, at each used input of the second one for each of
    /// that one's.
    pub(crate) fn attenuators(&self) -> usize {
        self.first_attenuators() + (self.joined + self.second) * self.second_buses
    }

    /// Inputs that are used, of both.
    pub(crate) fn inputs(&self) -> usize {
        self.first + self.joined + self.second
    }

    /// The input of a radio, counted over both switches.
    pub(crate) fn input_of(&self, radio: usize) -> usize {
        if radio < self.first { radio } else { radio + self.joined }
    }

    /// Buses that send signals back: the open ones of the first switch, and all of the second.
    pub(crate) fn open(&self) -> usize {
        self.buses - self.joined + self.second_buses
    }

    /// Where the attenuators of an input begin, and how many it has.
    pub(crate) fn row(&self, input: usize) -> (usize, usize) {
        if input < self.first {
            (input * self.buses, self.buses)
        } else {
            (self.first_attenuators() + (input - self.first) * self.second_buses, self.second_buses)
        }
    }

    /// What is cabled to an input: a radio, or one of the joined buses.
    pub fn name_of(&self, input: usize) -> String {
        if input < self.first {
            input.to_string()
        } else if input < self.first + self.joined {
            format!("bus {}", input - self.first)
        } else {
            (input - self.joined).to_string()
        }
    }
}
