package collective

import (
	"cmp"
	"hash/fnv"
	"strings"
)

// pid of the process of a device; constant within a run.
func (r Run) pid(node, device int) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(r.Nodes[node].Host))
	if r.OneProcess {
		device = 0
	}
	return 1000 + int(h.Sum32()%60000) + device
}

// shortBusID is 0000:1b:00, as in the table of devices.
func shortBusID(id string) string {
	id, _, _ = strings.Cut(strings.ToLower(id), ".")
	return id
}

// longBusID is 1b000, as in NCCL's "Init COMPLETE".
func longBusID(id string) string {
	id = strings.NewReplacer(":", "", ".", "").Replace(strings.ToLower(id))
	id = strings.TrimLeft(id, "0")
	if id == "" {
		return "0"
	}
	return id
}

// driverVersion converts "13.0" to 13000.
func driverVersion(cuda string) string {
	major, minor, _ := strings.Cut(cuda, ".")
	minor = cmp.Or(minor, "0")
	return major + "0" + minor + "0"
}
