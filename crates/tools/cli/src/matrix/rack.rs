//! The boxes; each has some of the attenuators.

use wayhop_matrix::device::{Device, connect};

use crate::failure::{Failure, say};

/// All boxes, in the order of their channels.
pub(super) struct Rack {
    boxes: Vec<OneBox>,
}

struct OneBox {
    address: String,
    /// `None` while it does not answer.
    device: Option<Box<dyn Device>>,
    /// Setting of each channel, dB; NaN if unknown.
    taken: Vec<f64>,
}

impl Rack {
    /// Connects to all boxes; each has to answer. `switches` are the attenuators of each switch.
    pub(super) fn connect(
        addresses: &[String],
        channels: Option<u16>,
        switches: &[usize],
    ) -> Result<Self, Failure> {
        let all: usize = switches.iter().sum();
        let each = channels.map_or(all, usize::from);
        let most = each * addresses.len();
        if !addresses.is_empty() && most < all {
            return Err(Failure::Usage(format!(
                "{} boxes of {each} channels are too few for {all} attenuators; add boxes, or use fewer buses",
                addresses.len()
            )));
        }
        let is_one_each = channels.is_none() && addresses.len() == switches.len();
        let one = |(i, address): (usize, &String)| {
            let device = connect(address).map_err(|e| Failure::Run(format!("box {address}: {e}")))?;
            let channels = if is_one_each { switches[i] } else { all.saturating_sub(i * each).min(each) };
            Ok(OneBox { address: address.clone(), device: Some(device), taken: vec![f64::NAN; channels] })
        };
        Ok(Self { boxes: addresses.iter().enumerate().map(one).collect::<Result<_, Failure>>()? })
    }

    /// Sets the attenuators that changed. Returns how many were set, and how many could not be.
    pub(super) fn set(&mut self, all_db: &[f64]) -> (usize, usize) {
        let mut rest = all_db;
        let (mut set, mut unset) = (0, 0);
        for one in &mut self.boxes {
            let (mine, others) = rest.split_at(one.taken.len());
            rest = others;
            set += one.set(mine);
            unset += one.taken.iter().zip(mine).filter(|(taken, wanted)| taken != wanted).count();
        }
        (set, unset)
    }
}

impl OneBox {
    fn set(&mut self, wanted: &[f64]) -> usize {
        if self.device.is_none() {
            match connect(&self.address) {
                Ok(device) => {
                    say!("wayhop: box {} answers again", self.address);
                    // Its settings may have changed meanwhile.
                    self.taken.fill(f64::NAN);
                    self.device = Some(device);
                }
                Err(_) => return 0,
            }
        }
        let mut set = 0;
        for (i, &db) in wanted.iter().enumerate() {
            let Some(device) = &mut self.device else { break };
            if self.taken[i] == db {
                continue;
            }
            match device.set(i as u16 + 1, db) {
                Ok(()) => {
                    self.taken[i] = db;
                    set += 1;
                }
                Err(e) => {
                    say!(
                        "wayhop: box {}: {e}; keeping its last settings and retrying each second",
                        self.address
                    );
                    self.device = None;
                }
            }
        }
        set
    }
}
