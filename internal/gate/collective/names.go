package collective

import (
	"fmt"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
)

// target is the nodes of an observation's target.
func target(scope string, nodes []string) string {
	if scope == ScopeAll || scope == ScopeRail {
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
