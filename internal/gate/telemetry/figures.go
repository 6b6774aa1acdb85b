package telemetry

import (
	"time"

	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/probe/prom"
)

// The kinds of the gate's observations.
const (
	kindSeries        = "gpu-series"
	kindTargets       = "scrape-targets"
	kindLastSamples   = "last-samples"
	kindUsage         = "gpu-usage"
	kindLoad          = "gpu-load"
	kindAlertmanagers = "alertmanagers"
	kindReceivers     = "receivers"
	kindAlert         = "alert"
	kindNotifications = "notifications"
)

// The targets of the series' and the notifications' observations.
const (
	targetIdle   = "idle"
	targetLoaded = "under-load"
	targetBefore = "before"
	targetAfter  = "after"
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
	Instance string    `json:"instance"`
	Pod      string    `json:"pod,omitempty"`
	Node     string    `json:"node,omitempty"`
	Util     float64   `json:"utilPercent"`
	Sampled  time.Time `json:"sampled"`
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
	Since time.Time         `json:"since"`
	Nodes map[string]string `json:"nodes"` // pod to node
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
