package collective

import (
	"fmt"
	"hash/fnv"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
)

// jobName is unique within a run, and short enough for a pod's host name.
func jobName(scope string, nodes []string) string {
	if scope == ScopeAll {
		return "collective"
	}
	h := fnv.New32a()
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
	return strings.Join(nodes, "+")
}

func names(groups [][]string) string {
	out := make([]string, 0, len(groups))
	for _, nodes := range groups {
		out = append(out, strings.Join(nodes, "+"))
	}
	return strings.Join(out, ", ")
}

func list(names []string) string { return check.JoinNames(names, 10) }
