//! System calls that neither a router nor a program in a mesh needs.

use std::io;

use nix::libc::{self, c_long};
use seccompiler::SeccompCmpArgLen::Dword;
use seccompiler::SeccompCmpOp::{Eq, MaskedEq, Ne};
use seccompiler::{SeccompAction, SeccompCondition, SeccompRule};

use super::arch::{OLD, of_others, other_numbers};
use super::{REFUSED, Rules, compile};

/// Refused with EPERM: file systems, other processes' memory, other namespaces, the kernel's code and keys, clocks and names, and
/// interfaces of the kernel that give more than a program in a network asks for.
const DENIED: &[c_long] = &[
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_quotactl,
    libc::SYS_open_by_handle_at,
    libc::SYS_fanotify_init,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_syslog,
    libc::SYS_acct,
    libc::SYS_reboot,
    libc::SYS_vhangup,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_adjtimex,
    libc::SYS_clock_adjtime,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
];

/// Namespaces that a new process would be in; that of times is clone3's alone.
const NAMESPACES: [i32; 7] = [
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWCGROUP,
];

/// Ways to type at a terminal in somebody else's name (`ioctl_tty(2)`).
const TYPING: [u64; 2] = [libc::TIOCSTI as _, libc::TIOCLINUX as _];

/// Refuses this thread, and what it starts, all that is denied, sockets of other families than these, and other commands of `bpf(2)` than
/// these.
pub(super) fn deny(families: &[i32], bpf: &[u64]) -> io::Result<()> {
    // Its flags are in memory, which no filter sees. Programs fall back from ENOSYS to clone, whose
    // flags are arguments.
    let clone3 = [(libc::SYS_clone3, vec![])].into();
    let clone3 = compile(clone3, SeccompAction::Allow, SeccompAction::Errno(libc::ENOSYS as u32))?;
    let others = compile(denied(families, bpf)?, SeccompAction::Allow, REFUSED)?;
    for filter in [clone3, others] {
        seccompiler::apply_filter(&filter).map_err(io::Error::other)?;
    }
    Ok(())
}

fn denied(families: &[i32], bpf: &[u64]) -> io::Result<Rules> {
    let mut rules = Rules::new();
    let mut deny = |call: c_long, when: &[SeccompRule]| {
        for number in std::iter::once(call).chain(other_numbers(call)) {
            rules.insert(number, when.to_vec());
        }
    };
    DENIED.iter().chain(OLD).for_each(|&call| deny(call, &[]));
    let flag = |f: i32| rule(&[(0, MaskedEq(f as u64), f as u64)]);
    deny(libc::SYS_clone, &NAMESPACES.into_iter().map(flag).collect::<io::Result<Vec<_>>>()?);
    let other: Vec<_> = families.iter().map(|f| (0, Ne, *f as u64)).collect();
    deny(libc::SYS_socket, &[rule(&other)?]);
    let other: Vec<_> = bpf.iter().map(|command| (0, Ne, *command)).collect();
    // Without a condition it is denied in any case.
    let other = (!other.is_empty()).then(|| rule(&other)).transpose()?;
    deny(libc::SYS_bpf, other.as_slice());
    let typing = |request| rule(&[(1, Eq, request)]);
    deny(libc::SYS_ioctl, &TYPING.into_iter().map(typing).collect::<io::Result<Vec<_>>>()?);
    rules.extend(of_others().map(|call| (call, vec![])));
    Ok(rules)
}

/// All of these hold: an argument, how it compares, and with what.
fn rule(conditions: &[(u8, seccompiler::SeccompCmpOp, u64)]) -> io::Result<SeccompRule> {
    let one = |(argument, how, what): &(u8, seccompiler::SeccompCmpOp, u64)| {
        SeccompCondition::new(*argument, Dword, how.clone(), *what).map_err(io::Error::other)
    };
    let all = conditions.iter().map(one).collect::<io::Result<Vec<_>>>()?;
    SeccompRule::new(all).map_err(io::Error::other)
}
