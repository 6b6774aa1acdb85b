import json, subprocess, sys, time, ray
from ray.util import placement_group
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

name, bundles, gpus, seconds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
end = time.time() + seconds


def count():
    out = {"node": ray.get_runtime_context().get_node_id(), "gpus": 0}
    try:
        run = subprocess.run(["nvidia-smi", "-L"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True, timeout=60)
        out["gpus"] = sum(line.startswith("GPU ") for line in run.stdout.splitlines())
        if run.returncode != 0:
            out["error"] = "exit code %d: %s" % (run.returncode, run.stdout[-300:])
    except Exception as e:
        out["error"] = repr(e)[:300]
    return out


def on(index):
    return PlacementGroupSchedulingStrategy(placement_group=group, placement_group_bundle_index=index)


ray.init(log_to_driver=False)
group = placement_group([{"GPU": gpus}] * bundles, strategy="STRICT_SPREAD", name=name)
print("placement group", name, group.id.hex(), flush=True)
if group.wait(seconds):
    task = ray.remote(num_cpus=0, num_gpus=gpus, max_retries=0)(count)
    running = {task.options(scheduling_strategy=on(i)).remote(): i for i in range(bundles)}
    while running and time.time() < end:
        for ref in ray.wait(list(running), num_returns=1, timeout=1)[0]:
            out = {"bundle": running.pop(ref)}
            try:
                out.update(ray.get(ref))
            except Exception as e:
                out["error"] = repr(e)[:300]
            print("gpus of bundle", json.dumps(out), flush=True)
time.sleep(max(0, end - time.time()))
