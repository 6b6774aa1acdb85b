package snapshot

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// KindSetup and KindHop are the Kinds of the chain's observations. An
// observation of KindHop has the hop's name as its Target.
const (
	KindSetup = "autoscale-setup"
	KindHop   = "autoscale-hop"
)

// Setup is what a chain was asked to do, and what it found before it began.
type Setup struct {
	Run       string    `json:"run"`
	Namespace string    `json:"namespace"`
	Began     time.Time `json:"began"`
	Metric    Metric    `json:"metric"`
	Scale     Scale     `json:"scale"`
	Pool      PoolPlan  `json:"pool"`
	// Scheduler is default or kai; Queue is KAI's.
	Scheduler string `json:"scheduler"`
	Queue     string `json:"queue,omitempty"`
	// Gang says how many pods the gang has; 0: no gang hops, and GangWhy says why.
	Gang    int    `json:"gang"`
	GangWhy string `json:"gangWhy,omitempty"`
	// Window is how long nothing may scale in the control run.
	Window metav1.Duration `json:"window"`
	// Settings are what costs time in the chain, by name; see the Setting names.
	Settings []Setting `json:"settings"`
	// Deadlines of the hops, by name.
	Deadlines map[string]metav1.Duration `json:"deadlines"`
	// Before are the nodes that were there; Nodes of a State are those that came.
	Before []Ref `json:"before"`
	// BeforePools is the NodePool or node group of each of Before that has one, by
	// node: nodes of somebody else's pool may come and go during a run.
	BeforePools map[string]string `json:"beforePools,omitempty"`
	// Turns: there is one GPU for the holder and the load, which take turns on it.
	Turns bool `json:"turns,omitempty"`
	// Keep: what was created is left, so that clean-up is not judged.
	Keep bool `json:"keep,omitempty"`
	// GPUs expected of each GPU node of the site, for the composition.
	GPUs map[string]int `json:"gpus"`
}

// Metric is what the HPA follows.
type Metric struct {
	// API is external or custom.
	API string `json:"api"`
	// Name at the metrics API; Series is Prometheus's name of it.
	Name   string `json:"name"`
	Series string `json:"series"`
	Unit   string `json:"unit"`
	// Form is plain where a GPU's series carries the workload's namespace, pod
	// and container, exported where it has them as exported_namespace and so on.
	Form string `json:"form"`
	// Selector are the labels that choose the load's series.
	Selector map[string]string `json:"selector"`
	// Query is the PromQL that the value is held against.
	Query string `json:"query"`
}

// Scale is what the HPA is told.
type Scale struct {
	// Target is the average value a replica, in the metric's unit.
	Target float64 `json:"target"`
	Min    int     `json:"min"`
	Max    int     `json:"max"`
	// GPUs a replica, and on how many nodes the load takes how many.
	GPUs     int `json:"gpus"`
	LoadGPUs int `json:"loadGPUs"`
	// Why says why replicas hold no GPUs, where they hold none.
	Why string `json:"why,omitempty"`
}

// PoolPlan is where nodes come from.
type PoolPlan struct {
	// Autoscaler is karpenter or cluster-autoscaler; empty with Stay.
	Autoscaler string `json:"autoscaler"`
	// Stay: replicas stay on GPU nodes that were there, and no node has to come.
	Stay bool `json:"stay,omitempty"`
	// Name of the NodePool (or the node group's label value); Own: made by this run.
	Name string `json:"name"`
	Own  bool   `json:"own"`
	// Zero is the NodePool with limit 0; empty without Karpenter.
	Zero string `json:"zero,omitempty"`
	// GPULimit of the pool, -1: none stated.
	GPULimit int `json:"gpuLimit"`
	// InstanceTypes that the pool may choose from; empty: any.
	InstanceTypes []string `json:"instanceTypes,omitempty"`
}

// The names of Settings.
const (
	SettingSample        = "sample-interval"   // the exporter reads the GPUs
	SettingScrape        = "scrape-interval"   // Prometheus reads the exporter
	SettingWindow        = "rate-window"       // the adapter's rule averages over
	SettingRelist        = "adapter-relist"    // the adapter learns of new series
	SettingHPASync       = "hpa-sync"          // the HPA looks
	SettingStabilization = "hpa-stabilization" // the HPA waits before it goes down
	SettingBatchIdle     = "karpenter-batch-idle"
	SettingBatchMax      = "karpenter-batch-max"
	SettingRegistration  = "registration-delay" // an instance's boot until it registers
	SettingConsolidate   = "consolidate-after"  // a node is quiet before it may go
	SettingDisruption    = "disruption-poll"    // Karpenter looks for nodes to remove
	SettingValidation    = "consolidation-ttl"  // Karpenter looks again before it removes
	SettingTermination   = "termination"        // drain, delete the instance
)

// Setting is one setting that costs time.
type Setting struct {
	Name  string          `json:"name"`
	Value metav1.Duration `json:"value"`
	// Source says where it was read: "Prometheus /api/v1/status/config",
	// "Deployment monitoring/prometheus-adapter", "site autoscale.hpaSync".
	Source string `json:"source"`
	// Assumed: it could not be read, and this is the upstream default.
	Assumed bool `json:"assumed,omitempty"`
}

// Setting finds one by name; zero when there is none.
func (s Setup) Setting(name string) Setting {
	for _, x := range s.Settings {
		if x.Name == name {
			return x
		}
	}
	return Setting{Name: name}
}
