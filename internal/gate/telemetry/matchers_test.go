package telemetry

import (
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/plan"
)

// Matchers that select nothing show nothing of the cluster, unless Prometheus has no such series at all.
func TestMatchersThatSelectNothing(t *testing.T) {
	t.Parallel()
	g := gate(t)
	g.telemetry.Matchers = map[string]string{"cluster": "prod"}
	for name, c := range map[string]struct {
		others  *otherFigures
		verdict check.Verdict
		reason  string
	}{
		"other clusters": {&otherFigures{Groups: []otherGroup{{Labels: map[string]string{"cluster": "dev"}, Series: 8}, {Series: 2}}}, check.Unobserved,
			`select no series DCGM_FI_DEV_GPU_UTIL: no series has the labels cluster="prod"; there are 2 with none of the labels, 8 with cluster="dev"`},
		"no series": {&otherFigures{}, check.Failed, "has no series"},
		"not known": {nil, check.Unobserved, "was not observed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := facts{idle: &seriesFigures{Now: now(), Series: []series{}}, others: c.others}
			j := plan.Judge(g, f.observations(t))
			found := slices.ContainsFunc(j.Findings, func(one check.Finding) bool { return strings.Contains(one.Message, c.reason) })
			if j.Verdict != c.verdict || !found {
				t.Errorf("%s: %+v", j.Verdict, j.Findings)
			}
		})
	}
}
