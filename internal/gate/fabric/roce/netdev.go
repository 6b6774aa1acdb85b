package roce

import (
	"slices"

	"github.com/firstlight/firstlight/internal/probe/roce"
)

// netdevOf is the network device of an adapter's port: the only one of its PCI function, or of several
// (those of virtual functions) the one in the GID table. Empty if that is not one.
func netdevOf(d roce.Device) string {
	if len(d.Netdevs) == 1 {
		return d.Netdevs[0]
	}
	var named []string
	for _, g := range d.GIDs {
		if slices.Contains(d.Netdevs, g.Netdev) && !slices.Contains(named, g.Netdev) {
			named = append(named, g.Netdev)
		}
	}
	if len(named) != 1 {
		return ""
	}
	return named[0]
}
