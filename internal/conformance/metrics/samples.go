package metrics

import (
	"time"

	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/probe/prom"
)

// Kinds of observations, and what their figures are.
const (
	kindSamples = "gpu-metrics"    // samples
	kindTargets = "scrape-targets" // targets
	kindUsage   = "gpu-usage"      // usage
	kindLoad    = "gpu-load"       // load
)

// Targets of kindSamples and kindLoad.
const (
	before = "before"
	first  = "first-load"
	second = "second-load"
	after  = "after"
)

// samples are all metrics at one time of Prometheus' clock.
type samples struct {
	Now  time.Time `json:"now"`
	GPUs []gpu     `json:"gpus"`
	// Users of GPUs at that time that are not of the run, if the samples had a defect under load: a pod of others may have started.
	Users *usage `json:"users,omitempty"`
}

// gpu is a GPU with its samples.
type gpu struct {
	// Host is the exporter's host label, Node the node label that Prometheus attached.
	Host  string `json:"host"`
	Node  string `json:"node,omitempty"`
	UUID  string `json:"uuid"`
	Index string `json:"gpu"`
	// Namespace and Pod that use the GPU, by the exporter; for an idle GPU they may be the
	// exporter's own.
	Namespace string `json:"namespace,omitempty"`
	Pod       string `json:"pod,omitempty"`
	// Samples by metric name; several of one metric: the GPU is exported several times.
	Samples map[string][]sample `json:"samples"`
}

type sample struct {
	Value    float64   `json:"value"`
	At       time.Time `json:"at"`
	Instance string    `json:"instance,omitempty"`
}

// usage is the use of GPUs by node.
type usage struct {
	Nodes map[string]kube.Usage `json:"nodes"`
}

// load is one half of the load.
type load struct {
	Namespace string    `json:"namespace"`
	Pods      []loadPod `json:"pods"`
}

type loadPod struct {
	Name string `json:"name"`
	Node string `json:"node"`
	GPUs int    `json:"gpus"`
}

// targets are the scrape targets that are down or of an exporter.
type targets struct {
	Active  int           `json:"active"`
	Targets []prom.Target `json:"targets"`
}
