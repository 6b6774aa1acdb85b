import sys, time, ray
from ray.util import placement_group
name, bundles, gpus, seconds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
ray.init()
group = placement_group([{"GPU": gpus}] * bundles, strategy="STRICT_SPREAD", name=name)
print("placement group", name, group.id.hex(), flush=True)
time.sleep(seconds)
