package ray

import (
	"time"

	probe "github.com/firstlight/firstlight/internal/probe/ray"
)

// The kinds of observations.
const (
	kindOperator = "kuberay-operator" // operatorFigures
	kindCluster  = "raycluster"       // clusterFigures
	kindPods     = "ray-pods"         // []podFigures
	kindVersion  = "ray-version"      // versionFigures
	kindNodes    = "ray-nodes"        // []probe.Node
	kindLeft     = "ray-jobs-left"    // leftFigures
	kindUsage    = "ray-usage"        // probe.Usage
	kindOthers   = "ray-groups"       // []othersFigures, without a report about the usage
	kindProof    = "placement-group"  // proofFigures; its target is targetFits or targetTooLarge
	kindAfter    = "ray-pods-after"   // []podFigures
	kindRaylets  = "ray-nodes-after"  // []probe.Node
)

// The targets of the two proofs.
const (
	targetFits     = "group-fits"
	targetTooLarge = "group-too-large"
)

// operatorFigures are what the operator did with a RayCluster that is suspended.
type operatorFigures struct {
	// State that it wrote within the time; "suspended" if it works.
	State string `json:"state"`
	// Resumed: another controller has set spec.suspend to false.
	Resumed bool `json:"resumed,omitempty"`
	// Pods that it has.
	Pods int `json:"pods,omitempty"`
	// WithinSeconds is how long the gate waited for it at most.
	WithinSeconds float64 `json:"withinSeconds"`
}

// clusterFigures are the spec and the status of the RayCluster.
type clusterFigures struct {
	// UID changes when a RayCluster of the same name is created again.
	UID       string `json:"uid"`
	State     string `json:"state"`
	Reason    string `json:"reason,omitempty"`
	Suspended bool   `json:"suspended,omitempty"`
	// Spec is the digest of the spec, without what the autoscaler changes.
	Spec string `json:"spec"`
	// Generation is that of the spec. Observed is the one of the operator's last change of the status: KubeRay does not
	// write it alone.
	Generation int64       `json:"generation"`
	Observed   int64       `json:"observed"`
	Conditions []condition `json:"conditions"`
	Groups     []group     `json:"groups"`
	// Scales: Ray's autoscaler may add workers with GPUs.
	Scales bool `json:"scales,omitempty"`
}

type condition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
}

// group is a worker group.
type group struct {
	Name string `json:"name"`
	// Pods that it must have: replicas times hosts of each.
	Pods      int  `json:"pods"`
	Suspended bool `json:"suspended,omitempty"`
	// GPUs: Ray may get GPUs with its pods.
	GPUs bool `json:"gpus,omitempty"`
	// Scales: Ray's autoscaler may change the number of its pods.
	Scales bool `json:"scales,omitempty"`
}

// podFigures are a pod of the RayCluster.
type podFigures struct {
	Name string `json:"name"`
	UID  string `json:"uid"`
	Head bool   `json:"head,omitempty"`
	// Node is empty until the pod is placed.
	Node    string `json:"node,omitempty"`
	Address string `json:"address,omitempty"`
	GPUs    int    `json:"gpus,omitempty"`
	Ready   bool   `json:"ready"`
	// Terminating: it is being deleted.
	Terminating bool `json:"terminating,omitempty"`
	// Restarts of its Ray container. Started is when it started last, Ended when it ended before.
	Restarts int        `json:"restarts"`
	Started  *time.Time `json:"started,omitempty"`
	Ended    *time.Time `json:"ended,omitempty"`
	// Reason that it is not ready.
	Reason string `json:"reason,omitempty"`
}

type versionFigures struct {
	Version string `json:"version"`
}

// proofFigures are a placement group that a job of the gate created.
type proofFigures struct {
	Bundles int     `json:"bundles"`
	GPUs    float64 `json:"gpus"` // of each bundle
	// Job is the job before the gate stopped it.
	Job probe.Job `json:"job"`
	// Group is the group before the gate stopped the job; nil: the job created no group.
	Group *probe.Group `json:"group,omitempty"`
	// Counts are the results of the tasks on its bundles.
	Counts []count `json:"counts,omitempty"`
	// SteadySeconds is how long the group was seen in that state.
	SteadySeconds float64 `json:"steadySeconds"`
	// Removed: the group was gone after the job.
	Removed bool `json:"removed"`
	// Log is the end of the job's log.
	Log string `json:"log,omitempty"`
}

func (f proofFigures) steady() time.Duration {
	return time.Duration(f.SteadySeconds * float64(time.Second))
}
