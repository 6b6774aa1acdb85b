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
	kindDNS      = "dns"
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
	// Pressures are the conditions of trouble that the kubelet has, by type: reason and message.
	Pressures map[string]string `json:"pressures,omitempty"`
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
	// Images are what its containers run, init containers included.
	Images []operandImage `json:"images"`
}

// operandImage is what a container is to run, and what the container runtime says it runs:
// a repository and a digest, or the digest of the image's configuration where the image
// was not pulled.
type operandImage struct {
	Container string `json:"container"`
	Image     string `json:"image"`
	ID        string `json:"id"`
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

// dnsFigures are what the pods of the gang that fits resolved the name of the API server's
// Service to.
type dnsFigures struct {
	// Addresses that the Service has.
	Addresses []string     `json:"addresses"`
	Pods      []resolution `json:"pods"`
}

// resolution is one pod's.
type resolution struct {
	Pod       string   `json:"pod"`
	Node      string   `json:"node"`
	Addresses []string `json:"addresses"`
	// Exit is the resolver's exit code where it found nothing.
	Exit int `json:"exit,omitempty"`
	// Unread says why nothing is known.
	Unread string `json:"unread,omitempty"`
}
