//! The application that receives the flows' packets.

use wayhop_core::{Application, ApplicationCx, TimerKey};

/// Listens on these ports and ignores the data: its host measures.
pub(super) struct Receiver(pub(super) Vec<u16>);

impl Application for Receiver {
    fn start(&mut self, cx: &mut ApplicationCx<'_>) {
        self.0.iter().for_each(|port| cx.listen(*port));
    }
    fn on_timer(&mut self, _: &mut ApplicationCx<'_>, _: TimerKey) {}
    fn restart(&mut self) {}
    fn figures(&self, _: &mut dyn FnMut(&'static str, f64)) {}
}
