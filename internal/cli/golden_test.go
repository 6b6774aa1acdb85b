package cli

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/accept"
	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/display"
)

var update = flag.Bool("update", false, "write the goldens anew")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-golden +got; go test ./internal/cli -update writes it anew):\n%s", name, diff)
	}
}

// run runs one command line in a home of its own, in which no lab is up.
func run(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	code = Main(t.Context(), args, Streams{In: strings.NewReader(""), Out: &out, Err: &errs})
	return out.String(), errs.String(), code
}

// TestHelp holds the help of every command, so that a change of the command
// line is seen in review.
func TestHelp(t *testing.T) {
	t.Setenv("FIRSTLIGHT_HOME", t.TempDir())
	var visit func(cmd *cobra.Command, path []string)
	visit = func(cmd *cobra.Command, path []string) {
		if cmd.Hidden {
			return
		}
		out, _, code := run(t, append(append([]string{}, path...), "--help")...)
		if code != ExitPassed {
			t.Errorf("%v --help exits %d", path, code)
		}
		golden(t, "help/"+strings.Join(append([]string{"firstlight"}, path...), "-")+".txt", []byte(out))
		for _, c := range cmd.Commands() {
			visit(c, append(append([]string{}, path...), c.Name()))
		}
	}
	visit(newRoot(Streams{}), nil)
}

func TestPlan(t *testing.T) {
	t.Setenv("FIRSTLIGHT_HOME", t.TempDir())
	out, stderr, code := run(t, "plan")
	if code != ExitPassed {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	golden(t, "plan.txt", []byte(out))
}

func TestSiteCheckOfTheExample(t *testing.T) {
	file := filepath.Join(t.TempDir(), "site.yaml")
	if _, stderr, code := run(t, "site", "init", file); code != ExitPassed {
		t.Fatalf("site init exits %d: %s", code, stderr)
	}
	if out, stderr, code := run(t, "site", "check", file); code != ExitPassed || !strings.Contains(out, "is valid: 4 GPU nodes") {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
	if _, _, code := run(t, "site", "init", file); code != ExitUsage {
		t.Errorf("a file that is there was overwritten: exit %d", code)
	}
}

// sample has a gate of every verdict.
func sample() accept.Report {
	gate := func(name string, v check.Verdict, reason string, seconds float64) accept.Gate {
		return accept.Gate{Gate: name, Verdict: v, Reason: reason, Duration: seconds, Started: time.Date(2026, 11, 21, 1, 0, 0, 0, time.UTC)}
	}
	r := accept.Report{Run: "20261121-010000-0001", Verdict: check.Failed, Simulated: true, Site: "lab", Profile: "h100-sxm-ndr400", Evidence: "evidence/20261121-010000-0001"}
	facility := gate("facility", check.Passed, "signed off", 0.12)
	facility.KeptFrom = "20261120-010000-0001"
	facility.Figures = []check.Figure{{Name: "power demand", Value: 40.8, Unit: "kW", Limit: 51, Relation: "<="}}
	fabric := gate("fabric", check.Failed, "1 defect", 75)
	fabric.Findings = []check.Finding{{Suspect: "gpu-02/mlx5_3", Message: "runs at 200 Gb/s, not 400", Remedy: "reseat the cable"}}
	r.Gates = []accept.Gate{
		facility, fabric, gate("node", check.Blocked, "fabric is failed", 0),
		gate("gpustack", check.Unobserved, "no cluster", 1), gate("telemetry", check.NotApplicable, "a training-only cluster", 0),
	}
	r.Notes = []string{"clean up after run x: pod y is still there"}
	return r
}

func TestReport(t *testing.T) {
	t.Parallel()
	for name, colour := range map[string]bool{"report.txt": false, "report-colour.txt": true} {
		var out bytes.Buffer
		printReport(&out, sample(), display.Style{Color: colour})
		golden(t, name, out.Bytes())
	}
}

func TestExitCodes(t *testing.T) {
	t.Parallel()
	for verdict, want := range map[check.Verdict]int{
		check.Passed: 0, check.NotApplicable: 0, check.Failed: 1, check.Unobserved: 3, check.Blocked: 3, "": 3, "fine": 3,
	} {
		if got := exitCode(verdictExit(verdict)); got != want {
			t.Errorf("verdict %q exits %d, want %d", verdict, got, want)
		}
	}
}

func TestGateNames(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"": "", "1": "facility", "8": "inference", "node": "node"} {
		if got, err := gateName(in); err != nil || got != want {
			t.Errorf("%q is %q, %v", in, got, err)
		}
	}
	for _, in := range []string{"0", "9", "nod", "Node"} {
		if got, err := gateName(in); err == nil {
			t.Errorf("%q is %q", in, got)
		}
	}
}
