package fabric

import (
	"slices"
	"strings"
)

// leftOut reports whether a port is an adapter of a node that is not judged: "gpu-02/mlx5_3".
func (g *Gate) leftOut(port string) bool {
	node, _, _ := strings.Cut(port, "/")
	return slices.Contains(g.site.Inventory.LeftOut, node)
}
