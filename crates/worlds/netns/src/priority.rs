//! Real-time priority: the loop's thread runs before the programs that it serves, where the system allows it.

use thread_priority::{
    NormalThreadSchedulePolicy, RealtimeThreadSchedulePolicy, ThreadPriority, ThreadPriorityValue,
    ThreadSchedulePolicy, set_thread_priority_and_policy, thread_native_id,
};

/// Puts this thread before all programs of usual priority, with the lowest of the real-time priorities. Without the right
/// to do that (`CAP_SYS_NICE`) it stays among them, and the run's lateness tells what that costs.
pub fn raise() {
    set(1, ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo));
}

/// Puts this thread among all programs; new threads and programs are where their parent was.
pub fn lower() {
    set(0, ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Other));
}

fn set(priority: u8, policy: ThreadSchedulePolicy) {
    if let Ok(value) = ThreadPriorityValue::try_from(priority) {
        let _ =
            set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Crossplatform(value), policy);
    }
}
