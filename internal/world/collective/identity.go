package collective

import (
	"hash/fnv"
	"strings"
)

// pid of the process that drives a device: the same in every line of a run.
func (r Run) pid(node, device int) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(r.Nodes[node].Host))
	return 1000 + int(h.Sum32()%60000) + device
}

// shortBusID is 0000:1b:00, as the table of devices has it.
func shortBusID(id string) string {
	id, _, _ = strings.Cut(strings.ToLower(id), ".")
	return id
}

// longBusID is 1b000, as NCCL prints it in "Init COMPLETE".
func longBusID(id string) string {
	id = strings.NewReplacer(":", "", ".", "").Replace(strings.ToLower(id))
	id = strings.TrimLeft(id, "0")
	if id == "" {
		return "0"
	}
	return id
}

// driverVersion turns "13.0" into 13000.
func driverVersion(cuda string) string {
	major, minor, _ := strings.Cut(cuda, ".")
	if minor == "" {
		minor = "0"
	}
	return major + "0" + minor + "0"
}
