package snapshot

import (
	"slices"
	"strings"
	"time"
)

// State is the chain at one time, with the history that its hops need. Deleted objects
// stay, with Deleted set.
type State struct {
	At time.Time `json:"at"`
	// Marks are the times of the chain's own actions; see the Mark names.
	Marks map[string]time.Time `json:"marks,omitempty"`

	APIs     []APIService `json:"apis,omitempty"`
	Programs []Program    `json:"programs,omitempty"`
	Pools    []Pool       `json:"pools,omitempty"` // the run's pool, and the one with limit 0
	HPA      *HPA         `json:"hpa,omitempty"`
	Desired  []Desired    `json:"desired,omitempty"` // every change of the HPA's status, oldest first
	Pods     []Pod        `json:"pods,omitempty"`    // of this run
	Claims   []Claim      `json:"claims,omitempty"`  // added since the run began, of any owner
	Nodes    []Node       `json:"nodes,omitempty"`   // added since the run began, of any owner
	Queues   []Queue      `json:"queues,omitempty"`  // KAI queues named by the run's pods
	// Missing are initial nodes that are gone.
	Missing []Ref   `json:"missing,omitempty"`
	Events  []Event `json:"events,omitempty"` // about the run's pods, HPA, pools, claims and nodes

	Coverage []Coverage `json:"coverage,omitempty"` // a GPU node of the site
	Made     []Sample   `json:"made,omitempty"`     // the current series of the metric's value
	// Readings of the load's GPUs in the exporters, of the query in Prometheus and of the
	// metrics API, oldest first.
	Exporter   []Reading `json:"exporter,omitempty"`
	Prometheus []Reading `json:"prometheus,omitempty"`
	API        []Reading `json:"api,omitempty"`
	// Listed are the metrics that the metrics API lists for this name's prefix.
	Listed []string `json:"listed,omitempty"`
	// Rules of the adapter, if they could be read.
	Rules string `json:"rules,omitempty"`
	// Left are objects with the run's label after clean-up.
	Left []Ref `json:"left,omitempty"`
	// Sources are the Problem names of the sources that were read completely at least once. Nothing
	// is known of the objects of another source.
	Sources []string `json:"sources,omitempty"`
	// Problems are the read errors of sources that are unreadable now; see the Problem names.
	Problems map[string]string `json:"problems,omitempty"`
	// ActionError is the error of a request of the chain to create or delete an object.
	ActionError string `json:"actionError,omitempty"`
}

// Names of Problems. A name may have a suffix after a slash: "exporter/gpu-03".
const (
	ProblemAPIServices = "apiservices"
	ProblemPrograms    = "programs"
	ProblemPools       = "nodepools"
	ProblemPrometheus  = "prometheus" // the query, its samples, coverage
	ProblemExporter    = "exporter"
	ProblemMetricsAPI  = "metrics-api" // the API is unreachable; its error responses are Readings
	ProblemHPA         = "hpa"
	ProblemPods        = "pods"
	ProblemClaims      = "nodeclaims"
	ProblemNodes       = "nodes"
	ProblemEvents      = "events"
	ProblemLeft        = "left" // objects with the run's label could not be listed
)

// Names of Marks.
const (
	MarkPlaced   = "placed"    // the workload, its HPA and the holder were created
	MarkWindow   = "window"    // the control window began
	MarkWindowTo = "window-to" // ... and ended
	MarkLoad     = "load"      // the load was created
	MarkStop     = "stop"      // the load was deleted
	MarkGang     = "gang"      // the gang was created
	MarkGangZero = "gang-zero" // the gang with the limit one node short was created
	MarkClean    = "clean"     // cleaning up began
)

// Ref names an object.
type Ref struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	UID       string `json:"uid,omitempty"`
}

// String is Kind namespace/name.
func (r Ref) String() string {
	if r.Namespace == "" {
		return r.Kind + " " + r.Name
	}
	return r.Kind + " " + r.Namespace + "/" + r.Name
}

// Life is the observed lifetime of an object.
type Life struct {
	Created time.Time `json:"created"` // API timestamp, whole seconds
	First   time.Time `json:"first"`   // first observed
	// Deleting: deletion requested; Deleted: gone.
	Deleting time.Time `json:"deleting,omitzero"`
	Deleted  time.Time `json:"deleted,omitzero"`
}

// Gone reports whether the object was deleted.
func (l Life) Gone() bool { return !l.Deleted.IsZero() }

// Condition is a condition of an object's status.
type Condition struct {
	Type    string    `json:"type"`
	Status  string    `json:"status"`
	Reason  string    `json:"reason,omitempty"`
	Message string    `json:"message,omitempty"`
	At      time.Time `json:"at,omitzero"` // lastTransitionTime
	// Seen is when this status was first observed.
	Seen time.Time `json:"seen,omitzero"`
}

// Is returns a condition by type and whether its status is True.
func Is(conditions []Condition, kind string) (Condition, bool) {
	for _, c := range conditions {
		if c.Type == kind {
			return c, c.Status == "True"
		}
	}
	return Condition{Type: kind}, false
}

// APIService is a metrics API's registration.
type APIService struct {
	Ref
	// Absent: not registered.
	Absent     bool        `json:"absent,omitempty"`
	Service    string      `json:"service,omitempty"`
	Conditions []Condition `json:"conditions,omitempty"`
}

// Program is a Deployment that the chain needs: the adapter, the autoscaler, KAI.
type Program struct {
	Ref
	// Role is adapter, autoscaler, scheduler.
	Role    string `json:"role"`
	Absent  bool   `json:"absent,omitempty"`
	Desired int    `json:"desired"`
	Ready   int    `json:"ready"`
	// Why pods of it are not ready.
	Why string `json:"why,omitempty"`
}

// Pool is a NodePool.
type Pool struct {
	Ref
	Life
	Absent bool `json:"absent,omitempty"`
	// GPULimit is -1 without a limit. GPUs of its current nodes.
	GPULimit         int         `json:"gpuLimit"`
	GPUs             int         `json:"gpus"`
	ConsolidateAfter string      `json:"consolidateAfter"`
	Policy           string      `json:"policy"`
	Budgets          []string    `json:"budgets,omitempty"` // nodes of empty nodes at any time: "0", "10%"; else with reasons and schedule
	Taints           []string    `json:"taints,omitempty"`  // key=value:effect
	Requirements     []string    `json:"requirements,omitempty"`
	NodeClass        Ref         `json:"nodeClass"`
	Conditions       []Condition `json:"conditions,omitempty"`
}

// HPA is the chain's HorizontalPodAutoscaler.
type HPA struct {
	Ref
	Life
	Min        int         `json:"min"`
	Max        int         `json:"max"`
	Target     float64     `json:"target"`
	Conditions []Condition `json:"conditions,omitempty"`
}

// Desired is one version of the HPA's status.
type Desired struct {
	At      time.Time `json:"at"`
	Current int       `json:"current"`
	Desired int       `json:"desired"`
	// Value of the metric in the HPA's status (average times replicas); nil without one.
	Value *float64 `json:"value,omitempty"`
}

// Roles of a run's pods.
const (
	RoleWorker = "worker" // scaled by the HPA
	RoleHolder = "holder" // keeps the metric served: holds a GPU, idle
	RoleLoad   = "load"
	RoleZero   = "zero" // of the pool with limit 0
	RoleGang   = "gang"
	RoleShort  = "gang-short" // of the gang with the limit one node short
)

// Pod is a pod of the run.
type Pod struct {
	Ref
	Life
	Role       string            `json:"role"`
	Phase      string            `json:"phase"`
	Node       string            `json:"node,omitempty"`
	BoundAt    time.Time         `json:"boundAt,omitzero"` // binding first observed
	ReadyAt    time.Time         `json:"readyAt,omitzero"`
	GPUs       int               `json:"gpus"`
	Scheduler  string            `json:"scheduler,omitempty"`
	Queue      string            `json:"queue,omitempty"`
	Selector   map[string]string `json:"selector,omitempty"`
	Tolerates  []string          `json:"tolerates,omitempty"` // key=value:effect, key:effect, or * for everything
	Conditions []Condition       `json:"conditions,omitempty"`
	Why        string            `json:"why,omitempty"` // reason of a waiting or failed container
}

// Queue is a KAI queue named by pods of the run.
type Queue struct {
	Ref
	// Absent: the queue does not exist.
	Absent bool `json:"absent,omitempty"`
}

// Claim is a NodeClaim.
type Claim struct {
	Ref
	Life
	Pool         string      `json:"pool"`
	Ours         bool        `json:"ours"` // of the run's pools
	InstanceType string      `json:"instanceType,omitempty"`
	Node         string      `json:"node,omitempty"`
	ProviderID   string      `json:"providerID,omitempty"`
	GPUs         int         `json:"gpus"` // requested for its pods
	Conditions   []Condition `json:"conditions,omitempty"`
}

// Node is a node added during the run.
type Node struct {
	Ref
	Life
	Pool         string   `json:"pool,omitempty"`
	Ours         bool     `json:"ours"`
	InstanceType string   `json:"instanceType,omitempty"`
	ProviderID   string   `json:"providerID,omitempty"`
	GPUs         int      `json:"gpus"`
	Taints       []string `json:"taints,omitempty"` // key=value:effect
	// Untainted is when the last NoExecute taint was first seen gone; zero if the node had none.
	Untainted  time.Time   `json:"untainted,omitzero"`
	Conditions []Condition `json:"conditions,omitempty"`
	// Holders are the pods on the node.
	Holders []Holder `json:"holders,omitempty"`
}

// Evicts reports whether the node has a NoExecute taint.
func (n Node) Evicts() bool {
	return slices.ContainsFunc(n.Taints, func(t string) bool { return strings.HasSuffix(t, ":NoExecute") })
}

// Holder is a pod on a node of the run.
type Holder struct {
	Ref
	Ours         bool `json:"ours"`
	DoNotDisrupt bool `json:"doNotDisrupt"`
	Daemon       bool `json:"daemon"`
}

// Event is a Kubernetes event, of events.k8s.io or the core API.
type Event struct {
	About   Ref       `json:"about"`
	Type    string    `json:"type"`
	Reason  string    `json:"reason"`
	Message string    `json:"message"`
	From    string    `json:"from"` // the reporting controller
	First   time.Time `json:"first"`
	Count   int       `json:"count"`
}

// Coverage counts the series of one GPU node in Prometheus.
type Coverage struct {
	Node     string `json:"node"`
	Expected int    `json:"expected"` // GPUs
	Fresh    int    `json:"fresh"`    // GPUs with a sample younger than the freshness limit
	Stale    int    `json:"stale"`
	// Up is the health of the exporter's target; nil without a target for this node.
	Up      *bool  `json:"up,omitempty"`
	Trouble string `json:"trouble,omitempty"` // the target's last error, or why targets are not known
	// Unlabelled is the number of series without a GPU label.
	Unlabelled int `json:"unlabelled"`
	// Labels are the label names of the node's series.
	Labels []string `json:"labels,omitempty"`
}

// Sample is one series of the value.
type Sample struct {
	Node      string    `json:"node"`
	GPU       string    `json:"gpu"` // index; empty if the series has none
	UUID      string    `json:"uuid,omitempty"`
	Namespace string    `json:"namespace,omitempty"` // of the pod that uses the GPU
	Pod       string    `json:"pod,omitempty"`
	Container string    `json:"container,omitempty"`
	Value     float64   `json:"value"`
	At        time.Time `json:"at"` // time of the sample
}

// Reading is one value at one time, or the error of the read.
type Reading struct {
	At    time.Time `json:"at"` // local time of the read
	Value float64   `json:"value"`
	Err   string    `json:"err,omitempty"`
	// Where the value was read: node/gpu for exporters.
	Where string `json:"where,omitempty"`
}
