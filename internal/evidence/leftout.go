package evidence

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/plan"
)

// nodesLeftOut are the headline of a partial run, and a line for each node that it leaves out, with
// its findings; none for other runs.
func (b *Bundle) nodesLeftOut(results []plan.Result) []string {
	var lines []string
	left, nodes := 0, 0
	for _, r := range results {
		if len(r.LeftOut) > 0 {
			left, nodes = left+len(r.LeftOut), r.Nodes
		}
		for _, node := range r.LeftOut {
			var of []check.Finding
			for _, f := range r.Findings {
				if f.Suspect == node || strings.HasPrefix(f.Suspect, node+"/") {
					of = append(of, f)
				}
			}
			lines = append(lines, fmt.Sprintf("left out: %s, which failed gate %s: %s", node, r.Step, check.Summary(of)))
		}
	}
	if left == 0 {
		return nil
	}
	word := "judged on"
	if b.Verdict() == check.Partial {
		word = "passed on"
	}
	if b.Header.AddedTo != "" {
		word = "of the new nodes, " + word
	}
	return slices.Insert(lines, 0, fmt.Sprintf("%s %d of %d nodes, %d left out (at most %d allowed)", word, nodes, nodes+left, left, b.Plan.AllowFailed))
}
