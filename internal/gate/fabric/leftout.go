package fabric

import (
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/infiniband"
)

// leftOut reports whether a port is an adapter of a node that is not judged: "gpu-02/mlx5_3".
func (g *Gate) leftOut(port string) bool {
	node, _, _ := strings.Cut(port, "/")
	return slices.Contains(g.site.Inventory.LeftOut, node)
}

// errorsLeftOut counts the error lines of a stage that name only cables of nodes that are not judged.
func (g *Gate) errorsLeftOut(r infiniband.DiagnetReport, stage string, cabled topology, names names) int {
	n := 0
	for _, e := range r.Errors {
		if link, ok, _ := linkOf(e, cabled, names); ok && e.Section == stage && g.leftOut(link) {
			n++
		}
	}
	return n
}
