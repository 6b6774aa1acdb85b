package collective

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/nccl"
)

// The bandwidth of a repetition is the mean at the largest sizes that every repetition reached. One
// without any of these sizes has none.
func TestTheBandwidthOfARepetition(t *testing.T) {
	t.Parallel()
	run := func(bw ...float64) nccl.Run {
		var r nccl.Run
		for i, v := range bw {
			row := nccl.Row{Bytes: int64(1) << i}
			if v > 0 {
				row.InPlace = &nccl.Side{BusBW: v}
			}
			r.Rows = append(r.Rows, row)
		}
		return r
	}
	for name, tt := range map[string]struct {
		runs    []nccl.Run
		largest int
		want    []float64
	}{
		"the largest":                   {[]nccl.Run{run(1, 2, 10), run(1, 2, 20)}, 1, []float64{10, 20}},
		"the two largest":               {[]nccl.Run{run(1, 2, 10), run(1, 4, 20)}, 2, []float64{6, 12}},
		"more sizes than there are":     {[]nccl.Run{run(1, 2, 9)}, 5, []float64{4}},
		"a size that one did not reach": {[]nccl.Run{run(1, 2, 10), run(1, 4)}, 1, []float64{2, 4}},
		"a row without a bandwidth":     {[]nccl.Run{run(1, 2, 0), run(1, 4, 8)}, 1, []float64{2, 4}},
		"no common size":                {[]nccl.Run{run(1), run(0, 4)}, 1, nil},
		"a repetition without rows":     {[]nccl.Run{run(1, 2), {}}, 1, nil},
		"no repetition":                 {nil, 1, nil},
	} {
		if diff := cmp.Diff(tt.want, Figures{Runs: tt.runs}.Repeated(tt.largest)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// Gate 6 of a cluster that was accepted is that of any cluster, and then one comparison of its nodes. A
// loss from the limit on replaces the node; the evidence of a node are its pairs. A pair with a defect,
// of another number of nodes, or that was not observed says nothing.
func TestJudgementOfDrift(t *testing.T) {
	t.Parallel()
	d := Drift{Gate: testGate(t, manyNodes(8)), ReplaceAt: 0.05}
	_, slow := observeDrift(t, d, cluster{slow: map[string]float64{"gpu-05": 0.96}})
	j := d.Judge(slow)
	if j.Verdict != check.Failed || len(j.Findings) != 1 || j.Findings[0].Suspect != "gpu-05" || !strings.HasPrefix(j.Findings[0].Message, "warn: busbw of pairs with gpu-05 is 4.0 % below") {
		t.Fatalf("%s: %+v", j.Verdict, j.Findings)
	}
	var pairs []string
	for _, o := range check.OfKind(slow, KindRun) {
		f, err := check.Decode[Figures](o)
		if err != nil {
			t.Fatal(err)
		}
		if f.Scope == ScopePair && slices.Contains(f.Nodes, "gpu-05") {
			pairs = append(pairs, o.ID)
		}
	}
	if !slices.Equal(j.Findings[0].Observations, pairs) || len(pairs) < 3 {
		t.Errorf("the evidence is %q, want %q", j.Findings[0].Observations, pairs)
	}
	figure := func(j check.Judgement, name string) float64 {
		i := slices.IndexFunc(j.Figures, func(f check.Figure) bool { return f.Name == name })
		if i < 0 {
			return -1
		}
		return j.Figures[i].Value
	}
	whole := d.Gate.Judge(slow)
	if n := figure(j, "slow nodes"); n != 1 || figure(j, "busbw of pairs, median node") < 400 || len(j.Figures) != len(whole.Figures)+2 {
		t.Errorf("%+v", j.Figures)
	}
	// The band: the loss is between two limits, or is the limit.
	for limit, band := range map[float64]string{0.03: "replace: ", 0.05: "warn: "} {
		d.ReplaceAt = limit
		if j := d.Judge(slow); !strings.HasPrefix(j.Findings[0].Message, band) {
			t.Errorf("limit %g: %s", limit, j.Findings[0].Message)
		}
	}

	_, healthy := observeDrift(t, d, cluster{})
	j = d.Judge(healthy)
	if j.Verdict != check.Passed || len(j.Findings) > 0 || !strings.Contains(j.Reason, "; no node is slower than the others (8 compared, noise ") || figure(j, "slow nodes") != 0 {
		t.Errorf("%s: %s %+v", j.Verdict, j.Reason, j.Findings)
	}
	wrong := int64(5)
	pair := func(change func(o *check.Observation, f *Figures)) []check.Observation {
		out := slices.Clone(healthy)
		for i := range out {
			f, err := check.Decode[Figures](out[i])
			if out[i].Kind != KindRun || err != nil || f.Scope != ScopePair {
				continue
			}
			change(&out[i], &f)
			if out[i].Figures, err = json.Marshal(f); err != nil {
				t.Fatal(err)
			}
		}
		return out
	}
	for name, obs := range map[string][]check.Observation{
		"pairs that did not run":  pair(func(o *check.Observation, _ *Figures) { o.Err = "no pod" }),
		"pairs with a defect":     pair(func(_ *check.Observation, f *Figures) { f.Runs[0].Rows[0].InPlace.Wrong = &wrong }),
		"pairs without a table":   pair(func(_ *check.Observation, f *Figures) { f.Runs = nil }),
		"pairs of one node":       pair(func(_ *check.Observation, f *Figures) { f.Nodes = f.Nodes[:1] }),
		"groups instead of pairs": pair(func(_ *check.Observation, f *Figures) { f.Scope = ScopeGroup }),
		"no run of the whole": slices.DeleteFunc(slices.Clone(healthy), func(o check.Observation) bool {
			f, err := check.Decode[Figures](o)
			return err == nil && f.Scope == ScopeAll
		}),
	} {
		if j := d.Judge(obs); j.Verdict == check.Passed {
			t.Errorf("%s: %s", name, j.Reason)
		}
	}
}
