package snapshot

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Kinds of the chain's observations. The Target of KindHop is the hop's name.
const (
	KindSetup = "autoscale-setup"
	KindHop   = "autoscale-hop"
)

// Setup is the configuration of a chain and the state before it began.
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
	// Gang is the number of pods of the gang; 0 without gang hops, for the reason GangWhy.
	Gang    int    `json:"gang"`
	GangWhy string `json:"gangWhy,omitempty"`
	// Window is the duration of the control run without load.
	Window metav1.Duration `json:"window"`
	// Settings that delay the chain; see the Setting names.
	Settings []Setting `json:"settings"`
	// Deadlines of the hops, by name.
	Deadlines map[string]metav1.Duration `json:"deadlines"`
	// Before are the initial nodes; Nodes of a State are those added later.
	Before []Ref `json:"before"`
	// BeforePools is the NodePool or node group of the initial nodes that have one, by node.
	// Nodes of other pools may change during a run.
	BeforePools map[string]string `json:"beforePools,omitempty"`
	// Turns reports that the holder and the load share one GPU in turn.
	Turns bool `json:"turns,omitempty"`
	// Keep reports that the run's objects are kept and clean-up is not judged.
	Keep bool `json:"keep,omitempty"`
	// GPUs expected of each GPU node of the site.
	GPUs map[string]int `json:"gpus"`
}

// Metric is the metric of the HPA.
type Metric struct {
	// API is external or custom.
	API string `json:"api"`
	// Name at the metrics API; Series in Prometheus.
	Name   string `json:"name"`
	Series string `json:"series"`
	Unit   string `json:"unit"`
	// Form is plain if the series has the workload's namespace, pod and container labels,
	// exported if they are exported_namespace and so on.
	Form string `json:"form"`
	// Selector of the load's series.
	Selector map[string]string `json:"selector"`
	// Query is the PromQL that the value is compared with.
	Query string `json:"query"`
}

// Scale is the configuration of the HPA.
type Scale struct {
	// Target is the average value per replica, in the metric's unit.
	Target float64 `json:"target"`
	Min    int     `json:"min"`
	Max    int     `json:"max"`
	// GPUs per replica; LoadGPUs of the load.
	GPUs     int `json:"gpus"`
	LoadGPUs int `json:"loadGPUs"`
	// Why replicas hold no GPUs, if they hold none.
	Why string `json:"why,omitempty"`
}

// PoolPlan describes the source of nodes.
type PoolPlan struct {
	// Autoscaler is karpenter or cluster-autoscaler; empty with Stay.
	Autoscaler string `json:"autoscaler"`
	// Managed: the provider runs the autoscaler where the cluster does not show it, by the site.
	Managed bool `json:"managed,omitempty"`
	// Stay: replicas run on initial GPU nodes and no node is added.
	Stay bool `json:"stay,omitempty"`
	// Name of the NodePool or the node group's label value; Own: created by this run.
	Name string `json:"name"`
	Own  bool   `json:"own"`
	// Zero is the NodePool with limit 0; empty without Karpenter.
	Zero string `json:"zero,omitempty"`
	// GPULimit of the pool; -1 without a limit.
	GPULimit int `json:"gpuLimit"`
	// InstanceTypes allowed in the pool; empty for any.
	InstanceTypes []string `json:"instanceTypes,omitempty"`
}

// Names of Settings.
const (
	SettingSample        = "sample-interval"   // the exporter reads the GPUs
	SettingScrape        = "scrape-interval"   // Prometheus reads the exporter
	SettingWindow        = "rate-window"       // the adapter's rule averages over
	SettingRelist        = "adapter-relist"    // the adapter learns of new series
	SettingHPASync       = "hpa-sync"          // sync period of the HPA
	SettingStabilization = "hpa-stabilization" // delay before the HPA scales down
	SettingBatchIdle     = "karpenter-batch-idle"
	SettingBatchMax      = "karpenter-batch-max"
	SettingRegistration  = "registration-delay" // from an instance's boot to its registration
	SettingConsolidate   = "consolidate-after"  // idle time of a node before its removal
	SettingNomination    = "nomination-window"  // Karpenter keeps a node that it chose for a pending pod
	SettingDisruption    = "disruption-poll"    // Karpenter's poll interval for removable nodes
	SettingValidation    = "consolidation-ttl"  // Karpenter's validation delay before a removal
	SettingTermination   = "termination"        // drain, delete the instance
)

// Setting is one setting that delays the chain.
type Setting struct {
	Name  string          `json:"name"`
	Value metav1.Duration `json:"value"`
	// Source of the value: "Prometheus /api/v1/status/config",
	// "Deployment monitoring/prometheus-adapter", "site autoscale.hpaSync".
	Source string `json:"source"`
	// Assumed reports that the value is the upstream default because it could not be read.
	Assumed bool `json:"assumed,omitempty"`
}

// Setting returns a setting by name; its value is 0 if it is unknown.
func (s Setup) Setting(name string) Setting {
	for _, x := range s.Settings {
		if x.Name == name {
			return x
		}
	}
	return Setting{Name: name}
}
