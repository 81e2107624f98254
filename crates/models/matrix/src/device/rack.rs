//! Several boxes; each has some of the attenuators.

use super::connect::connect;
use super::driver::Device;
use super::error::DeviceError;

/// All boxes, in the order of their channels.
pub struct Rack {
    boxes: Vec<RackBox>,
}

struct RackBox {
    address: String,
    /// `None` while it does not answer.
    device: Option<Box<dyn Device>>,
    /// Setting of each channel, dB; NaN if unknown.
    taken: Vec<f64>,
}

/// What became of one setting of the whole rack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RackUpdate {
    /// Attenuators that were set.
    pub set: usize,
    /// Attenuators that could not be set: they have an older or unknown setting.
    pub unset: usize,
    /// Boxes that stopped answering, or answer again.
    pub notices: Vec<String>,
}

impl Rack {
    /// Connects to all boxes; each has to answer. `switches` are the attenuators of each switch.
    ///
    /// # Errors
    /// There are too few channels, or a box does not answer.
    pub fn connect(
        addresses: &[String],
        channels: Option<u16>,
        switches: &[usize],
    ) -> Result<Self, DeviceError> {
        let all: usize = switches.iter().sum();
        let each = channels.map_or(all, usize::from);
        if !addresses.is_empty() && each * addresses.len() < all {
            return Err(DeviceError::TooFewChannels { boxes: addresses.len(), each, attenuators: all });
        }
        let is_one_each = channels.is_none() && addresses.len() == switches.len();
        let one = |(i, address): (usize, &String)| {
            let device = connect(address)
                .map_err(|e| DeviceError::Box { address: address.clone(), error: Box::new(e) })?;
            let channels = if is_one_each { switches[i] } else { all.saturating_sub(i * each).min(each) };
            Ok(RackBox { address: address.clone(), device: Some(device), taken: vec![f64::NAN; channels] })
        };
        Ok(Self { boxes: addresses.iter().enumerate().map(one).collect::<Result<_, DeviceError>>()? })
    }

    /// Sets the attenuators that changed.
    pub fn set(&mut self, all_db: &[f64]) -> RackUpdate {
        let mut rest = all_db;
        let mut update = RackUpdate::default();
        for one in &mut self.boxes {
            let (mine, others) = rest.split_at(one.taken.len());
            rest = others;
            one.set(mine, &mut update);
            update.unset += one.taken.iter().zip(mine).filter(|(taken, wanted)| taken != wanted).count();
        }
        update
    }
}

impl RackBox {
    fn set(&mut self, wanted: &[f64], update: &mut RackUpdate) {
        if self.device.is_none() {
            let Ok(device) = connect(&self.address) else { return };
            update.notices.push(format!("box {} answers again", self.address));
            // Its settings may have changed meanwhile.
            self.taken.fill(f64::NAN);
            self.device = Some(device);
        }
        for (i, &db) in wanted.iter().enumerate() {
            let Some(device) = &mut self.device else { break };
            if self.taken[i] == db {
                continue;
            }
            match device.set(i as u16 + 1, db) {
                Ok(()) => {
                    self.taken[i] = db;
                    update.set += 1;
                }
                Err(e) => {
                    let what = "keeping its last settings and retrying each second";
                    update.notices.push(format!("box {}: {e}; {what}", self.address));
                    self.device = None;
                }
            }
        }
    }
}
