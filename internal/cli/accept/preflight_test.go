package accept

import (
	"bytes"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/cli/clitest"
	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/display"
	"github.com/firstlight/firstlight/internal/golden"
	"github.com/firstlight/firstlight/internal/preflight"
)

func TestPrintPreflight(t *testing.T) {
	t.Parallel()
	r := preflight.Report{Site: "lab", Profile: "h100-sxm-ndr400", Gates: []string{"fabric", "node"}, Result: preflight.WouldStop, Duration: 1.25}
	for _, host := range []string{"gpu-01", "gpu-02", "gpu-03", "gpu-04", "gpu-05", "gpu-06"} {
		l := preflight.Line{Check: "dcgmi", Target: host, Result: preflight.OK, Observed: "runs, version 4.4.1"}
		if host == "gpu-03" {
			l.Result, l.Observed, l.Remedy = preflight.WouldStop, "not found; it printed: bash: dcgmi: command not found", "install DCGM"
		}
		r.Lines = append(r.Lines, l)
	}
	r.Lines = append(r.Lines,
		preflight.Line{Check: "image", Target: "vllm:1", Result: preflight.Unobserved, Observed: "the registry\x1b[31m requires credentials", Remedy: "give it a pull secret"},
		preflight.Line{Check: "image", Target: "nccl:1", Result: preflight.OK, Observed: "present on all 4 nodes"})
	var out bytes.Buffer
	printPreflight(&out, r, display.Style{})
	golden.Compare(t, "testdata/golden/preflight.txt", out.Bytes())
}

// The exit codes are those of a run.
func TestExitCodesOfAPreflight(t *testing.T) {
	t.Parallel()
	for r, want := range map[preflight.Result]int{preflight.OK: cmdutil.ExitPassed, preflight.WouldStop: cmdutil.ExitFailed, preflight.Unobserved: cmdutil.ExitUnobserved, "": cmdutil.ExitUnobserved} {
		if got := cmdutil.ExitCode(cmdutil.VerdictError(verdictOf(r))); got != want {
			t.Errorf("%q exits %d, want %d", r, got, want)
		}
	}
	if verdictOf(preflight.OK) != check.Passed {
		t.Error("no obstacle is not passed")
	}
}

func TestPreflightResumesNothing(t *testing.T) {
	t.Setenv("FIRSTLIGHT_HOME", t.TempDir())
	for _, line := range []string{"accept --preflight --resume latest", "accept --preflight --fresh"} {
		if _, stderr, code := clitest.Run(t, New, strings.Fields(line)...); code != cmdutil.ExitUsage || !strings.Contains(stderr, "none of the others can be") {
			t.Errorf("%s exits %d: %s", line, code, stderr)
		}
	}
	for line, want := range map[string]string{"accept --preflight --only fabrics": "unknown gate", "accept --preflight --include autoscal": "want autoscale", "accept --preflight --kubeconfig x": "needs --site"} {
		if _, stderr, code := clitest.Run(t, New, strings.Fields(line)...); code != cmdutil.ExitUsage || !strings.Contains(stderr, want) {
			t.Errorf("%s exits %d: %s", line, code, stderr)
		}
	}
}
