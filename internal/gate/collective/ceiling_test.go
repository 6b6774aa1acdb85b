package collective

import (
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/nccl"
)

// Bandwidth that no such fabric has, or that does not follow from bytes and time, was not
// measured there: a table with every bandwidth a hundred times higher passed.
func TestBandwidthBeyondWhatCanBe(t *testing.T) {
	t.Parallel()
	g := testGate(t, testSite())
	_, obs := observeAndJudge(t, g, cluster{})
	for name, tt := range map[string]struct {
		change  func(s *nccl.Side)
		verdict check.Verdict
		saying  string
	}{
		"as it was":                        {func(*nccl.Side) {}, check.Passed, ""},
		"a hundred times as fast":          {func(s *nccl.Side) { s.AlgBW *= 100; s.BusBW *= 100; s.TimeUS /= 100 }, check.Unobserved, "above the highest ceiling"},
		"bandwidths that times contradict": {func(s *nccl.Side) { s.AlgBW *= 1.05; s.BusBW *= 1.05 }, check.Failed, "are inconsistent"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seen := slices.Clone(obs)
			for i, o := range seen {
				if o.Kind != KindRun {
					continue
				}
				f, err := check.Decode[Figures](o)
				if err != nil {
					t.Fatal(err)
				}
				for _, run := range f.Runs {
					for k := range run.Rows {
						for _, s := range []*nccl.Side{run.Rows[k].OutOfPlace, run.Rows[k].InPlace} {
							if s != nil {
								tt.change(s)
							}
						}
					}
				}
				if seen[i], err = o.WithFigures(f); err != nil {
					t.Fatal(err)
				}
			}
			j := g.Judge(seen)
			if j.Verdict != tt.verdict {
				t.Fatalf("%s: %s", j.Verdict, j.Reason)
			}
			if tt.saying != "" && !slices.ContainsFunc(j.Findings, func(f check.Finding) bool { return strings.Contains(f.Message, tt.saying) }) {
				t.Errorf("nothing says %q: %+v", tt.saying, j.Findings)
			}
		})
	}
}
