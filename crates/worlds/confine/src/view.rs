//! A private file system: the machine's, read-only, and a few writable places.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{OpenOptionsExt as _, symlink};
use std::path::{Path, PathBuf};

use nix::libc;
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use nix::sys::statvfs::{FsFlags, statvfs};
use nix::unistd::{Gid, Uid, chown};

/// The working directory of a program that nobody vouches for.
pub const HOME: &str = "/run/node";
/// Its share of memory for temporary files, octets.
const TEMPORARY: u64 = 256 << 20;
/// The devices that it has.
const DEVICES: [&str; 5] = ["null", "zero", "full", "random", "urandom"];

const NONE: Option<&str> = None;

/// Gives this thread a view of the file system that it may change, as it is now. Nobody else sees the changes.
pub fn own() -> io::Result<()> {
    unshare(CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_FS)?;
    Ok(mount(NONE, "/", NONE, MsFlags::MS_REC | MsFlags::MS_PRIVATE, NONE)?)
}

/// Bind-mounts `by` over `file`.
pub fn replace(file: &Path, by: &Path) -> io::Result<()> {
    Ok(mount(Some(by), file, NONE, MsFlags::MS_BIND, NONE)?)
}

/// Shows the processes of this process's PID namespace: those of other users, too, or not.
pub fn processes(others: bool) -> io::Result<()> {
    let options = (!others).then_some("hidepid=2");
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    Ok(mount(Some("proc"), "/proc", Some("proc"), flags, options)?)
}

/// Makes what is seen read-only, hides what programs of this machine share (`/run`, `/tmp`, devices), and gives a user a place to write
/// to, which this process enters: `folder`, or one that goes with the last program in it.
pub fn confine(folder: Option<&Path>, user: Uid, group: Gid) -> io::Result<()> {
    let folder = folder.map(handle).transpose()?;
    let devices: Vec<File> =
        DEVICES.iter().map(|d| handle(&Path::new("/dev").join(d))).collect::<io::Result<_>>()?;
    for place in places(&fs::read_to_string("/proc/self/mountinfo")?) {
        make_readonly(&place)?;
    }
    let temporary = format!("mode=1777,size={TEMPORARY}");
    for place in ["/tmp", "/var/tmp"].into_iter().filter(|p| Path::new(p).is_dir()) {
        scratch(place, MsFlags::MS_NODEV, &temporary)?;
    }
    scratch("/run", MsFlags::MS_NODEV, "mode=755,size=16M")?;
    few_devices(&devices, &temporary)?;
    fs::create_dir(HOME)?;
    chown(HOME, Some(user), Some(group))?;
    if let Some(folder) = folder {
        mount(Some(&path_of(&folder)), HOME, NONE, MsFlags::MS_BIND, NONE)?;
        let flags = MsFlags::MS_REMOUNT | MsFlags::MS_BIND | MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
        mount(NONE, HOME, NONE, flags, NONE)?;
    }
    std::env::set_current_dir(HOME)
}

/// Whatever will hide it, it can be found by this.
fn handle(path: &Path) -> io::Result<File> {
    fs::OpenOptions::new().read(true).custom_flags(libc::O_PATH | libc::O_NOFOLLOW).open(path)
}

fn path_of(handle: &File) -> PathBuf {
    format!("/proc/self/fd/{}", handle.as_raw_fd()).into()
}

fn scratch(place: &str, flags: MsFlags, options: &str) -> io::Result<()> {
    Ok(mount(Some("tmpfs"), place, Some("tmpfs"), flags | MsFlags::MS_NOSUID, Some(options))?)
}

fn few_devices(devices: &[File], shared: &str) -> io::Result<()> {
    scratch("/dev", MsFlags::MS_NOEXEC, "mode=755,size=1M")?;
    for (name, device) in DEVICES.iter().zip(devices) {
        let place = Path::new("/dev").join(name);
        File::create(&place)?;
        mount(Some(&path_of(device)), &place, NONE, MsFlags::MS_BIND, NONE)?;
    }
    for (name, target) in [
        ("fd", "/proc/self/fd"),
        ("stdin", "/proc/self/fd/0"),
        ("stdout", "/proc/self/fd/1"),
        ("stderr", "/proc/self/fd/2"),
        ("ptmx", "pts/ptmx"),
    ] {
        symlink(target, Path::new("/dev").join(name))?;
    }
    fs::create_dir("/dev/shm")?;
    scratch("/dev/shm", MsFlags::MS_NODEV, shared)?;
    fs::create_dir("/dev/pts")?;
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NOEXEC;
    Ok(mount(Some("devpts"), "/dev/pts", Some("devpts"), flags, Some("newinstance,ptmxmode=0666,mode=620"))?)
}

/// Where file systems are mounted (`proc_pid_mountinfo(5)`: the fifth field).
fn places(mountinfo: &str) -> Vec<PathBuf> {
    mountinfo.lines().filter_map(|l| l.split(' ').nth(4)).map(unescaped).collect()
}

/// Blanks and the like are written as a backslash and three octal digits.
fn unescaped(field: &str) -> PathBuf {
    use std::os::unix::ffi::OsStringExt as _;
    let mut out = Vec::with_capacity(field.len());
    let mut rest = field.as_bytes();
    while let Some((&first, more)) = rest.split_first() {
        let code = (first == b'\\').then(|| more.get(..3)).flatten();
        let code = code.and_then(|c| u8::from_str_radix(str::from_utf8(c).ok()?, 8).ok());
        out.push(code.unwrap_or(first));
        rest = if code.is_some() { &more[3..] } else { more };
    }
    std::ffi::OsString::from_vec(out).into()
}

fn make_readonly(place: &Path) -> io::Result<()> {
    let now = match statvfs(place) {
        Ok(now) => now.flags(),
        // Hidden below another one, or for one user's eyes only (FUSE): out of reach for who comes here.
        Err(nix::Error::ENOENT | nix::Error::EACCES | nix::Error::ENOTDIR | nix::Error::ENOTCONN) => {
            return Ok(());
        }
        Err(e) => return Err(e.into()),
    };
    if now.contains(FsFlags::ST_RDONLY | FsFlags::ST_NOSUID) {
        return Ok(());
    }
    // Without the capabilities of files: who has none left may not execute ping, which asks for one, but does not need it here.
    let mut flags = MsFlags::MS_REMOUNT | MsFlags::MS_BIND | MsFlags::MS_RDONLY | MsFlags::MS_NOSUID;
    for (has, flag) in [
        (FsFlags::ST_NODEV, MsFlags::MS_NODEV),
        (FsFlags::ST_NOEXEC, MsFlags::MS_NOEXEC),
        (FsFlags::ST_NOATIME, MsFlags::MS_NOATIME),
        (FsFlags::ST_NODIRATIME, MsFlags::MS_NODIRATIME),
    ] {
        flags.set(flag, now.contains(has));
    }
    match mount(NONE, place, NONE, flags, NONE) {
        // Hidden below another one, this is no place to mount at; and what hides it has its own turn.
        Ok(()) | Err(nix::Error::EINVAL) => Ok(()),
        Err(e) => {
            let why = io::Error::from(e);
            Err(io::Error::new(why.kind(), format!("cannot make {} read-only: {why}", place.display())))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_with_their_blanks() {
        // As in proc_pid_mountinfo(5).
        let text = "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw\n\
                    37 35 0:5 / /mnt/with\\040a\\134\\011 rw - tmpfs none rw\nshort\n";
        assert_eq!(places(text), [PathBuf::from("/mnt2"), PathBuf::from("/mnt/with a\\\t")]);
    }
}
