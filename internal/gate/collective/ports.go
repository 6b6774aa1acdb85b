package collective

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
)

const remedyPort = "read the kernel log of the node for the adapter (dmesg: mlx5_core, Link down), check cable and transceiver of its port at both ends; then run again with --from fabric"

// portEvent matches NCCL's warning of an event that an adapter reports during a run (src/transport/net_ib of NVIDIA/nccl,
// and gIB, Google's plugin of it). From 2.19 on it names the adapter, and later versions add the event's number. The texts
// of the events are those of libibverbs, ibv_event_type_str; the others, such as "port active" and "client
// reregistration", are harmless.
var portEvent = regexp.MustCompile(`^NET/g?IB ?: (?:([^\s:]+?)(?:_dma)?:\d+ )?(?:Got (?:non-fatal )?async (?:error )?event|async fatal event) ?: (port error|local catastrophic error)(?:\(\d+\))?$`)

// harmlessEvent matches nccl-tests' "# error:" line about an event after which an adapter works. nccl-tests prints there
// the last warning of the first rank's process, also of a run without an error (writeErrors of src/util.cu, ncclGetLastError).
var harmlessEvent = regexp.MustCompile(`^error: NET/g?IB ?: (?:\S+:\d+ )?(?:Got (?:non-fatal )?async (?:error )?event ?: (?:port active|client reregistration|LID change|P_Key change|SM change|GID table change)(?:\(\d+\))?|GID table changed)$`)

// ports blames the adapters that failed during the run. The network repeats what a short failure loses, so that the
// bandwidth need not show it.
func (r *review) ports() {
	found := map[string]string{}
	for _, w := range r.f.NCCL.Warnings {
		m := portEvent.FindStringSubmatch(w.Text)
		if m == nil {
			continue
		}
		node := r.place.node(w.Host)
		suspect, adapter := node, "an adapter"
		if m[1] != "" {
			suspect, adapter = node+"/"+m[1], m[1]
		}
		found[suspect] = fmt.Sprintf("NCCL reports %q of %s on %s during the run", m[2], adapter, node)
	}
	for _, suspect := range slices.Sorted(maps.Keys(found)) {
		r.blame(suspect, remedyPort, "%s", found[suspect])
	}
}
