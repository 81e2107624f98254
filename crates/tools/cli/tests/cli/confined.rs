//! What an untrusted scenario's programs can do, with and without `--trust`. Needs root.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::emulate::skip_without_root;
use crate::{folder, run_in};

/// Each line tries something, and says whether it could.
const ATTEMPTS: &str = r#"
import ctypes, os, signal, socket, sys
libc = ctypes.CDLL(None, use_errno=True)

def attempt(name, what):
    try:
        what()
        print(name, "done")
    except OSError as e:
        print(name, "refused", e.strerror)

def call(number, *arguments):
    if libc.syscall(number, *arguments) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))

def write(path):
    with open(path, "w") as file:
        file.write("x")

def fork_into_user_namespace():
    # clone(2) with CLONE_NEWUSER and SIGCHLD, by its number on this processor.
    number = 56 if os.uname().machine == "x86_64" else 220
    if (pid := libc.syscall(number, 0x10000011, 0, 0, 0, 0)) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)

def see_the_run():
    # Its own command line has the text of this.
    if not any(b"--qu" b"iet" in open(f"/proc/{p}/cmdline", "rb").read() for p in os.listdir("/proc") if p.isdigit()):
        raise OSError(3, "not seen")

here, driver, outside = sys.argv[1], int(sys.argv[2]), sys.argv[3]
attempt("write-etc", lambda: write(f"/etc/wayhop-test-{driver}"))
attempt("read-shadow", lambda: open("/etc/shadow").read())
attempt("list-root", lambda: os.listdir("/root"))
attempt("kill", lambda: os.kill(driver, 0))
attempt("see-the-run", see_the_run)
attempt("setuid", lambda: os.setuid(0))
attempt("setgroups", lambda: os.setgroups([0]))
mnt = ctypes.c_char_p
attempt("mount", lambda: call(165 if os.uname().machine == "x86_64" else 40, mnt(b"none"), mnt(b"/mnt"), mnt(b"tmpfs"), 0, None))
attempt("unshare-user", lambda: libc.unshare(0x10000000) == 0 or call(-1))
attempt("clone-user", fork_into_user_namespace)
attempt("packet-socket", lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW).close())
attempt("write-outside", lambda: write(outside + "/outside"))
attempt("write-the-run", lambda: write(here + "/summary.json"))
attempt("control-sockets", lambda: os.listdir("/run/wayhop"))
attempt("write-here", lambda: write("mine.txt"))
attempt("write-tmp", lambda: write(f"/tmp/wayhop-test-{driver}"))
attempt("ping", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP).close())
attempt("serve-80", lambda: socket.create_server(("", 80)).close())
print("uid", os.getuid(), "cwd", os.getcwd(), "secret", os.environ.get("WAYHOP_TEST_SECRET"))
print([l.split()[1] for l in open("/proc/self/status") if l.startswith(("CapEff", "CapBnd", "NoNewPrivs", "Seccomp:"))])
"#;

/// What they write there; each test has its own.
fn written(folder: &str) -> PathBuf {
    Path::new(folder).join(format!("wayhop-test-{}", std::process::id()))
}

/// A scenario of one program, which tries all that.
fn scenario(dir: &Path) -> String {
    let text = format!("{:?}", ATTEMPTS.trim());
    let here = dir.join("run").display().to_string();
    format!(
        "duration_s = 15\nnodes.count = 2\nmovement = {{ kind = \"chain\", spacing_m = 200 }}\n\
         [[programs]]\nnode = 1\noutput = \"said.txt\"\n\
         command = [\"sh\", \"-c\", \"exec python3 -c \\\"$0\\\" $1 $2 $3\", {text}, {here:?}, \"{}\", {:?}]\n",
        std::process::id(),
        dir.display().to_string()
    )
}

/// What the program could do, by the names of the attempts, and what it says of itself.
fn attempts(world: &str, more: &[&str]) -> (tempfile::TempDir, Vec<String>, String) {
    let dir = folder(&[]);
    fs::write(dir.path().join("s.toml"), scenario(dir.path())).expect("a file");
    // Others may write there by its permissions; only its mount is in the way.
    fs::set_permissions(dir.path(), std::os::unix::fs::PermissionsExt::from_mode(0o777))
        .expect("permissions");
    let mut command = crate::wayhop();
    command.args([world, "s.toml", "--quiet", "--out", "run"]).args(more).env("WAYHOP_TEST_SECRET", "s3cret");
    crate::Ran::of(&command.current_dir(dir.path()).output().expect("the program runs")).ok();
    let said = fs::read_to_string(dir.path().join("run/programs/said.txt")).expect("an output");
    let done = said.lines().filter_map(|l| l.strip_suffix(" done")).map(str::to_owned).collect();
    (dir, done, said)
}

fn a_stranger_gets_nowhere(world: &str) {
    skip_without_root!();
    let (dir, done, said) = attempts(world, &[]);
    assert_eq!(done, ["write-here", "write-tmp", "ping", "serve-80"], "{said}");
    assert!(said.contains("uid 1900000001 cwd /run/node secret None"), "{said}");
    assert!(said.contains("['0000000000000000', '0000000000000000', '1', '2']"), "{said}");
    assert!(!written("/tmp").exists(), "its /tmp is its own");
    // What it leaves is the caller's.
    for file in ["programs/said.txt", "files/1/mine.txt"] {
        let file = fs::metadata(dir.path().join("run").join(file)).expect("a file");
        assert_eq!((file.uid(), file.gid()), (0, 0));
    }
    assert!(!dir.path().join("run/files/0").exists(), "where nothing ran nothing is left");
}

#[test]
fn a_strangers_program_in_an_emulation_writes_its_folder_and_nothing_else() {
    a_stranger_gets_nowhere("emulate");
}

#[test]
fn a_strangers_program_in_a_lab_writes_its_folder_and_nothing_else() {
    a_stranger_gets_nowhere("lab");
}

#[test]
fn trusted_programs_are_root() {
    skip_without_root!();
    let (_dir, done, said) = attempts("emulate", &["--trust"]);
    for could in
        ["write-etc", "read-shadow", "list-root", "setuid", "unshare-user", "write-the-run", "write-tmp"]
    {
        assert!(done.iter().any(|d| d == could), "{could}: {said}");
    }
    fs::remove_file(written("/etc")).expect("it was written");
    fs::remove_file(written("/tmp")).expect("it was written");
    assert!(said.contains("secret s3cret"), "{said}");
}

#[test]
fn what_the_user_types_has_the_users_rights_and_sees_the_node_only() {
    skip_without_root!();
    let dir = folder(&[(
        "s.toml",
        "duration_s = 30\nnodes.count = 2\nmovement = { kind = \"chain\", spacing_m = 200 }\n",
    )]);
    let command = ["emulate", "s.toml", "--no-out", "--quiet", "--node", "1", "--"];
    let look = "id -u; head -c 4 /etc/shadow; pwd; ps -eo comm=";
    let said = run_in(dir.path(), &[&command[..], &["sh", "-c", look]].concat()).ok();
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines[0] == "0" && lines[1].starts_with("root"), "{said}");
    assert!(said.contains(dir.path().to_str().expect("UTF-8")), "{said}");
    // The first process, the shell, and ps: nothing of the host's.
    assert_eq!(lines.len(), 5, "{said}");
}

#[test]
fn a_program_that_others_cannot_reach_is_named_with_the_remedy() {
    skip_without_root!();
    // Folders of tests are below /tmp, which programs do not see.
    let dir = folder(&[
        (
            "s.toml",
            "duration_s = 15\nnodes.count = 2\nmovement = { kind = \"chain\", spacing_m = 200 }\n\
            [[programs]]\nnode = 1\ncommand = [\"./mine\"]\n",
        ),
        ("mine", "#!/bin/sh\necho it runs\n"),
    ]);
    fs::set_permissions(dir.path().join("mine"), std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .expect("permissions");
    let said = run_in(dir.path(), &["emulate", "s.toml", "--quiet", "--no-out"]).failure(1);
    assert!(
        said.contains("node 1: cannot start ./mine: ")
            && said.contains("use --trust if you trust the scenario"),
        "{said}"
    );
    let said = run_in(dir.path(), &["emulate", "s.toml", "--quiet", "--no-out", "--trust"]).ok();
    assert_eq!(said, "it runs\n");
}

#[test]
fn commands_in_a_node_talk_to_runs_and_do_not_take_them_for_dead() {
    skip_without_root!();
    let dir = folder(&[(
        "s.toml",
        "name = \"inner\"\nduration_s = 30\nnodes.count = 2\nmovement = { kind = \"chain\", spacing_m = 200 }\n",
    )]);
    let wayhop = env!("CARGO_BIN_EXE_wayhop");
    let script = format!(
        "{wayhop} ctl --run inner hello && {wayhop} ctl list && ! {wayhop} exec --run inner 0 -- true 2>why && cat why && ls sockets"
    );
    let mut command = crate::wayhop();
    command.args(["emulate", "s.toml", "--no-out", "--quiet", "--node", "1", "--", "sh", "-c", &script]);
    command.current_dir(dir.path()).env("WAYHOP_RUNTIME_DIR", dir.path().join("sockets"));
    let said = crate::Ran::of(&command.output().expect("the program runs")).ok();
    assert!(said.contains("use a terminal outside"), "{said}");
    assert!(said.contains("inner.sock") && said.contains(".hosts"), "{said}");
}
