package e2e_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/e2e/binary"
	"github.com/firstlight/firstlight/internal/suite"
)

// drift runs the command on the shared lab; on a machine that stalled it is repeated.
func drift(t *testing.T, args ...string) (a acceptance, r binary.Result) {
	t.Helper()
	suite.Repeat(t, func() string {
		r = program.Run(t.Context(), append([]string{"drift", "-o", "json", "--lab", labName}, args...)...)
		a = decode(t, r)
		return a.unobserved()
	})
	return a, r
}

const noDrift = "stack=passed collective=passed training=passed inference=passed"

// TestDrift compares an accepted lab with its baseline: as it is, with a node that is 3 % slower,
// which passes every gate, while the driver is in the GPU Operator's pods, and with another driver.
func TestDrift(t *testing.T) {
	suite.Require(t, suite.All)
	first, r, earlier := healthyRun(t)
	if r.Code != 0 {
		t.Fatalf("exit %d\n%s", r.Code, r.Stderr)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(earlier)); err != nil {
		t.Fatal(err)
	}
	accepted := filepath.Join(dir, first.Run)
	file := filepath.Join(dir, "baseline.json")
	program.Must(t, "baseline", "record", accepted, "--file", file)

	same, r := drift(t, "--evidence", dir)
	if r.Code != 0 || same.verdicts() != noDrift {
		t.Fatalf("without a fault: exit %d: %s\n%s%s", r.Code, same.verdicts(), r.Stdout, r.Stderr)
	}
	// A comparison repeats a figure of gate training: two metrics of one name are an error.
	if m := program.Must(t, "drift", "metrics", labName, "--evidence", dir).Stdout; !strings.Contains(m, `command="drift"`) || !strings.Contains(m, `figure="busbw"`) {
		t.Errorf("the metrics of a comparison:\n%s", m)
	}
	program.Must(t, "evidence", "replay", filepath.Join(dir, same.Run))
	program.Must(t, "evidence", "verify", filepath.Join(dir, same.Run))
	if r := program.Run(t.Context(), "baseline", "show", filepath.Join(dir, same.Run)); r.Code != 2 || !strings.Contains(r.Stderr, "not an accepted run") {
		t.Errorf("a comparison as baseline: exit %d: %s", r.Code, r.Stderr)
	}

	defer program.Must(t, "lab", "fault", "clear", "--all", "--name", labName)
	program.Must(t, "lab", "fault", "add", "straggler-node", "gpu-03", "--set", "factor=1.03", "--name", labName)
	program.Must(t, "lab", "fault", "add", "driver-in-pods", "--name", labName)
	slow, r := drift(t, "--evidence", dir, "--against", file)
	if r.Code != 1 || !strings.HasPrefix(slow.verdicts(), "stack=passed collective=failed") || len(slow.Gates[1].Findings) != 1 || slow.Gates[1].Findings[0].Suspect != "gpu-03" {
		t.Errorf("a node 3 %% slower: exit %d: %s %+v", r.Code, slow.verdicts(), slow.Gates[1].Findings)
	}
	if got := binary.Origins(t, slow.Evidence, "nvidia-smi"); len(got) != 4 || !strings.Contains(strings.Join(got, "\n"), "pod gpu-operator/nvidia-driver-daemonset-") {
		t.Errorf("with a containerised driver, nvidia-smi came from %q", got)
	}
	if only, r := accept(t, "--only", "collective", "--evidence", t.TempDir()); r.Code != 0 {
		t.Errorf("gate collective with a node 3 %% slower: exit %d: %s", r.Code, only.verdicts())
	}
	program.Must(t, "lab", "fault", "clear", "--all", "--name", labName)

	program.Must(t, "lab", "fault", "add", "driver-mismatch", "gpu-03", "--name", labName)
	changed, r := drift(t, "--evidence", dir, "--against", file)
	if r.Code != 3 || changed.verdicts() != "stack=unobserved collective=blocked training=blocked inference=blocked" || !strings.Contains(changed.Gates[0].Findings[0].Remedy, "firstlight accept;") {
		t.Errorf("another driver: exit %d: %s %+v", r.Code, changed.verdicts(), changed.Gates[0].Findings)
	}
}

// Changed evidence cannot be a baseline, and neither can a run of another cluster.
func TestChangedEvidenceIsNoBaseline(t *testing.T) {
	first, _, earlier := healthyRun(t)
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(earlier)); err != nil {
		t.Fatal(err)
	}
	run := filepath.Join(dir, first.Run)
	var b struct{ Figures []struct{ Values []float64 } }
	if err := json.Unmarshal([]byte(program.Must(t, "baseline", "show", run, "-o", "json").Stdout), &b); err != nil || len(b.Figures) != 19 {
		t.Fatalf("%+v, %v", b, err)
	}
	other := filepath.Join(dir, "other.json")
	recorded := program.Must(t, "baseline", "show", run, "-o", "json").Stdout
	moved := regexp.MustCompile(`"cluster": "[^"]+"`).ReplaceAllString(recorded, `"cluster": "00000000-0000-4000-8000-000000000001"`)
	if err := os.WriteFile(other, []byte(moved), 0o600); err != nil || moved == recorded {
		t.Fatal("the cluster of the baseline is unchanged", err)
	}
	if r := program.Must(t, "drift", "metrics", labName, "--evidence", dir); !strings.Contains(r.Stdout, `figure="MFU",gate="training",site="`+labName+`",unit="fraction"} 0.4`) {
		t.Errorf("the metrics have no MFU:\n%s", r.Stdout)
	}
	rules := program.Must(t, "drift", "rules", run).Stdout
	for _, slo := range []string{"busbw", "mfu", "ttft", "tpot"} { // the gates have every figure of slo.yaml
		if !strings.Contains(rules, "slo: "+slo+"\n") {
			t.Errorf("no rule for %s:\n%s", slo, rules)
		}
	}
	if r := program.Run(t.Context(), "drift", "--lab", labName, "--evidence", dir, "--against", other); r.Code != 2 || !strings.Contains(r.Stderr, "is of cluster 00000000-") {
		t.Errorf("the baseline of another cluster: exit %d: %s", r.Code, r.Stderr)
	}
	found, err := filepath.Glob(filepath.Join(run, "observations", "*nccl-tests*.json"))
	if err != nil || len(found) == 0 {
		t.Fatalf("no observation: %v", err)
	}
	data, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(found[0], append(data, ' '), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := program.Run(t.Context(), "drift", "metrics", labName, "--evidence", dir); r.Code != 1 || !strings.Contains(r.Stdout, `firstlight_run_verified{cluster="",site="`+labName+`"} 0`) || strings.Contains(r.Stdout, "firstlight_figure{") {
		t.Errorf("the metrics of changed evidence: exit %d: %s%s", r.Code, r.Stdout, r.Stderr)
	}
	for _, args := range [][]string{{"baseline", "show", run}, {"baseline", "record", run, "--file", filepath.Join(dir, "b.json")}, {"drift", "rules", run}} {
		if r := program.Run(t.Context(), args...); r.Code != 1 || !strings.Contains(r.Stderr, "does not verify") {
			t.Errorf("%v exits %d: %s", args, r.Code, r.Stderr)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "b.json")); err == nil {
		t.Error("a baseline of changed evidence was written")
	}
}
