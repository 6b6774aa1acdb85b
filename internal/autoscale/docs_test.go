package autoscale

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/autoscale/judge"
	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/site"
)

// TestThePageHasEveryHopAndSetting holds docs/autoscale.md against the chain.
func TestThePageHasEveryHopAndSetting(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/autoscale.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, hop := range hopNames() {
		if !strings.Contains(string(page), "\n| `"+hop+"` | ") {
			t.Errorf("hop %s has no row", hop)
		}
	}
	for _, setting := range site.AutoscaleSettings() {
		row := "\n| `" + setting + "` | "
		_, rest, ok := strings.Cut(string(page), row)
		if !ok {
			t.Errorf("setting %s has no row", setting)
			continue
		}
		line, _, _ := strings.Cut(rest, "\n")
		for hop, list := range costs {
			for _, c := range list {
				inPath := hop != "series" && hop != "placed" && hop != "served" && !strings.HasPrefix(hop, "gang")
				if c.Setting == setting && inPath && !strings.Contains(line, "`"+hop+"`") {
					t.Errorf("setting %s costs hop %s, and its row does not say so", setting, hop)
				}
			}
		}
	}
}

// The judge of nodes-gone compares its time with the settings that its budget consists of.
func TestBudgetOfARemovalIsOfItsSettings(t *testing.T) {
	t.Parallel()
	var budget []string
	for _, c := range costs[snapshot.HopNodesGone] {
		budget = append(budget, c.Setting)
	}
	if !slices.Equal(budget, judge.RemovalSettings()) {
		t.Errorf("the budget is of %v, the judge reads %v", budget, judge.RemovalSettings())
	}
}
