package servicemetrics

import "time"

// Kinds of observations, and what their figures are.
const (
	kindMark     = "discovery"        // mark
	kindServer   = "inference-server" // server
	kindWatch    = "scraped-series"   // watch
	kindServed   = "custom-metric"    // served
	kindRequests = "requests"         // underLoad
	kindEnd      = "pod"              // pod, at the end
)

// Targets of kindWatch, and of kindServed.
const (
	unmarked = "without-mark"
	marked   = "marked"
	again    = "without-mark-again"
	idle     = "idle"
	after    = "after-requests"
)

// mark is the annotation or label by which Prometheus discovers pods.
type mark struct {
	// By is annotation or PodMonitor, Where the job or Prometheus that uses it, Own the labels
	// of the PodMonitor.
	By    string            `json:"by"`
	Where string            `json:"where,omitempty"`
	Own   map[string]string `json:"own,omitempty"`
	// Key and Value of the annotation or label.
	Key   string `json:"key"`
	Value string `json:"value"`
}

// pod is the pod of the service.
type pod struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid"`
	IP        string `json:"ip"`
	Node      string `json:"node"`
	Phase     string `json:"phase"`
}

// server is the pod, and the metric at its own /metrics.
type server struct {
	Pod     pod     `json:"pod"`
	Exposed bool    `json:"exposed"`
	Value   float64 `json:"value"`
}

// watch is what Prometheus had of the pod over some time; times are of its clock.
type watch struct {
	From    time.Time `json:"from"`
	To      time.Time `json:"to"`
	Queries int       `json:"looks"`
	// First is when it first had a series, AbsentSince since when it had none until To.
	First       time.Time `json:"first,omitzero"`
	AbsentSince time.Time `json:"gone,omitzero"`
	// Series of the last query.
	Series []sample `json:"series"`
	// Problem describes the pod's scrape target.
	Problem string `json:"trouble,omitempty"`
}

// sample is a series of the pod.
type sample struct {
	Namespace string    `json:"namespace"`
	Pod       string    `json:"pod"`
	Instance  string    `json:"instance"`
	Job       string    `json:"job"`
	Value     float64   `json:"value"`
	At        time.Time `json:"at"`
}

// served is an answer of the custom metrics API.
type served struct {
	Metric    string    `json:"metric"`
	Namespace string    `json:"namespace"`
	Pod       string    `json:"pod"`
	Value     float64   `json:"value"`
	At        time.Time `json:"at"`
	// Absent is the API server's reason for a missing value.
	Absent string `json:"absent,omitempty"`
}

// underLoad is the metric while requests are processed.
type underLoad struct {
	Sent    int    `json:"sideBySide"`
	Done    int    `json:"done"`
	Failed  int    `json:"failed"`
	Failure string `json:"failure,omitempty"`
	// Reads is how often both values were read while requests were processed.
	Reads      int     `json:"reads"`
	Prometheus float64 `json:"prometheus"`
	API        float64 `json:"api"`
	// Absent is the API server's reason for a missing value.
	Absent string `json:"absent,omitempty"`
}
