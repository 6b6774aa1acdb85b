package chart_test

import (
	"testing"

	"github.com/firstlight/firstlight/internal/recipe"
	"github.com/firstlight/firstlight/internal/recipe/chart"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

// The locks and rules of the shipped footprints match the charts whose Go modules are in the
// local module cache. The lab builds from the module of KAI's chart.
func TestShippedFootprintsAreUpToDate(t *testing.T) {
	t.Parallel()
	loaded, problems, err := recipe.Open("", tree.Options{})
	if err != nil || problems.Err() != nil {
		t.Fatal(err, problems)
	}
	modules := chart.Modules{Cache: chart.GoModules(t.Context()).Cache} // nothing is fetched
	results, err := chart.Update(t.Context(), loaded, chart.Options{Check: true, Sources: chart.Sources{modules}})
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, r := range results {
		switch {
		case r.Failed():
			t.Errorf("%s: %s: %s %v", r.Name, r.Outcome, r.Reason, r.Drift)
		case r.Outcome == chart.UpToDate:
			compared++
		}
	}
	if compared == 0 {
		t.Skipf("no module with a chart of the %d footprints is on this machine", len(results))
	}
}
