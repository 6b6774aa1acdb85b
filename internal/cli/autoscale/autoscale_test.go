package autoscale

import (
	"bytes"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/autoscale"
	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/autoscale/snapshottest"
	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/display"
)

// sampleChain breaks where change breaks it.
func sampleChain(t *testing.T, change func(hop string, st *snapshot.State)) chainResult {
	t.Helper()
	obs, err := snapshottest.Observations(snapshottest.Setup(), change)
	if err != nil {
		t.Fatal(err)
	}
	chain, err := autoscale.NewReport(obs)
	if err != nil {
		t.Fatal(err)
	}
	var verdicts []check.Verdict
	for _, h := range chain.Hops {
		verdicts = append(verdicts, h.Verdict)
	}
	return chainResult{
		Run: "20261121-010000-0001", Verdict: check.Overall(verdicts), Reason: "why", Simulated: true, Site: "lab", Profile: "h100-sxm-ndr400",
		Evidence: "evidence/20261121-010000-0001", Hops: chain.Hops, Figures: []check.Figure{}, chain: chain,
	}
}

func limitReached(hop string, st *snapshot.State) {
	if hop != snapshot.HopNodeClaim {
		return
	}
	st.Claims, st.Nodes = st.Claims[:1], st.Nodes[:1]
	for i := range st.Events {
		if e := &st.Events[i]; e.Reason == "Nominated" && e.About.Name != "worker-a" {
			e.Reason, e.Message = "FailedScheduling", "Failed to schedule pod, all available instance types exceed limits for nodepool (NodePool=firstlight-run)"
		}
	}
}

func TestChainReport(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(hop string, st *snapshot.State)
		colour bool
	}{
		"chain.txt": {}, "chain-failed.txt": {change: limitReached}, "chain-failed-colour.txt": {change: limitReached, colour: true},
	} {
		var out bytes.Buffer
		printChain(&out, sampleChain(t, tt.change), display.Style{Color: tt.colour})
		golden(t, name, out.Bytes())
	}
	var out bytes.Buffer
	if err := new(format("json")).write(&out, sampleChain(t, limitReached), nil); err != nil {
		t.Fatal(err)
	}
	golden(t, "chain-failed.json", out.Bytes())
}

// A chain of which nothing was observed says why.
func TestChainReportWithoutHops(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	printChain(&out, chainResult{Run: "x", Verdict: check.Unobserved, Reason: "no cluster", findings: []check.Finding{{Suspect: "check autoscale", Message: "no cluster", Remedy: "reach it"}}}, display.Style{})
	for _, want := range []string{"no cluster", "next: reach it", "verdict: unobserved"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not said:\n%s", want, out.String())
		}
	}
}

func TestChainFlags(t *testing.T) {
	t.Setenv("FIRSTLIGHT_HOME", t.TempDir())
	for line, want := range map[string]string{
		"autoscale --metric resource":           "external, custom",
		"autoscale --scheduler slurm":           "default, kai",
		"autoscale --kubeconfig k":              "--site",
		"autoscale --site s --lab l":            "none of the others can be",
		"autoscale up":                          "unknown command",
		"autoscale rules --window 0s":           "--window",
		"accept --include autoscal":             "there is autoscale",
		"accept --include autoscale,autoscale":  "twice",
		"accept --only autoscale":               "there is no gate",
		"accept --resume x --include autoscale": "none of the others can be",
		"plan --include autoscal":               "autoscale",
	} {
		_, stderr, code := run(t, strings.Fields(line)...)
		if code != ExitUsage || !strings.Contains(stderr, want) {
			t.Errorf("%s exits %d: %s", line, code, stderr)
		}
	}
}

func TestRules(t *testing.T) {
	t.Parallel()
	out, stderr, code := run(t, "autoscale", "rules", "--window", "30s")
	if code != ExitPassed || !strings.Contains(out, "dcgm_gpu_power_usage") || !strings.Contains(out, "[30s]") {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
}

func TestPlanIncludesTheChain(t *testing.T) {
	t.Setenv("FIRSTLIGHT_HOME", t.TempDir())
	out, stderr, code := run(t, "plan", "--include", "autoscale")
	if code != ExitPassed || !strings.Contains(out, "9  autoscale\n   needs   telemetry") {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
}
