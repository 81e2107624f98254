"""The parts of a sweep as tasks of HyperQueue, with a server and a worker in this process: python3 hyperqueue_sweep.py PARTS

In a folder with plan.toml and `wayhop` in PATH. The package has no `hq`, but what that starts and calls.
"""

import subprocess
import sys

from hyperqueue import Job, LocalCluster
from hyperqueue.cluster import WorkerConfig

FOLDER = "runs/sweep-plan"


def main(parts):
    prepare = ["wayhop", "sweep", "plan.toml", "--out", FOLDER, "--prepare", "--quiet"]
    subprocess.run(prepare, check=True, stdout=subprocess.DEVNULL)
    # The command of docs/concepts/clusters.md.
    command = f"set -- $HQ_ENTRY; exec wayhop sweep $1/plan.toml --chunk $2/{parts} --jobs 1 --quiet"
    with LocalCluster(worker_config=WorkerConfig(cores=2)) as cluster:
        client = cluster.client()
        job = Job()
        for part in range(1, parts + 1):
            job.program(["sh", "-c", command], env={"HQ_ENTRY": f"{FOLDER} {part}"}, stdout=None, stderr=None)
        # Raises what the tasks that failed said.
        client.wait_for_jobs([client.submit(job)])


main(int(sys.argv[1]))
