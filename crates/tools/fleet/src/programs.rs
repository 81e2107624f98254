//! Scripts for the programs that start with the nodes: receivers, captures, agents, traffic. Their output is fetched with the runs.

use crate::config::Host;
use crate::program::Program;
use crate::quote::quote;
use crate::script::WAIT;

/// Finds a program that is still running on a host, from the recorded process IDs.
pub(crate) const ANY_RUNS: &str = r#"
running_program() {
    for file in "$dir"/programs/*.pid; do
        if is_process "$file"; then program=${file##*/}; program=${program%.pid}; return 0; fi
    done
    return 1
}
"#;

/// Stops the sessions that are still running; those that do not end within 10 s are killed.
pub(crate) const END: &str = r#"
key=a
for file in "$dir"/programs/*.pid; do
    [ -e "$file" ] || continue
    program=${file##*/}; program=${program%.pid}; outcome=over
    if is_process "$file"; then
        root kill -s TERM -- "-$pid" 2>/dev/null
        outcome=ended; i=0
        while is_process "$file"; do
            i=$((i + 1))
            if [ "$i" -gt 100 ]; then root kill -s KILL -- "-$pid" 2>/dev/null; outcome=killed; fi
            if [ "$i" -gt 120 ]; then outcome=stays; break; fi
            if [ $((i % 10)) = 0 ]; then echo .; fi
            sleep 0.1 2>/dev/null || sleep 1
        done
    fi
    say "program_$key" "$program $outcome"
    [ "$outcome" = stays ] || rm -f -- "$file"
    key=a$key
done
"#;

/// Starts a program as [`crate::start`] does with the node, but below a shell that records its exit status.
const BEGIN: &str = r#"
out=$dir/runs/$run/$name.programs/@PROGRAM@
mkdir -p -- "$out" "$dir/programs" || exit 1
setsid sh -c '
at=$1; out=$2; shift 2; ended=
trap "ended=yes" TERM INT HUP
@WAIT@[ -z "$ended" ] || exit 143
"$@"
echo "$?" > "$out/status"' sh @AT@ "$out" @COMMAND@ </dev/null >"$out/stdout.log" 2>"$out/stderr.log" &
pid=$!
printf '%s %s %s\n' "$pid" "$(began "$pid")" "$(cat /proc/sys/kernel/random/boot_id)" > "$dir/programs/@PROGRAM@.pid" || exit 1
"#;

/// A program's command as words for the host's shell, in which `dir` and `out` are set.
fn words(program: &Program, host: &Host) -> Vec<String> {
    let word = |w: &String| {
        let w = w.replace("{host}", &host.name).replace("{node}", &host.node);
        // Leave the single quotes and enter them again.
        quote(&w).replace("{out}", "'\"$out\"'").replace("{files}", "'\"$dir/files\"'")
    };
    let mut words: Vec<String> = program.command.iter().map(word).collect();
    if program.command.first().is_some_and(|w| w == "wayhop") {
        "\"$wayhop\"".clone_into(&mut words[0]);
    }
    words
}

pub(crate) fn check(program: &Program, host: &Host) -> String {
    let words = words(program, host);
    let root = if program.root { "root " } else { "" };
    let limits = if program.for_s.is_some() { " timeout" } else { "" };
    let tell =
        format!("{} needs $word, which is missing; install it, or correct \\`command\\`", program.name);
    format!(
        "out=$dir\nfor word in {}{limits}; do {root}sh -c 'command -v -- \"$1\"' sh \"$word\" >/dev/null 2>&1 || \
             say wrong \"{tell}\"; done\n",
        words[0]
    )
}

/// Starts a program on a host whose clock shows `at_ns` when the nodes start.
pub(crate) fn begin(program: &Program, host: &Host, at_ns: i128) -> String {
    let mut words = words(program, host);
    if let Some(s) = program.for_s {
        words.splice(0..0, ["timeout".to_owned(), s.to_string()]);
    }
    if program.root && host.sudo {
        words.splice(0..0, ["sudo", "-n", "--"].map(str::to_owned));
    }
    let at = (at_ns + (program.at_s * 1e9) as i128).to_string();
    BEGIN
        .replace("@PROGRAM@", &program.name)
        .replace("@WAIT@", WAIT)
        .replace("@AT@", &at)
        .replace("@COMMAND@", &words.join(" "))
}
