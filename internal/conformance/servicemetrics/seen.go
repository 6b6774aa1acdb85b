package servicemetrics

import "time"

// The kinds of the check's observations.
const (
	kindMark     = "discovery"        // by which mark Prometheus chooses what to scrape
	kindServer   = "inference-server" // the pod, and what it says of itself
	kindWatch    = "scraped-series"   // what Prometheus had of the pod
	kindServed   = "custom-metric"    // what the custom metrics API says of the pod
	kindRequests = "requests"         // the value while requests were worked at
	kindEnd      = "pod"              // the pod at the end
)

// The targets of the watches, and of the looks at the custom metrics API.
const (
	unmarked = "without-mark"
	marked   = "marked"
	again    = "without-mark-again"
	idle     = "idle"
	after    = "after-requests"
)

// mark is by what Prometheus chooses pods.
type mark struct {
	// By is annotation or PodMonitor, Where the job or the PodMonitor's own labels.
	By    string            `json:"by"`
	Where string            `json:"where,omitempty"`
	Own   map[string]string `json:"own,omitempty"`
	// Key and Value are what a pod is marked with.
	Key   string `json:"key"`
	Value string `json:"value"`
}

// pod is the service's.
type pod struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid"`
	IP        string `json:"ip"`
	Node      string `json:"node"`
	Phase     string `json:"phase"`
}

// server is the pod, and the series as it exposes it itself.
type server struct {
	Pod     pod     `json:"pod"`
	Exposed bool    `json:"exposed"`
	Value   float64 `json:"value"`
}

// watch is what Prometheus had of the pod in a while; times are by its clock.
type watch struct {
	From  time.Time `json:"from"`
	To    time.Time `json:"to"`
	Looks int       `json:"looks"`
	// First is when it first had something, Gone since when it had nothing until To.
	First time.Time `json:"first,omitzero"`
	Gone  time.Time `json:"gone,omitzero"`
	// Series are those that it had last.
	Series []sample `json:"series"`
	// Trouble is what Prometheus says about the pod's target.
	Trouble string `json:"trouble,omitempty"`
}

// sample is one series of the pod's.
type sample struct {
	Namespace string    `json:"namespace"`
	Pod       string    `json:"pod"`
	Instance  string    `json:"instance"`
	Job       string    `json:"job"`
	Value     float64   `json:"value"`
	At        time.Time `json:"at"`
}

// served is what the custom metrics API says.
type served struct {
	Metric    string    `json:"metric"`
	Namespace string    `json:"namespace"`
	Pod       string    `json:"pod"`
	Value     float64   `json:"value"`
	At        time.Time `json:"at"`
	// Absent is why there is no value, where the API server itself says so.
	Absent string `json:"absent,omitempty"`
}

// worked is how things stood while requests were sent.
type worked struct {
	Sent       int     `json:"sideBySide"`
	Done       int     `json:"done"`
	Failed     int     `json:"failed"`
	Failure    string  `json:"failure,omitempty"`
	Prometheus float64 `json:"prometheus"`
	API        float64 `json:"api"`
	// Absent is why the API has no value, where the API server itself says so.
	Absent string `json:"absent,omitempty"`
}
