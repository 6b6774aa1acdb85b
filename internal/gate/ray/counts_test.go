package ray

import (
	"os/exec"
	"reflect"
	"strings"
	"testing"
)

// The results are lines of the job's log among others.
func TestParseCounts(t *testing.T) {
	t.Parallel()
	got := parseCounts(bothCounts + "gpus of bundle {\"bundle\": \n" + `gpus of bundle {"node": "n3"}` + "\n" + `x gpus of bundle {"bundle": 2}` + "\n" + `gpus of bundle {"bundle": 3, "error": "e"}`)
	want := []count{{Bundle: 1, Node: "n2", GPUs: 8}, {Bundle: 0, Node: "n1", GPUs: 7, Error: "x"}, {Bundle: 3, Error: "e"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// stubs replace ray and nvidia-smi: tasks run at once, the second one fails.
const stubs = `
import sys, types, subprocess
ray, util, strategies = types.ModuleType("ray"), types.ModuleType("ray.util"), types.ModuleType("ray.util.scheduling_strategies")
sys.modules.update({"ray": ray, "ray.util": util, "ray.util.scheduling_strategies": strategies})
class Group:
    id = bytes([1, 2])
    def wait(self, seconds): return True
class Task:
    def __init__(self, run): self.run = run
    def options(self, scheduling_strategy): return Task(self.run) if scheduling_strategy == 0 else Task(None)
    def remote(self): return self
def get(task):
    return task.run()
def remote(**given):
    assert given == {"num_cpus": 0, "num_gpus": 2, "max_retries": 0}, given
    return Task
def group(bundles, strategy, name):
    assert bundles == [{"GPU": 2}] * 2 and strategy == "STRICT_SPREAD" and name == "x", (bundles, strategy, name)
    return Group()
util.placement_group = group
strategies.PlacementGroupSchedulingStrategy = lambda placement_group, placement_group_bundle_index: placement_group_bundle_index
ray.init = lambda **given: None
ray.get, ray.remote = get, remote
ray.wait = lambda tasks, num_returns, timeout: (tasks[:1], tasks[1:])
ray.get_runtime_context = lambda: types.SimpleNamespace(get_node_id=lambda: "n1")
def run(argv, **given):
    assert argv == ["nvidia-smi", "-L"]
    return types.SimpleNamespace(returncode=0, stdout="GPU 0: NVIDIA H100 (UUID: GPU-a)\n  MIG 1g.10gb\nGPU 1: NVIDIA H100 (UUID: GPU-b)\n")
subprocess.run = run
sys.argv = ["-c", "x", "2", "2", "0.5"]
`

// The job runs with a module in place of Ray's, and its log has the results.
func TestTheJob(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 not found:", err)
	}
	program := stubs + strings.Replace(job, "int(sys.argv[4])", "float(sys.argv[4])", 1)
	out, err := exec.CommandContext(t.Context(), python, "-c", program).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got := parseCounts(string(out))
	if len(got) != 2 || got[0] != (count{Bundle: 0, Node: "n1", GPUs: 2}) || got[1].Bundle != 1 || got[1].Node != "" || got[1].Error == "" {
		t.Errorf("%+v\n%s", got, out)
	}
	if !strings.HasPrefix(string(out), "placement group x 0102\n") {
		t.Errorf("%s", out)
	}
}
