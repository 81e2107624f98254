"""The coordinator of sweeps on many machines, with a small program instead of the command."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import BrokenExecutor, ThreadPoolExecutor
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).parent.parent))

from wayhop import cluster, cluster_engines, cluster_worker  # noqa: E402

# Makes the "runs" of a plan of 40: lines with their ids. DEADLY is a run that kills the process, WRONG one that fails.
PROGRAM = """#!{python}
import glob, json, os, signal, sys
a = sys.argv[1:]
if a == ["--version"]:
    print("wayhop 1.2.3")
    sys.exit()
out = a[a.index("--out") + 1]
os.makedirs(out, exist_ok=True)
if "--prepare" in a:
    open(out + "/plan.toml", "w").write("plan")
    done = {{json.loads(line)["id"] for f in glob.glob(out + "/chunks/*.jsonl") for line in open(f)}}
    left = [f"{{n}} id{{n}}" for n in range(1, 41) if f"id{{n}}" not in done]
    told = dict(dir=os.path.realpath(out), runs=40, done=40 - len(left), left=left, run_s=0.5, files=[], recorded=False)
    print(json.dumps(told))
elif "--chunk" in a:
    assert open(a[1]).read() == "plan"
    to = a[a.index("--results") + 1]
    to = sys.stdout if to == "-" else open(to, "a")
    for line in iter(sys.stdin.readline, "\\n"):
        number, run = line.split()
        if number == os.environ.get("DEADLY"):
            os.kill(os.getpid(), signal.SIGKILL)
        if number == os.environ.get("WRONG"):
            sys.exit("wayhop: this run is wrong")
        if "FULL" in os.environ:
            sys.exit("wayhop: x.jsonl: cannot be written: No space left on device (os error 28)")
        print(json.dumps(dict(id=run)), file=to, flush=True)
"""


class Cluster(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.program = self.folder / "wayhop"
        self.program.write_text(PROGRAM.format(python=sys.executable))
        self.program.chmod(0o755)
        self.executor = ThreadPoolExecutor(2)
        self.addCleanup(self.executor.shutdown)
        for patch in [
            mock.patch.object(cluster_worker, "_FIRST_PENALTY_S", 0.01),
            mock.patch.object(cluster_worker, "_penalty_s", 0.01),
            mock.patch.object(cluster_worker, "_LONGEST_PENALTY_S", 0.01),
            mock.patch.dict(os.environ, {"WAYHOP": str(self.program)}),
            mock.patch.object(sys, "stderr"),
        ]:
            patch.start()
            self.addCleanup(patch.stop)

    def run_sweep(self, executor=None):
        arguments = ["plan.toml", "--out", str(self.folder / "out")]
        return cluster.run(arguments, executor or self.executor, program=str(self.program))

    def ids(self):
        """The runs that are done, sorted."""
        files = (self.folder / "out" / "chunks").glob("*.jsonl")
        return sorted(json.loads(line)["id"] for file in files for line in file.read_text().splitlines())

    all = sorted(f"id{n}" for n in range(1, 41))

    def test_each_run_is_made_once_with_a_shared_folder_and_without(self):
        for is_shared in (True, False):
            out = self.folder / "out"
            with mock.patch.object(cluster_worker, "_is_shared", lambda *_, is_shared=is_shared: is_shared):
                self.assertEqual(self.run_sweep(), out.resolve())
            self.assertEqual(self.ids(), self.all)
            self.assertGreater(len(list((out / "chunks").iterdir())), 2)
            for file in (out / "chunks").iterdir():
                file.unlink()

    def test_a_sweep_goes_on_where_it_was(self):
        chunks = self.folder / "out" / "chunks"
        chunks.mkdir(parents=True)
        (chunks / "old.jsonl").write_text("".join(json.dumps({"id": f"id{n}"}) + "\n" for n in range(1, 31)))
        self.run_sweep()
        self.assertEqual(self.ids(), self.all)

    def test_a_second_coordinator_of_the_same_folder_is_refused(self):
        out = self.folder / "out"
        out.mkdir()
        with cluster._folder(out), self.assertRaisesRegex(cluster.ClusterError, "another coordinator"):
            self.run_sweep()

    def test_a_run_that_kills_its_worker_is_found_and_the_others_are_made(self):
        with mock.patch.dict(os.environ, {"DEADLY": "7"}):
            with self.assertRaisesRegex(cluster.ClusterError, "run 7 of the plan was lost 5 times"):
                self.run_sweep()
        self.assertNotIn("id7", self.ids())
        self.run_sweep()
        self.assertEqual(sorted(set(self.ids())), self.all)

    def test_runs_that_a_lost_worker_wrote_are_not_given_out_again(self):
        with mock.patch.dict(os.environ, {"DEADLY": "7"}), self.assertRaises(cluster.ClusterError):
            self.run_sweep()
        # The program itself repeats what it is told to.
        self.assertEqual(len(self.ids()), len(set(self.ids())))
        left = set(self.all) - set(self.ids())
        self.assertTrue("id7" in left and len(left) < 10, left)

    def test_the_lines_of_a_lost_worker_count_up_to_one_that_it_did_not_finish(self):
        chunk = cluster._Chunk(["1 a", "2 b", "3 c", "4 d"])
        coordinator = self.coordinator()
        file = coordinator._folder / "chunks" / f"{chunk.name}.host-1.jsonl"
        file.parent.mkdir()
        file.write_text('{"id":"a"}\n[7]\n{"id":"c"}\n{"id":"d')
        self.assertEqual(coordinator._rest(chunk).runs, ["2 b", "4 d"])
        self.assertEqual((coordinator._done, chunk.is_done), (2, True))
        other = cluster._Chunk(["1 a", "2 b"])
        self.assertIs(coordinator._rest(other), other)

    def test_chunks_are_shorter_the_more_workers_die_unless_their_lines_are_kept(self):
        coordinator = self.coordinator()
        engine = coordinator._engine
        with mock.patch.object(engine, "deaths", lambda: 10), mock.patch("time.monotonic", lambda: coordinator._begun + 300):
            self.assertEqual(coordinator._longest_s(2), cluster._CHUNK_S)
            coordinator._is_shared = False
            # A worker lives for 60 s; a chunk costs 0.05 s besides its runs.
            self.assertAlmostEqual(coordinator._longest_s(2), 6**0.5)
            self.assertEqual(coordinator._longest_s(1000), cluster._CHUNK_S)

    def coordinator(self):
        told = dict(dir=str(self.folder), runs=40, done=0, left=[], run_s=0.5, files=[], recorded=False)
        (self.folder / "plan.toml").write_text("plan")
        engine = cluster_engines.of_executor(self.executor, None)
        return cluster._Coordinator(str(self.program), told, engine, "", lambda *_: None, True)

    def test_a_run_that_fails_ends_the_sweep_with_its_message(self):
        with mock.patch.dict(os.environ, {"WRONG": "7"}):
            with self.assertRaisesRegex(cluster.ClusterError, "-[0-9]+: this run is wrong"):
                self.run_sweep()

    def test_workers_of_another_version_and_with_full_disks_are_named(self):
        other = self.folder / "other"
        other.write_text("#!/bin/sh\necho wayhop 1.0.0\n")
        other.chmod(0o755)
        with mock.patch.dict(os.environ, {"WAYHOP": str(other)}):
            with self.assertRaisesRegex(cluster.ClusterError, "-[0-9]+: wayhop 1.0.0 is installed, not wayhop 1.2.3"):
                self.run_sweep()
        with mock.patch.dict(os.environ, {"FULL": "1"}), self.assertRaisesRegex(cluster.ClusterError, "the disk is full"):
            self.run_sweep()
        with mock.patch.dict(os.environ, {"WAYHOP": "/nowhere/wayhop"}):
            with self.assertRaisesRegex(cluster.ClusterError, "/nowhere/wayhop"):
                self.run_sweep()

    def test_an_executor_that_breaks_is_replaced_if_there_is_a_function_that_makes_one(self):
        made = []

        class Breaks(ThreadPoolExecutor):
            def submit(self, *arguments, **more):
                if len(made) < 3:
                    raise BrokenExecutor("a process died")
                return super().submit(*arguments, **more)

        def make():
            made.append(Breaks(2))
            return made[-1]

        with self.assertRaisesRegex(cluster.ClusterError, "finished chunks are kept"):
            self.run_sweep(Breaks(2))
        self.run_sweep(make)
        self.assertEqual((self.ids(), len(made)), (self.all, 3))

    def test_workers_that_lack_the_package_end_the_sweep_with_a_remedy(self):
        class Lacks(ThreadPoolExecutor):
            def submit(self, *arguments, **more):
                future = cluster.Future()
                future.set_exception(ModuleNotFoundError("No module named 'wayhop'"))
                return future

        with Lacks(2) as executor, self.assertRaisesRegex(cluster.ClusterError, "No module named .* install the same package"):
            self.run_sweep(executor)

    def test_a_late_chunk_is_given_to_a_second_worker(self):
        lost = []

        class Loses(ThreadPoolExecutor):
            def submit(self, fn, *arguments, **more):
                if not lost:
                    lost.append(self)
                    return cluster.Future()  # Never done, as of a worker that hangs.
                return super().submit(fn, *arguments, **more)

        with mock.patch.object(cluster, "_LATE_S", 0.1), mock.patch.object(cluster, "_LATE", 0.1):
            with Loses(3) as executor:
                self.run_sweep(executor)
        self.assertEqual(self.ids(), self.all)

    def test_a_worker_removes_the_folders_of_killed_ones_and_no_others(self):
        temporary = self.folder / "temporary"
        temporary.mkdir()
        script = "import sys, time; from wayhop import scratch; print(scratch.folder(), flush=True); time.sleep(float(sys.argv[1]))"
        environment = {**os.environ, "TMPDIR": str(temporary), "PYTHONPATH": str(Path(__file__).parent.parent)}

        def worker(seconds):
            process = subprocess.Popen([sys.executable, "-c", script, seconds], stdout=subprocess.PIPE, text=True, env=environment)
            self.addCleanup(process.stdout.close)
            self.addCleanup(process.kill)
            return process, Path(process.stdout.readline().strip())

        killed, left = worker("600")
        (left / "file").write_text("left")
        killed.kill()
        killed.wait()
        self.assertTrue(left.exists(), "a killed worker cannot remove it")
        living, held = worker("600")
        self.assertFalse(left.exists())
        other, own = worker("0")
        other.wait()
        self.assertTrue(held.exists(), "its worker lives")
        self.assertFalse(own.exists(), "it ended in order")
        living.kill()
        living.wait()

    def test_a_missing_package_is_named_with_the_way_to_install_it(self):
        with mock.patch("importlib.import_module", side_effect=ImportError("none")):
            for engine, package in [("dask:tcp://host:1", "distributed"), ("slurm", "dask-jobqueue")]:
                with self.assertRaisesRegex(cluster.MissingPackage, f"pip install {package} "):
                    cluster_engines.named(engine, None)


if __name__ == "__main__":
    unittest.main()
