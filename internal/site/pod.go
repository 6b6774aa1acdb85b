package site

import (
	"maps"
	"slices"

	"github.com/firstlight/firstlight/internal/podpatch"
)

// The names of the containers of the gates' pods, by which a patch names them.
const (
	LoadContainer       = "dcgmproftester"
	CollectiveContainer = "nccl-tests"
	TrainingContainer   = "trainer"
	InferenceContainer  = "vllm"
)

// podPatch is a patch of the site file.
type podPatch struct {
	path, container string
	patch           map[string]any
}

// podPatches are the patches of the site file by the gate whose pods they patch; that of all gates
// has the empty name.
func (s *Site) podPatches() map[string]podPatch {
	w := &s.Workloads
	return map[string]podPatch{
		"":           {"workloads.pod", "", w.Pod},
		"telemetry":  {"telemetry.pod", LoadContainer, s.Telemetry.Pod},
		"collective": {"workloads.collective.pod", CollectiveContainer, w.Collective.Pod},
		"training":   {"workloads.training.pod", TrainingContainer, w.Training.Pod},
		"inference":  {"workloads.inference.pod", InferenceContainer, w.Inference.Pod},
	}
}

// PodPatches are the patches of the pods of a gate, in the order in which they apply.
func (s *Site) PodPatches(gate string) []map[string]any {
	patches := s.podPatches()
	var out []map[string]any
	for _, name := range slices.Compact([]string{"", gate}) {
		if p := patches[name].patch; len(p) > 0 {
			out = append(out, p)
		}
	}
	return out
}

// PodReferences lists the objects that the pods of some gates refer to in their namespace, such as
// "Secret hf-token", sorted.
func (s *Site) PodReferences(gates []string) []string {
	var out []string
	for gate, p := range s.podPatches() {
		if gate == "" || slices.Contains(gates, gate) {
			out = append(out, podpatch.References(p.patch)...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (v *validator) pods(s *Site) {
	patches := s.podPatches()
	for _, gate := range slices.Sorted(maps.Keys(patches)) {
		p := patches[gate]
		for _, problem := range podpatch.Check(p.patch, p.container) {
			path := p.path
			if problem.Path != "" {
				path += "." + problem.Path
			}
			v.add(path, "%s", problem.Message)
		}
	}
}
