package kube

// Labels of every object that firstlight creates in a cluster.
const (
	// LabelRun is the run ID.
	LabelRun = "firstlight.dev/run"
	// LabelGate is the gate that created the object.
	LabelGate = "firstlight.dev/gate"
	// LabelRole is the role of the object within its gate.
	LabelRole = "firstlight.dev/role"
)

// GPUResource is the extended resource of the NVIDIA device plugin.
const GPUResource = "nvidia.com/gpu"

// NamespaceOf is the name of the namespace that a run creates.
func NamespaceOf(runID string) string { return "firstlight-" + runID }

// PriorityClassOf is the name of the PriorityClass of a run.
func PriorityClassOf(runID string) string { return "firstlight-" + runID }

// Labels are the labels of an object of a run; gate can be empty.
func Labels(runID, gate string) map[string]string {
	l := map[string]string{LabelRun: runID}
	if gate != "" {
		l[LabelGate] = gate
	}
	return l
}
