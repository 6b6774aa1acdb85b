package kube

// The labels that everything firstlight creates in a cluster carries.
const (
	// LabelRun holds the run's id.
	LabelRun = "firstlight.dev/run"
	// LabelGate holds the gate that created the object.
	LabelGate = "firstlight.dev/gate"
	// LabelRole holds what an object is for within its gate.
	LabelRole = "firstlight.dev/role"
)

// GPUResource is the extended resource that NVIDIA's device plugin advertises.
const GPUResource = "nvidia.com/gpu"

// NamespaceOf is the namespace that a run makes for itself.
func NamespaceOf(runID string) string { return "firstlight-" + runID }

// PriorityClassOf is the name of a run's PriorityClass.
func PriorityClassOf(runID string) string { return "firstlight-" + runID }

// Labels are the labels of an object that gate creates in a run.
func Labels(runID, gate string) map[string]string {
	l := map[string]string{LabelRun: runID}
	if gate != "" {
		l[LabelGate] = gate
	}
	return l
}
