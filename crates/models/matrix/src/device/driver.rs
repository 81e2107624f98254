//! What every driver does.

use super::error::DeviceError;
use super::rcdat::{BoxAnswer, BoxCommand};

/// A box of attenuators, whose channels have the numbers from 1 on.
pub trait Device: Send {
    /// Sends a command and waits for its answer.
    ///
    /// # Errors
    /// The box does not answer in time, or what it says is no answer.
    fn ask(&mut self, command: BoxCommand) -> Result<BoxAnswer, DeviceError>;

    /// Sets an attenuator, dB.
    ///
    /// # Errors
    /// As [`Device::ask`]; or the box refuses.
    fn set(&mut self, channel: u16, db: f64) -> Result<(), DeviceError> {
        match self.ask(BoxCommand::Set { channel, db })? {
            BoxAnswer::Done => Ok(()),
            other => Err(DeviceError::Refused(format!("channel {channel} to {db} dB: it answered {other}"))),
        }
    }

    /// What an attenuator is set to, dB.
    ///
    /// # Errors
    /// As [`Device::ask`]; or the box refuses.
    fn get(&mut self, channel: u16) -> Result<f64, DeviceError> {
        match self.ask(BoxCommand::Get { channel })? {
            BoxAnswer::Attenuation(db) => Ok(db),
            other => Err(DeviceError::Refused(format!("channel {channel}: it answered {other}"))),
        }
    }
}
