package metrics

import (
	"time"

	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/probe/prom"
)

// The kinds of the check's observations.
const (
	kindSamples = "gpu-metrics"
	kindTargets = "scrape-targets"
	kindUsage   = "gpu-usage"
	kindLoad    = "gpu-load"
)

// The targets of the samples' observations, and of the loads'.
const (
	before = "before"
	first  = "first-load"
	second = "second-load"
	after  = "after"
)

// samples are all metrics at one moment of Prometheus' clock.
type samples struct {
	Now  time.Time `json:"now"`
	GPUs []gpu     `json:"gpus"`
}

// gpu is what Prometheus has of one GPU.
type gpu struct {
	// Host is the value of the exporter's host label, Node what Prometheus says of
	// the exporter's.
	Host  string `json:"host"`
	Node  string `json:"node,omitempty"`
	UUID  string `json:"uuid"`
	Index string `json:"gpu"`
	// Namespace and Pod use the GPU, as its exporter says; of an idle GPU they may
	// be the exporter's own.
	Namespace string `json:"namespace,omitempty"`
	Pod       string `json:"pod,omitempty"`
	// Samples by the metric's name; more than one: the GPU is exported twice.
	Samples map[string][]sample `json:"samples"`
}

// sample is one value.
type sample struct {
	Value    float64   `json:"value"`
	At       time.Time `json:"at"`
	Instance string    `json:"instance,omitempty"`
}

// usage is who holds the GPUs, by node.
type usage struct {
	Nodes map[string]kube.Usage `json:"nodes"`
}

// load is one half of the load as it ran.
type load struct {
	Namespace string `json:"namespace"`
	// Pods with the GPUs of each, and where they run.
	Pods []loadPod `json:"pods"`
}

type loadPod struct {
	Name string `json:"name"`
	Node string `json:"node"`
	GPUs int    `json:"gpus"`
}

// targets are Prometheus' scrape targets that are down or an exporter's.
type targets struct {
	Active  int           `json:"active"`
	Targets []prom.Target `json:"targets"`
}
