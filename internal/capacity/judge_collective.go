package capacity

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/collective"
	"github.com/firstlight/firstlight/internal/site"
)

// finalCollective is gate collective on the accepted nodes and the new ones that passed before.
type finalCollective struct {
	*collective.Gate
	site     *site.Site
	addition Addition
}

// Excluding implements plan.Excluding.
func (w finalCollective) Excluding(nodes []string) check.Check {
	if g, ok := w.Gate.Excluding(nodes).(*collective.Gate); ok {
		w.Gate, w.site = g, w.site.Without(nodes)
	}
	return w
}

// Judge implements check.Check: a pass names the nodes that are added.
func (w finalCollective) Judge(obs []check.Observation) check.Judgement {
	added := newOf(w.site, w.addition)
	if len(added) == 0 {
		return check.NotObserved("no new node is left to be added")
	}
	j := w.Gate.Judge(obs)
	for i := range j.Findings { // --from is of the playbook
		j.Findings[i].Remedy = strings.ReplaceAll(j.Findings[i].Remedy, " with --from "+collective.Name, "")
	}
	if j.Verdict == check.Passed {
		j.Reason = fmt.Sprintf("%s added to %d accepted nodes: %s", check.JoinNames(added, 10), len(w.addition.To.Nodes), j.Reason)
	}
	return j
}

// newOf are the new nodes of a site.
func newOf(s *site.Site, a Addition) []string {
	return slices.DeleteFunc(s.NodeNames(), func(n string) bool { return slices.Contains(a.To.Nodes, n) })
}
