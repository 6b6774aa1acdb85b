package telemetry

import (
	"time"

	"github.com/firstlight/firstlight/internal/conformance/dra/allocation"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/probe/prom"
)

// The kinds of the gate's observations.
const (
	kindSeries        = "gpu-series"
	kindAnswers       = "prometheus-answers"
	kindOthers        = "other-series"
	kindTargets       = "scrape-targets"
	kindLastSamples   = "last-samples"
	kindUsage         = "gpu-usage"
	kindLoad          = "gpu-load"
	kindAlertmanagers = "alertmanagers"
	kindReceivers     = "receivers"
	kindAlert         = "alert"
	kindAlertEnd      = "alert-end"
	kindNotifications = "notifications"
)

// The targets of the observations of series, loads and notifications. The target of a partial
// load is partialTarget.
const (
	targetCluster = "cluster"
	targetIdle    = "idle"
	targetLoaded  = "under-load"
	targetBefore  = "before"
	targetAfter   = "after"

	targetAlertmanager = "alertmanager"
)

// seriesFigures are the series of the metric at one time of Prometheus' clock.
type seriesFigures struct {
	Now    time.Time `json:"now"`
	Series []series  `json:"series"`
}

// series is the series of one GPU.
type series struct {
	UUID string `json:"uuid"`
	GPU  string `json:"gpu"`
	// Host is the value of the exporter's host label, whose case differs between releases.
	Host string `json:"host"`
	// Instance, Pod and Node are Prometheus' labels of the exporter.
	Instance string `json:"instance"`
	Pod      string `json:"pod,omitempty"`
	Node     string `json:"node,omitempty"`
	// Namespace and Pod are the pod that uses the GPU if Prometheus honours the exporter's
	// labels. Otherwise they are the exporter's own, and the user of the GPU is in
	// ExportedNamespace and ExportedPod.
	Namespace         string    `json:"namespace,omitempty"`
	ExportedNamespace string    `json:"exportedNamespace,omitempty"`
	ExportedPod       string    `json:"exportedPod,omitempty"`
	Util              float64   `json:"utilPercent"`
	Sampled           time.Time `json:"sampled"`
}

// answersFigures are consecutive answers, each on its own connection.
type answersFigures struct {
	Answers []answer `json:"answers"`
}

// answer is one answer, by the value of the host label.
type answer struct {
	Now   time.Time             `json:"now"`
	Hosts map[string]hostAnswer `json:"hosts"`
	// Process identifies the Prometheus that answered before and after the series; "" if unknown.
	Process string `json:"process,omitempty"`
	// Several: two known processes answered, one before and one after the series.
	Several bool `json:"several,omitempty"`
	// Err is the error of the query.
	Err string `json:"err,omitempty"`
}

type hostAnswer struct {
	GPUs   int       `json:"gpus"`   // distinct UUIDs
	Oldest time.Time `json:"oldest"` // of the samples
}

// targetFigures are the scrape targets that are down or belong to an exporter.
type targetFigures struct {
	Active  int           `json:"active"`
	Targets []prom.Target `json:"targets"`
}

// lastFigures are the times of the exporters' last samples, for missing series.
type lastFigures struct {
	Now  time.Time    `json:"now"`
	Last []lastSample `json:"last"`
}

type lastSample struct {
	Host string    `json:"host"`
	Node string    `json:"node,omitempty"`
	At   time.Time `json:"at"`
}

// usageFigures are the GPUs in use and the pods that hold them, by node.
type usageFigures struct {
	Nodes map[string]kube.Usage `json:"nodes"`
}

// loadFigures are the pods of the load.
type loadFigures struct {
	Since     time.Time         `json:"since"`
	Namespace string            `json:"namespace,omitempty"`
	Nodes     map[string]string `json:"nodes"`          // pod to node
	GPUs      map[string]int    `json:"gpus,omitempty"` // pod to how many it has
	// Claims are the GPUs that claims allocate to the pods; nil if the pods claim none.
	Claims *allocation.Figures `json:"claims,omitempty"`
}

// alertmanagerFigures are the Alertmanagers that Prometheus sends to.
type alertmanagerFigures struct {
	Active []string `json:"active"`
	// NotServed: the endpoint does not list them.
	NotServed bool `json:"notServed,omitempty"`
	// Processes are the distinct Prometheus processes that answer at the endpoint, "" for an unknown one. Only of an
	// alert of a rule.
	Processes []string `json:"processes,omitempty"`
}

// receiverFigures are the receivers of Alertmanager's configuration.
type receiverFigures struct {
	Receivers []prom.Receiver `json:"receivers"`
	AlertEffect
}

// alertFigures is the state of the synthetic alert.
type alertFigures struct {
	// Through is how it was raised, as in the site file.
	Through string            `json:"through"`
	Labels  map[string]string `json:"labels"`
	// FiredSeconds is the wait until its rule fired; nil if it did not, or if there is no rule.
	FiredSeconds *float64 `json:"firedSeconds,omitempty"`
	// NotFiredSeconds is the wait when Prometheus was last asked and did not fire it; it fired between
	// the two. FiringErr is the error of the last query without an answer.
	NotFiredSeconds float64 `json:"notFiredSeconds,omitempty"`
	FiringErr       string  `json:"firingErr,omitempty"`
	// WaitedSeconds is the wait until this state was read.
	WaitedSeconds float64 `json:"waitedSeconds"`
	// NotYetSeconds is the wait when the last poll began that did not find the alert at its
	// receiver; the alert arrived between the two.
	NotYetSeconds float64 `json:"notYetSeconds"`
	// Alerts are the Alertmanagers' alerts with the attempt's label.
	Alerts []prom.AlertState `json:"alerts"`
	// NotListedBy are the Alertmanagers that do not list it.
	NotListedBy []string `json:"notListedBy,omitempty"`
	// Others are the names of other alerts that notify the receiver meanwhile.
	Others []string `json:"others,omitempty"`
}

// fired is when the rule fired; 0 without one.
func (f alertFigures) fired() time.Duration {
	if f.FiredSeconds == nil {
		return 0
	}
	return seconds(*f.FiredSeconds)
}

func (f alertFigures) waited() time.Duration { return seconds(f.WaitedSeconds) }

func (f alertFigures) notFired() time.Duration { return seconds(f.NotFiredSeconds) }

func (f alertFigures) notYet() time.Duration { return seconds(f.NotYetSeconds) }

func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }
