package telemetry

import (
	"fmt"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/gangjob"
)

// judgeClaims requires that a load of claims has its number of GPUs. It reports whether its
// GPUs are known.
func (g *Gate) judgeClaims(b *check.Builder, id string, load loadFigures) bool {
	if load.Claims != nil {
		return load.Claims.Review(b, id, load.GPUs) > 0 && load.Claims.Unread == ""
	}
	if gangjob.Undeclared(g.site) {
		return true
	}
	b.Unobserved(id, "the load", "run the gate again with this site", "its pods claimed no GPUs, and the site declares that DeviceClass %s offers them", g.gang.DeviceClass)
	return false
}

// claimDefects are the nodes on which other series follow a load than those of the GPUs that claims
// allocate to its pods. The number of series does not show that.
func (g *Gate) claimDefects(load loadFigures, state seriesFigures) []defect {
	if load.Claims == nil {
		return nil
	}
	owner, loaded := map[string]string{}, map[string]bool{}
	for pod, node := range load.Nodes {
		loaded[node] = true
		for _, uuid := range load.Claims.UUIDs(pod) {
			owner[uuid] = pod
		}
	}
	const remedy = "compare the UUID in the series with nvidia-smi -L on the node, and read the log of the DRA driver's kubelet plugin there"
	wrong, seen := map[string]string{}, map[string]bool{}
	for _, s := range state.Series {
		node := g.host(s.Host)
		seen[s.UUID] = true
		if _, known := wrong[node]; known || !loaded[node] {
			continue
		}
		switch pod := owner[s.UUID]; {
		case pod != "" && !g.risen(s):
			wrong[node] = fmt.Sprintf("GPU %s of %s is allocated by the claim of pod %s, and its series does not follow the load", s.UUID, node, pod)
		case pod == "" && g.risen(s):
			wrong[node] = fmt.Sprintf("GPU %s of %s follows the load, and no claim of its pods allocates it", s.UUID, node)
		}
	}
	for _, uuid := range sortedKeys(owner) { // a replay prints the same GPU
		pod := owner[uuid]
		if node := load.Nodes[pod]; !seen[uuid] && wrong[node] == "" {
			wrong[node] = fmt.Sprintf("GPU %s of %s is allocated by the claim of pod %s, and has no series", uuid, node, pod)
		}
	}
	var out []defect
	for _, node := range sortedKeys(wrong) {
		out = append(out, defect{node, wrong[node], remedy})
	}
	return out
}
