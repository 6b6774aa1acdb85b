# Measures what each GPU of the pod computes on its own, all of them at once. In training the
# ranks wait for each other: their step times are those of the slowest GPU, and hide it.
# Prints a line a GPU: "gpu matmul: " and JSON.
import json
import os
import subprocess
import threading
import time

import torch

SIZE, BATCH, WARMUP, SECONDS = 8192, 32, 5.0, 10.0
GPUS = int(os.environ["GPUS_PER_NODE"])
FIRST = int(os.environ["JOB_COMPLETION_INDEX"]) * GPUS


def multiply(a, b, out, seconds):
    """Multiplies for so long; returns how many products there were and the seconds that the GPU took for them."""
    queue, products, took = [], 0, 0.0
    until = time.monotonic() + seconds
    while queue or time.monotonic() < until:
        # One batch is queued behind the one that runs, so that the GPU never waits for this program.
        while len(queue) < 2 and time.monotonic() < until:
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            for _ in range(BATCH):
                torch.mm(a, b, out=out)
            end.record()
            queue.append((begin, end))
        if queue:
            begin, end = queue.pop(0)
            end.synchronize()
            products, took = products + BATCH, took + begin.elapsed_time(end) / 1e3
    return products, took


def measure(device, lines):
    torch.cuda.set_device(device)
    a, b = (torch.randn(SIZE, SIZE, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    out = torch.empty_like(a)
    multiply(a, b, out, WARMUP)
    products, took = multiply(a, b, out, SECONDS)
    uuid = getattr(torch.cuda.get_device_properties(device), "uuid", "")
    lines[device] = {
        "rank": FIRST + device,
        "device": device,
        "uuid": "GPU-" + str(uuid) if uuid else "",
        "size": SIZE,
        "seconds": round(took, 2),
        "tflops": round(2 * SIZE**3 * products / took / 1e12, 2),
    }


def limits():
    """Asks nvidia-smi, while the GPUs work, for their power limits, those of the cards, and their clocks."""
    fields = ("powerLimitWatts", "powerDefaultWatts", "smClockMHz")
    command = ["nvidia-smi", "--query-gpu=uuid,power.limit,power.default_limit,clocks.sm", "--format=csv,noheader,nounits"]
    found = {}
    try:
        out = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
        for row in out.splitlines():
            uuid, *values = (cell.strip() for cell in row.split(","))
            found[uuid] = dict(zip(fields, (float(v) for v in values)))
    except (OSError, ValueError, subprocess.SubprocessError) as e:
        print(f"nvidia-smi: {e}", flush=True)  # the rates are known without it
    return found


measured = {}
threads = [threading.Thread(target=measure, args=(device, measured)) for device in range(GPUS)]
for thread in threads:
    thread.start()
time.sleep(WARMUP + SECONDS / 2)
under_load = limits()
for thread in threads:
    thread.join()
for device in sorted(measured):
    gpu = measured[device]
    print("gpu matmul: " + json.dumps({**gpu, **under_load.get(gpu["uuid"], {})}), flush=True)
