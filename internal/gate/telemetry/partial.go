package telemetry

import (
	"fmt"
	"maps"
	"slices"
)

// partialTarget is the target of a round's observations; rounds count from 0.
func partialTarget(round int) string { return fmt.Sprintf("partial-%d", round+1) }

// rounds are the partial loads: the number of loaded GPUs of each node. Over all rounds, no two
// nodes have equal loads, which reveals series with another node's name. If nodes have enough
// GPUs, each round loads some but not all, which reveals series with another GPU's name too.
func (g *Gate) rounds() []map[string]int {
	lowest, levels := 0, g.gpus+1
	if g.gpus > 2 {
		lowest, levels = 1, g.gpus-1
	}
	if g.gpus < 1 || lowest == 0 && len(g.nodes) < 2 {
		return nil // nothing to distinguish
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

// whole is the load of all GPUs.
func (g *Gate) whole() map[string]int {
	out := map[string]int{}
	for _, node := range g.nodes {
		out[node] = g.gpus
	}
	return out
}

// byCount are the nodes of a round by their number of loaded GPUs, without nodes that have
// none.
func byCount(round map[string]int) map[int][]string {
	out := map[int][]string{}
	for _, node := range slices.Sorted(maps.Keys(round)) {
		if n := round[node]; n > 0 {
			out[n] = append(out[n], node)
		}
	}
	return out
}

// asPlanned reports whether a load has the wanted GPUs.
func (f loadFigures) asPlanned(want map[string]int) bool {
	have := map[string]int{}
	for pod, node := range f.Nodes {
		have[node] += f.GPUs[pod]
	}
	return maps.EqualFunc(byCount(have), byCount(want), slices.Equal)
}

// risen reports whether a series is under load.
func (g *Gate) risen(s series) bool { return s.Util >= g.profile.MinUtilUnderLoad.Value }

// countDefects are the nodes whose number of risen series differs from their loaded GPUs.
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
			out = append(out, defect{node, fmt.Sprintf("%d GPUs of %s are loaded, and %d series with the host label %s follow: they may be of another node", want[node], node, risen[node], node),
				"check the Hostname of the node's exporter (its NODE_NAME) and the relabelling that sets it; compare with nvidia-smi on the node"})
		}
	}
	return out
}

// user is the pod in the series' labels, as namespace/name, if it is of the load's namespace or
// in the exported labels.
func (s series) user(namespace string) string {
	switch {
	case s.ExportedPod != "":
		return s.ExportedNamespace + "/" + s.ExportedPod
	case s.Namespace == namespace && s.Pod != "":
		return s.Namespace + "/" + s.Pod
	}
	return ""
}

// userDefects are the nodes whose series name another pod than the one that uses the GPU.
// Exporters need not map GPUs to pods; if one does, all must.
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
		out = append(out, defect{node, wrong[node], "check the exporter of the node: DCGM_EXPORTER_KUBERNETES, its mount of the kubelet's pod-resources socket, and DCGM_EXPORTER_KUBERNETES_GPU_ID_TYPE"})
	}
	return out
}

// loadDefects are the defects of the series under a load.
func (g *Gate) loadDefects(want map[string]int, load loadFigures, state seriesFigures) []defect {
	return slices.Concat(g.defects(state, hints{}), g.countDefects(want, state), g.userDefects(load, state), g.claimDefects(load, state))
}
