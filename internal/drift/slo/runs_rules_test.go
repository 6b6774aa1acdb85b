package slo

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/evidence/evidencetest"
	"github.com/firstlight/firstlight/internal/plan"
)

// gathered are the metrics of a collector without site and cluster: "gate_passed gate=a 1".
func gathered(t *testing.T, c prometheus.Collector) []string {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(c)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range families {
		for _, m := range f.GetMetric() {
			line := strings.TrimPrefix(f.GetName(), "firstlight_")
			for _, l := range m.GetLabel() {
				if l.GetName() != "site" {
					line += " " + l.GetName() + "=" + l.GetValue()
				}
			}
			line = strings.Replace(line, " cluster="+evidencetest.Cluster, "", 1)
			out = append(out, fmt.Sprintf("%s %.15g", line, m.GetGauge().GetValue()))
		}
	}
	slices.Sort(out)
	return out
}

// A run is exported as it was judged: a gate that failed or is blocked is 0, one that does not apply
// is absent, and the run did not pass.
func TestAVerifiedRunIsExportedAsJudged(t *testing.T) {
	t.Parallel()
	b, err := evidence.Load(evidencetest.Finished(t))
	if err != nil {
		t.Fatal(err)
	}
	var ended time.Time
	for _, r := range b.Results() {
		if r.Finished.After(ended) {
			ended = r.Finished
		}
	}
	want := []string{
		"figure figure=sum gate=a unit=1 3", "figure figure=sum gate=b unit=1 6", "figure figure=sum gate=c unit=1 4",
		"figure_limit figure=sum gate=a relation=== 3", "figure_limit figure=sum gate=b relation=== 6", "figure_limit figure=sum gate=c relation=== 9",
		"gate_passed gate=a 1", "gate_passed gate=b 1", "gate_passed gate=c 0", "gate_passed gate=d 0",
		"run_passed 0", fmt.Sprintf("run_timestamp_seconds command=validate %d", ended.Unix()), "run_verified 1",
	}
	if diff := cmp.Diff(want, gathered(t, Runs{Site: "lab", Newest: b})); diff != "" {
		t.Error(diff)
	}
	// no verdict is newer than the run's header: its time counts, with fractions of a second
	b.Header.Created = time.Unix(2_000_000_000, 250_000_000)
	if got := gathered(t, Runs{Site: "lab", Newest: b}); !slices.Contains(got, "run_timestamp_seconds command=validate 2000000000.25") {
		t.Errorf("%q", got)
	}
}

// A run that does not verify shows no figure of any cluster.
func TestARunThatDoesNotVerifyHasNoFigures(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff([]string{"run_verified cluster= 0"}, gathered(t, Runs{Site: "lab"})); diff != "" {
		t.Error(diff)
	}
}

// A figure has a limit only where its verdict was judged by it.
func TestLimitsOfExportedFigures(t *testing.T) {
	t.Parallel()
	r := plan.Result{Step: "training"}
	r.Verdict = check.Passed
	r.Figures = []check.Figure{
		{Name: "MFU", Value: 0.4, Unit: "fraction", Limit: 0.36, Relation: ">="},
		{Name: "nodes", Value: 4, Unit: "1"},
		{Name: "peak", Value: 989, Unit: "TFLOPS", Limit: 990, Relation: check.Expected},
	}
	want := []string{
		"figure cluster=1 figure=MFU gate=training unit=fraction 0.4", "figure cluster=1 figure=nodes gate=training unit=1 4", "figure cluster=1 figure=peak gate=training unit=TFLOPS 989",
		"figure_limit cluster=1 figure=MFU gate=training relation=>= 0.36", "gate_passed cluster=1 gate=training 1",
	}
	if diff := cmp.Diff(want, gathered(t, exported(r))); diff != "" {
		t.Error(diff)
	}
	for verdict, want := range map[check.Verdict][]string{
		check.Partial: {"gate_passed cluster=1 gate=training 1"}, check.Unobserved: {"gate_passed cluster=1 gate=training 0"}, check.NotApplicable: nil,
	} {
		r.Verdict, r.Figures = verdict, nil
		if diff := cmp.Diff(want, gathered(t, exported(r))); diff != "" {
			t.Errorf("%s: %s", verdict, diff)
		}
	}
}
