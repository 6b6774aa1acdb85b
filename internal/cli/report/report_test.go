package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/accept"
	"github.com/firstlight/firstlight/internal/autoscale"
	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/autoscale/snapshottest"
	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/display"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/golden"
)

// sample has a gate with each verdict.
func sample() accept.Report {
	gate := func(name string, v check.Verdict, reason string, seconds float64) accept.Gate {
		return accept.Gate{Gate: name, Verdict: v, Reason: reason, Duration: seconds, Started: time.Date(2026, 11, 21, 1, 0, 0, 0, time.UTC)}
	}
	r := accept.Report{Run: "20261121-010000-0001", Verdict: check.Failed, Simulated: evidence.HardwareSimulated, Site: "lab", Profile: "h100-sxm-ndr400", Evidence: "evidence/20261121-010000-0001"}
	facility := gate("facility", check.Passed, "signed off", 0.12)
	facility.KeptFrom = "20261120-010000-0001"
	facility.Figures = []check.Figure{{Name: "power demand", Value: 40.8, Unit: "kW", Limit: 51, Relation: "<="}}
	fabric := gate("fabric", check.Failed, "1 defect", 75)
	fabric.Findings = []check.Finding{{Suspect: "gpu-02/mlx5_3", Message: "runs at 200 Gb/s, not 400", Remedy: "reseat the cable"}}
	r.Gates = []accept.Gate{
		facility, fabric, gate("node", check.Blocked, "fabric is failed", 0),
		gate("gpustack", check.Unobserved, "no cluster", 1), gate("telemetry", check.NotApplicable, "a training-only cluster", 0),
	}
	r.Notes = []string{"clean up after run x: pod y still exists"}
	return r
}

func TestAcceptance(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]Options{
		"report.txt":         {},
		"report-colour.txt":  {Style: display.Style{Color: true}},
		"report-verbose.txt": {Verbose: true},
	} {
		var out bytes.Buffer
		Acceptance(&out, sample(), o)
		golden.Compare(t, "testdata/golden/"+name, out.Bytes())
	}
}

// The summary of a run with many figures and long findings fits a screen; -v prints all.
func TestAcceptanceFitsAScreen(t *testing.T) {
	t.Parallel()
	r := sample()
	for i := range 30 {
		r.Gates[1].Figures = append(r.Gates[1].Figures, check.Figure{Name: fmt.Sprint("figure ", i), Unit: "GB/s"})
		r.Gates[1].Findings = append(r.Gates[1].Findings, check.Finding{Suspect: fmt.Sprint("gpu-", i), Message: strings.Repeat("long ", 200) + "\nline\nline", Remedy: "replace\nit"})
	}
	var out bytes.Buffer
	Acceptance(&out, r, Options{})
	if lines := strings.Count(out.String(), "\n"); lines > 40 {
		t.Errorf("%d lines, want at most 40:\n%s", lines, out.String())
	}
	for _, want := range []string{"gpu-02/mlx5_3", "findings more: -v prints all", "verdict: failed"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing:\n%s", want, out.String())
		}
	}
	out.Reset()
	for i := range 30 {
		r.Notes = append(r.Notes, fmt.Sprint("note ", i, "\nline\nline"))
		r.NarrowedBy = append(r.NarrowedBy, fmt.Sprint("--skip ", i, "\nline"))
	}
	Acceptance(&out, r, Options{})
	if lines := strings.Count(out.String(), "\n"); lines > 40 {
		t.Errorf("%d lines with 30 notes and reasons, want at most 40:\n%s", lines, out.String())
	}
	for _, want := range []string{"gpu-02/mlx5_3", "note 0", "28 notes more: -v prints all", "--skip 0", "27 reasons more: -v prints all", "evidence: "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("with 30 notes and reasons: %q is missing:\n%s", want, out.String())
		}
	}
	out.Reset()
	Acceptance(&out, r, Options{Verbose: true})
	for _, want := range []string{"gpu-29 ", "figure 29", "gpu-02/mlx5_3", "note 29", "--skip 29"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("-v: %q is missing", want)
		}
	}
}

// sampleChain is a chain that change may break.
func sampleChain(t *testing.T, change func(hop string, st *snapshot.State)) Chain {
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
	return Chain{
		Run: "20261121-010000-0001", Verdict: check.Overall(verdicts), Reason: "why", Simulated: evidence.HardwareSimulated, Site: "lab", Profile: "h100-sxm-ndr400",
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
		sampleChain(t, tt.change).Print(&out, Options{Style: display.Style{Color: tt.colour}})
		golden.Compare(t, "testdata/golden/"+name, out.Bytes())
	}
	var out bytes.Buffer
	if err := cmdutil.WriteJSON(&out, sampleChain(t, limitReached)); err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, "testdata/golden/chain-failed.json", out.Bytes())
}

// A chain without observations prints the reason.
func TestChainReportWithoutHops(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	Chain{Run: "x", Verdict: check.Unobserved, Reason: "no cluster", findings: []check.Finding{{Suspect: "check autoscale", Message: "no cluster", Remedy: "reach it"}}}.Print(&out, Options{})
	for _, want := range []string{"no cluster", "remedy: reach it", "verdict: unobserved"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing:\n%s", want, out.String())
		}
	}
}
