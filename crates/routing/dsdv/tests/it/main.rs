//! DSDV on scripted links.

mod advertising;
mod gateway;
mod hellos;
mod hostile;
mod live;
mod losses;
mod news;
mod notices;
mod ns2;
mod parameters;
mod reboot;
mod recorded;
mod sequences;
mod settling;
mod support;
mod waiting;
