package collective

import (
	"maps"
	"slices"
	"strings"
)

const remedyPeers = "check NVLinks and nvidia-fabricmanager, the IOMMU and ACS settings, and that NCCL_P2P_DISABLE and NCCL_P2P_LEVEL are unset; nvidia-smi topo -p2p r lists the pairs"

// peers requires that GPUs that NVSwitches join reach each other as peers. NCCL connects channels
// when it first uses them, so that a run by NVLink multicast alone shows none.
func (r *review) peers() {
	switch {
	case len(r.f.Runs) == 0:
		return
	case r.f.NCCL.Lines == 0:
		r.Unobserved(r.id, r.launcher(), remedySilent, "the log has no output of NCCL: its transport is unknown")
		return
	}
	other := map[string]int{}
	for _, c := range r.f.NCCL.Channels {
		if !strings.HasPrefix(c.Transport, "P2P/") {
			other[c.Transport] += c.Count
		}
	}
	if r.gate.profile.Node.NVLinkDomain != nil {
		for _, transport := range slices.Sorted(maps.Keys(other)) {
			r.blame(r.everything(), remedyPeers, "%d channels between GPUs run over %s, expected P2P", other[transport], transport)
		}
	}
	if len(r.f.NCCL.Channels) == 0 && !r.gate.profile.Collective.NVLS {
		r.Unobserved(r.id, r.launcher(), remedySilent, "NCCL shows no channel between GPUs")
	}
	r.inits()
}

// everything is the suspect of a failure that names no part: the node, if there is no other.
func (r *review) everything() string {
	if r.gate.site.SingleNode() && len(r.f.Nodes) == 1 {
		return r.f.Nodes[0]
	}
	switch {
	case r.f.Rail != "":
		return r.f.Rail
	case r.f.Domain != "":
		return domainName(r.f.Domain)
	case !r.f.test().isAllReduce():
		return "cluster (" + r.f.test().name + ")"
	default:
		return "cluster"
	}
}
