package collective

import (
	"fmt"
	"hash/fnv"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
)

// jobName is unique within a run, and short enough for a pod's host name. A group may run again
// in a later round.
func jobName(scope string, nodes []string, round int) string {
	if scope == ScopeAll {
		return "collective"
	}
	h := fnv.New32a()
	_, _ = fmt.Fprintln(h, round) // never fails
	for _, n := range nodes {
		_, _ = fmt.Fprintln(h, n) // never fails
	}
	return fmt.Sprintf("collective-%s-%08x", scope, h.Sum32())
}

// target is the target of an observation.
func target(scope string, nodes []string) string {
	if scope == ScopeAll {
		return "all nodes"
	}
	if n := len(nodes); scope == ScopeGroup {
		return fmt.Sprintf("%d nodes, %s to %s", n, nodes[0], nodes[n-1])
	}
	return strings.Join(nodes, "+")
}

func names(groups [][]string) []string {
	out := make([]string, 0, len(groups))
	for _, nodes := range groups {
		out = append(out, target(scopeOf(nodes), nodes))
	}
	return out
}

func list(names []string) string { return check.JoinNames(names, 10) }
