//! The bounds of the control socket.

/// The most clients at a time; for one more, that which has been idle for the longest time is told so and closed.
pub const MAX_CLIENTS: usize = 32;
/// The most of them that hear events or captures, which are never idle: the remaining places are
/// for new clients.
pub const MAX_FED: usize = 24;
/// The longest request, octets.
pub const MAX_REQUEST_BYTES: usize = 64 * 1024;
/// The longest answer, octets.
pub const MAX_ANSWER_BYTES: usize = 8 * 1024 * 1024;
/// How many requests of one client may be on their way; it is not read from until one is answered.
pub const MAX_PENDING: usize = 4;
/// How many events may wait for one subscriber; what comes beyond is counted and told.
pub const MAX_EVENTS: usize = 4096;
/// The longest frame, octets: what a capture keeps of each if nobody says.
pub const MAX_FRAME_BYTES: u32 = 65_535;
/// How much of a capture may wait for its reader, octets; frames for which there is no room are counted and told.
pub const MAX_STREAM_BYTES: usize = 2 * 1024 * 1024;
