package site

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// Fingerprint is a digest of what the site demands: its inventory by name, its
// fabric, stack, workloads and profile. How things are reached and what the
// facility signed are not in it: they may change while a run goes on.
func (s *Site) Fingerprint() (string, error) {
	demand := *s
	demand.Reach, demand.Facility, demand.Prepare = Reach{}, Facility{}, nil
	demand.Inventory.Nodes = namesOnly(s.Inventory.Nodes)
	demand.Inventory.SystemNodes = namesOnly(s.Inventory.SystemNodes)
	data, err := json.Marshal(demand)
	if err != nil {
		return "", fmt.Errorf("fingerprint site %s: %w", s.Name, err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}

func namesOnly(nodes []Node) []Node {
	out := make([]Node, len(nodes))
	for i, n := range nodes {
		out[i] = Node{Name: n.Name}
	}
	return out
}
