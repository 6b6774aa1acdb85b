package constraint

import (
	"fmt"
	"strings"
)

// Path names a measurement. The key may contain dots and slashes.
type Path struct {
	Type, Subtype, Key string
}

// Types returns the measurement types of snapshots.
func Types() []string {
	return []string{"K8s", "GPU", "OS", "SystemD", "NodeTopology", "NetworkTopology"}
}

// ParsePath parses Type.Subtype.Key.
func ParsePath(text string) (Path, error) {
	parts := strings.SplitN(text, ".", 3)
	if len(parts) != 3 || parts[0] == "" || parts[1] == "" || parts[2] == "" {
		return Path{}, fmt.Errorf("invalid measurement %q: must be Type.Subtype.Key, for example K8s.server.version", text)
	}
	return Path{Type: parts[0], Subtype: parts[1], Key: parts[2]}, nil
}

func (p Path) String() string { return p.Type + "." + p.Subtype + "." + p.Key }
