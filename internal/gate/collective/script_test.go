package collective

import (
	"encoding/base64"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
)

func TestScriptIsBash(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), bash, "-n", "-c", script)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

func TestSpec(t *testing.T) {
	t.Parallel()
	g := testGate(t, testSite())
	spec, err := g.spec(g.all(tests[0]))
	if err != nil {
		t.Fatal(err)
	}
	key, err := base64.StdEncoding.DecodeString(spec.Env["SSH_IDENTITY"])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ssh.ParsePrivateKey(key); err != nil {
		t.Error(err)
	}
	delete(spec.Env, "SSH_IDENTITY")
	for name, want := range map[string]string{
		"MIN_BYTES": "8M", "MAX_BYTES": "16G", "REPETITIONS": "3", "GPUS_PER_NODE": "8", "NNODES": "4", "NCCL_DEBUG": "INFO",
		"NCCL_IB_HCA": "=mlx5_0,mlx5_1,mlx5_2,mlx5_3,mlx5_4,mlx5_5,mlx5_6,mlx5_7", "JOB_NAME": "collective",
	} {
		if spec.Env[name] != want {
			t.Errorf("%s is %q, want %q", name, spec.Env[name], want)
		}
	}
	if spec.Pods != 4 || spec.MinCount != 4 || spec.GPUs != 8 || !spec.OnePerNode || len(spec.Nodes) != 4 || spec.NetworkCount != 8 {
		t.Errorf("%+v", spec)
	}
	if !strings.Contains(spec.Script, "all_reduce_perf") || !strings.Contains(spec.Script, "mpirun") {
		t.Error("the script does not run the test")
	}
	if g.Claims() != 32 || len(g.Describe()) == 0 {
		t.Error(g.Claims(), g.Describe())
	}
	pair := func(of test, from, round int) string {
		return job{test: of, round: round}.on(every()[from : from+2]).name()
	}
	names := []string{pair(tests[0], 0, 1), pair(tests[0], 1, 1), pair(tests[0], 0, 2), pair(tests[1], 0, 1), g.all(tests[0]).name(), g.all(tests[2]).name(), job{rail: "mlx5_10"}.name(), job{rail: "mlx5_1"}.name()}
	for i, name := range names {
		if len(name) > 40 || slices.Contains(names[:i], name) || strings.Contains(name, "_") {
			t.Error(name)
		}
	}
}

// "=" selects no device: NCCL would use none, also on nodes that have one.
func TestWithoutHCAsNoneIsSelected(t *testing.T) {
	t.Parallel()
	s := testSite()
	s.Fabric.HCAs = nil
	g := testGate(t, s)
	spec, err := g.spec(g.all(tests[0]))
	if err != nil {
		t.Fatal(err)
	}
	if hcas, set := spec.Env["NCCL_IB_HCA"]; set {
		t.Errorf("NCCL_IB_HCA is %q", hcas)
	}
}

// Pods of a Job have names by its own, those of other kinds the names in HOSTS.
func TestNamesOfPods(t *testing.T) {
	t.Parallel()
	var names []string
	for line := range strings.Lines(script) {
		if strings.HasPrefix(line, "read -ra hosts") || strings.HasPrefix(line, "host()") {
			names = append(names, line)
		}
	}
	for hosts, want := range map[string]string{"": "reduce-1.reduce", "reduce-launcher.reduce reduce-worker-0.reduce": "reduce-worker-0.reduce"} {
		cmd := exec.CommandContext(t.Context(), "/bin/bash", "-ec", strings.Join(names, "")+"host 1")
		cmd.Env = []string{"JOB_NAME=reduce", "HOSTS=" + hosts}
		if out, err := cmd.CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != want {
			t.Errorf("HOSTS=%q: %s, %v; want %s", hosts, out, err, want)
		}
	}
}
