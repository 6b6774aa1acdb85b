package collective

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

const (
	remedyFallback = "unset NCCL_MNNVL_ENABLE, NCCL_CUMEM_ENABLE and NCCL_P2P_DISABLE in the image, the pods and /etc/nccl.conf of these nodes, and check that nvidia-smi -q shows their fabric State Completed and one ClusterUUID; then run again with --from collective"
	remedyChannel  = "check the IMEX domain (nvidia-imex-ctl -N) and that the job has an IMEX channel (/dev/nvidia-caps-imex-channels; with NVIDIA's DRA driver, a ComputeDomain); then run again with --from collective"
	remedySwitch   = "check the NVLink switches of this domain (nvidia-smi nvlink -s and -e on its nodes, the fabric manager's log and port counters on the switch trays), and its IMEX domain (nvidia-imex-ctl -N); then run again with --from collective"
)

// nvlink requires that a run over the nodes of one NVLink domain used NVLink between them: every rank reports one
// clique of all ranks. Channels alone do not show it: NCCL connects them when it first uses them, so that a run
// by NVLink multicast has none.
func (r *review) nvlink() {
	r.imex()
	if len(r.f.Runs) == 0 {
		return
	}
	if r.f.NCCL.Lines == 0 {
		r.Unobserved(r.id, r.launcher(), remedySilent, "the log has no output of NCCL: its transport is unknown")
		return
	}
	if r.f.NCCL.Clipped {
		r.Unobserved(r.id, r.launcher(), remedySilent, "NCCL's output exceeds the size limit of a log")
	}
	r.inits()
	r.sameDomain()
	if len(r.f.Nodes) < 2 {
		return
	}
	off := map[string]bool{} // nodes
	for _, rank := range r.f.NCCL.Ranks {
		if rank.MNNVL != nil && !*rank.MNNVL || rank.CliqueSize > 0 && rank.CliqueSize < r.expectedRanks() {
			off[r.place.node(rank.Host)] = true
		}
	}
	others := r.overNetwork()
	switch {
	case len(off) > 0 && len(off) < len(r.f.Nodes):
		for _, node := range slices.Sorted(maps.Keys(off)) {
			r.blame(node, remedyFallback, "NCCL does not use NVLink between %s and the other nodes of its NVLink domain%s%s", node, others, r.settings(node))
		}
	case len(off) > 0 || others != "":
		r.blame(r.everything(), remedyFallback, "NCCL does not use NVLink between the nodes and fell back to the network%s%s", others, r.settings(r.f.Nodes...))
	}
	if rank, ok := r.oneClique(); !ok {
		r.Unobserved(r.id, fmt.Sprintf("rank %d", rank), remedyOldNCCL, "rank %d on %s reports no MNNVL clique of %d ranks in every repetition: whether NCCL used NVLink between the nodes is unknown", rank, r.place.ranks[rank], r.expectedRanks())
	}
}

// oneClique reports whether every rank reports one clique of all ranks in every repetition: NVLink connects all GPUs of
// the run. If not, rank is the first that does not.
func (r *review) oneClique() (rank int, ok bool) {
	whole := map[int]bool{}
	for _, k := range r.f.NCCL.Ranks {
		if k.MNNVL != nil && *k.MNNVL && k.CliqueSize == r.expectedRanks() && k.Cliques >= len(r.f.Runs) {
			whole[k.Rank] = true
		}
	}
	for rank := range r.expectedRanks() {
		if !whole[rank] {
			return rank, false
		}
	}
	return 0, true
}

// sameDomain requires that the GPUs are in the domain that the run over all nodes has shown.
func (r *review) sameDomain() {
	before := r.Failures()
	domains, _ := r.gate.domainsOf(&r.Builder, r.id, r.f)
	for _, d := range domains {
		if d.id != r.f.Domain {
			r.Fail(r.id, list(d.nodes), remedyNoFabric, "the GPUs of %s are in %s in this run", list(d.nodes), domainName(d.id))
		}
	}
	r.named = r.named || r.Failures() > before
}

// overNetwork lists the channels between nodes that do not run over NVLink; "" without any.
func (r *review) overNetwork() string {
	count := map[string]int{}
	for _, c := range r.f.NCCL.Channels {
		if from, to := r.place.ranks[c.From], r.place.ranks[c.To]; from != to && !strings.HasPrefix(c.Transport, "P2P/") {
			count[c.Transport] += c.Count
		}
	}
	var out strings.Builder
	for _, transport := range slices.Sorted(maps.Keys(count)) {
		fmt.Fprintf(&out, "; %d channel ends between nodes run over %s", count[transport], transport)
	}
	return out.String()
}

// settings are the variables of nodes that may explain a fallback, as text.
func (r *review) settings(nodes ...string) string {
	var set []string
	for _, h := range r.f.NCCL.Hosts {
		if slices.Contains(nodes, r.place.node(h.Name)) {
			set = append(set, h.Settings...)
		}
	}
	if len(set) == 0 {
		return ""
	}
	slices.Sort(set)
	return "; NCCL's settings are " + strings.Join(slices.Compact(set), ", ")
}

// imex blames nodes on which NCCL cannot export memory to other nodes, or the domain if it is all of them. The
// warning is that of NCCL's src/mnnvl.cc.
func (r *review) imex() {
	text := map[string]string{}
	for _, w := range r.f.NCCL.Warnings {
		if strings.HasPrefix(w.Text, "MNNVL (cliqueSize ") && strings.Contains(w.Text, "not working") {
			text[r.place.node(w.Host)] = w.Text
		}
	}
	nodes := slices.Sorted(maps.Keys(text))
	switch {
	case len(nodes) == 0:
		return
	case len(nodes) == len(r.f.Nodes):
		r.blame(r.everything(), remedyChannel, "NCCL cannot use IMEX on any node: %s", text[nodes[0]])
		return
	case r.f.NCCL.Clipped || !r.started(text): // mpirun ends the others before they print
		r.blame(r.everything(), remedyChannel, "NCCL cannot use IMEX on at least %d nodes: %s", len(nodes), text[nodes[0]])
		return
	}
	for _, node := range nodes {
		r.blame(node, remedyChannel, "NCCL cannot use IMEX on %s: %s", node, text[node])
	}
}

// started reports whether all ranks of the other nodes came past the test of IMEX.
func (r *review) started(failed map[string]string) bool {
	past := 0
	for _, rank := range r.f.NCCL.Ranks {
		if _, ok := failed[r.place.node(rank.Host)]; !ok && rank.Rank >= 0 && (rank.Cliques > 0 || rank.Inits > 0) {
			past++
		}
	}
	return past >= (len(r.f.Nodes)-len(failed))*r.f.GPUsPerNode
}

// nearNetwork tells whether the network can show the bandwidth of an NVLink domain.
func (r *review) nearNetwork(p point) string {
	if r.f.Domain == "" {
		return ""
	}
	switch most, ok := r.gate.profile.NetworkOf(r.f.test().name, len(r.f.Nodes)); {
	case !ok:
		return ""
	case p.median <= most:
		return fmt.Sprintf("; the network between these nodes can give %.0f GB/s: suspect that NCCL fell back to it", most)
	default:
		return fmt.Sprintf("; above the %.0f GB/s that the network can give: NVLink is in use, at a part of its rate", most)
	}
}
