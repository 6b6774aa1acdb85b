package telemetry

import (
	"fmt"
	"maps"
	"slices"
)

// partialTarget is the target of what is observed of a round, from 0.
func partialTarget(round int) string { return fmt.Sprintf("partial-%d", round+1) }

// rounds are the partial loads: how many GPUs of each node are loaded in each. Over all
// rounds no two nodes are loaded alike, so that series under another node's name show.
// Where a node has enough GPUs, each round loads some and not all, so that series under
// another GPU's name show too.
func (g *Gate) rounds() []map[string]int {
	lowest, levels := 0, g.gpus+1
	if g.gpus > 2 {
		lowest, levels = 1, g.gpus-1
	}
	if g.gpus < 1 || lowest == 0 && len(g.nodes) < 2 {
		return nil // nothing to tell apart
	}
	var out []map[string]int
	for unit := 1; unit < len(g.nodes) || unit == 1; unit *= levels {
		round := map[string]int{}
		for i, node := range g.nodes {
			round[node] = lowest + i/unit%levels
		}
		out = append(out, round)
	}
	return out
}

// whole is the load of every GPU.
func (g *Gate) whole() map[string]int {
	out := map[string]int{}
	for _, node := range g.nodes {
		out[node] = g.gpus
	}
	return out
}

// byCount are the nodes of a round by how many GPUs of theirs are loaded; none is left out.
func byCount(round map[string]int) map[int][]string {
	out := map[int][]string{}
	for _, node := range slices.Sorted(maps.Keys(round)) {
		if n := round[node]; n > 0 {
			out[n] = append(out[n], node)
		}
	}
	return out
}

// asPlanned tells whether a load has the GPUs that it should.
func (f loadFigures) asPlanned(want map[string]int) bool {
	have := map[string]int{}
	for pod, node := range f.Nodes {
		have[node] += f.GPUs[pod]
	}
	return maps.EqualFunc(byCount(have), byCount(want), slices.Equal)
}

// risen tells whether a series is under load.
func (g *Gate) risen(s series) bool { return s.Util >= g.profile.MinUtilUnderLoad.Value }

// countDefects are the nodes of which not as many series have risen as GPUs are loaded.
func (g *Gate) countDefects(want map[string]int, state seriesFigures) []defect {
	risen := map[string]int{}
	for _, s := range state.Series {
		if g.risen(s) {
			risen[g.host(s.Host)]++
		}
	}
	var out []defect
	for _, node := range g.nodes {
		if risen[node] != want[node] {
			out = append(out, defect{node, fmt.Sprintf("%d GPUs of %s are loaded, and series of %d GPUs that say they are of %s follow: they may be of another node", want[node], node, risen[node], node),
				"see the Hostname of the node's exporter (its NODE_NAME) and the relabelling that sets it; compare with nvidia-smi on the node"})
		}
	}
	return out
}

// user is the pod that a series names as the user of its GPU, as namespace/name, where it
// names one of the load's namespace or has the labels that only such a pod gets.
func (s series) user(namespace string) string {
	switch {
	case s.ExportedPod != "":
		return s.ExportedNamespace + "/" + s.ExportedPod
	case s.Namespace == namespace && s.Pod != "":
		return s.Namespace + "/" + s.Pod
	}
	return ""
}

// userDefects are the nodes whose series name another pod than the one that has the GPU.
// Exporters need not map GPUs to pods; where one does, all must.
func (g *Gate) userDefects(load loadFigures, state seriesFigures) []defect {
	if !slices.ContainsFunc(state.Series, func(s series) bool { return s.user(load.Namespace) != "" }) {
		return nil
	}
	onNode := map[string]string{}
	ours := map[string]bool{}
	for pod, node := range load.Nodes {
		onNode[node] = load.Namespace + "/" + pod
		ours[load.Namespace+"/"+pod] = true
	}
	wrong := map[string]string{}
	for _, s := range state.Series {
		node, user := g.host(s.Host), s.user(load.Namespace)
		if _, known := wrong[node]; node == "" || known {
			continue
		}
		switch {
		case g.risen(s) && onNode[node] != "" && user == "":
			wrong[node] = fmt.Sprintf("GPU %s of %s is used by pod %s, and its series names no pod", s.GPU, node, onNode[node])
		case g.risen(s) && onNode[node] != "" && user != onNode[node]:
			wrong[node] = fmt.Sprintf("GPU %s of %s is used by pod %s, and its series names pod %s", s.GPU, node, onNode[node], user)
		case !g.risen(s) && ours[user]:
			wrong[node] = fmt.Sprintf("GPU %s of %s is idle, and its series names pod %s as its user", s.GPU, node, user)
		}
	}
	var out []defect
	for _, node := range sortedKeys(wrong) {
		out = append(out, defect{node, wrong[node], "see the exporter of the node: DCGM_EXPORTER_KUBERNETES, its mount of the kubelet's pod-resources socket, and DCGM_EXPORTER_KUBERNETES_GPU_ID_TYPE"})
	}
	return out
}

// loadDefects is what is wrong with series under a load of so many GPUs a node.
func (g *Gate) loadDefects(want map[string]int, load loadFigures, state seriesFigures) []defect {
	return slices.Concat(g.defects(state, hints{}), g.countDefects(want, state), g.userDefects(load, state))
}
