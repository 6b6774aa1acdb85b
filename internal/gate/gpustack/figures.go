package gpustack

import (
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/workload"
)

// The kinds of the gate's observations.
const (
	kindPolicy   = "clusterpolicy"
	KindNodes    = "nodes"
	kindOperands = "daemonsets"
	kindGang     = "gang-scheduler"
	kindUsage    = "gpu-usage"
	kindProof    = "gang-proof"
)

// The targets of the two proofs.
const (
	targetTooLarge = "gang-too-large"
	targetFits     = "gang-fits"
)

// policyFigures is a ClusterPolicy's status.
type policyFigures struct {
	Found      bool              `json:"found"`
	State      string            `json:"state"`
	Generation int64             `json:"generation"`
	Conditions []policyCondition `json:"conditions"`
}

type policyCondition struct {
	Type               string `json:"type"`
	Status             string `json:"status"`
	Reason             string `json:"reason"`
	Message            string `json:"message"`
	ObservedGeneration int64  `json:"observedGeneration,omitempty"`
}

// nodeFigures is what a node offers.
type nodeFigures struct {
	Name        string `json:"name"`
	Ready       bool   `json:"ready"`
	NotReadyWhy string `json:"notReadyWhy,omitempty"`
	Schedulable bool   `json:"schedulable"`
	// Resources by name.
	Resources map[string]resourceFigures `json:"resources"`
}

type resourceFigures struct {
	Capacity    int `json:"capacity"`
	Allocatable int `json:"allocatable"`
}

// operandFigures is one DaemonSet of the operator.
type operandFigures struct {
	Name    string `json:"name"`
	Found   bool   `json:"found"`
	Current bool   `json:"current"` // status is of the current generation
	Desired int    `json:"desired"`
	Ready   int    `json:"ready"`
	Updated int    `json:"updated"`
	// Pods of it, by node.
	Pods []operandPod `json:"pods"`
}

type operandPod struct {
	Pod   string `json:"pod"`
	Node  string `json:"node"`
	Ready bool   `json:"ready"`
	Why   string `json:"why,omitempty"`
}

// gangFigures is which gang schedulers' APIs the cluster serves and which one is used.
type gangFigures struct {
	Detected []workload.Detected `json:"detected"`
	Used     string              `json:"used"`
}

// usageFigures is who holds GPUs, by node.
type usageFigures struct {
	Nodes map[string]kube.Usage `json:"nodes"`
}

// proofFigures is one gang and what became of it.
type proofFigures struct {
	Scheduler  string `json:"scheduler"`
	GPUsPerPod int    `json:"gpusPerPod"`
	// Fits is how many such pods the free GPUs hold, before and after.
	Fits      int                `json:"fits"`
	FitsAfter int                `json:"fitsAfter"`
	Placement workload.Placement `json:"placement"`
	// Undecided says why no decision was seen.
	Undecided string `json:"undecided,omitempty"`
}
