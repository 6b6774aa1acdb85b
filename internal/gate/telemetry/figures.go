package telemetry

import (
	"time"

	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/probe/prom"
)

// The kinds of the gate's observations.
const (
	kindSeries        = "gpu-series"
	kindAnswers       = "prometheus-answers"
	kindTargets       = "scrape-targets"
	kindLastSamples   = "last-samples"
	kindUsage         = "gpu-usage"
	kindLoad          = "gpu-load"
	kindAlertmanagers = "alertmanagers"
	kindReceivers     = "receivers"
	kindAlert         = "alert"
	kindNotifications = "notifications"
)

// The targets of the series', the loads' and the notifications' observations; a partial
// load's is partialTarget.
const (
	targetCluster = "cluster"
	targetIdle    = "idle"
	targetLoaded  = "under-load"
	targetBefore  = "before"
	targetAfter   = "after"
)

// seriesFigures is the state of the metric at one moment of Prometheus' clock.
type seriesFigures struct {
	Now    time.Time `json:"now"`
	Series []series  `json:"series"`
}

// series is one GPU's.
type series struct {
	UUID string `json:"uuid"`
	GPU  string `json:"gpu"`
	// Host is the value of the exporter's host label, whose name differs in case
	// between its releases.
	Host string `json:"host"`
	// Instance, Pod and Node are what Prometheus knows of the exporter.
	Instance string `json:"instance"`
	Pod      string `json:"pod,omitempty"`
	Node     string `json:"node,omitempty"`
	// Namespace and Pod are those of the pod that uses the GPU where Prometheus honours
	// the exporter's labels; where it does not, they are the exporter's own, and the user
	// of the GPU is in ExportedNamespace and ExportedPod.
	Namespace         string    `json:"namespace,omitempty"`
	ExportedNamespace string    `json:"exportedNamespace,omitempty"`
	ExportedPod       string    `json:"exportedPod,omitempty"`
	Util              float64   `json:"utilPercent"`
	Sampled           time.Time `json:"sampled"`
}

// answersFigures are several answers in a row, each on a connection of its own.
type answersFigures struct {
	Answers []answer `json:"answers"`
}

// answer is what one of them says of each host, by the value of its host label.
type answer struct {
	Now   time.Time             `json:"now"`
	Hosts map[string]hostAnswer `json:"hosts"`
	// Err says why there is none.
	Err string `json:"err,omitempty"`
}

type hostAnswer struct {
	GPUs   int       `json:"gpus"`   // distinct UUIDs
	Oldest time.Time `json:"oldest"` // of the samples
}

// targetFigures are the scrape targets that are down or an exporter's.
type targetFigures struct {
	Active  int           `json:"active"`
	Targets []prom.Target `json:"targets"`
}

// lastFigures is when the last sample was taken of exporters, for those whose
// series are gone.
type lastFigures struct {
	Now  time.Time    `json:"now"`
	Last []lastSample `json:"last"`
}

type lastSample struct {
	Host string    `json:"host"`
	Node string    `json:"node,omitempty"`
	At   time.Time `json:"at"`
}

// usageFigures is who holds GPUs, by node.
type usageFigures struct {
	Nodes map[string]kube.Usage `json:"nodes"`
}

// loadFigures says that the load ran, and where.
type loadFigures struct {
	Since     time.Time         `json:"since"`
	Namespace string            `json:"namespace,omitempty"`
	Nodes     map[string]string `json:"nodes"`          // pod to node
	GPUs      map[string]int    `json:"gpus,omitempty"` // pod to how many it has
}

// alertmanagerFigures are the Alertmanagers that Prometheus sends to.
type alertmanagerFigures struct {
	Active []string `json:"active"`
}

// receiverFigures are the receivers of Alertmanager's configuration.
type receiverFigures struct {
	Receivers []prom.Receiver `json:"receivers"`
}

// alertFigures is what became of the synthetic alert.
type alertFigures struct {
	Labels map[string]string `json:"labels"`
	Waited time.Duration     `json:"waited"`
	// Alerts that carry the run's label, as Alertmanager has them.
	Alerts []prom.AlertState `json:"alerts"`
}
