package ray

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"sync"
	"time"
)

// Version of Ray that the server states.
const Version = "2.52.0"

// Node is a raylet that has registered.
type Node struct {
	// Name and Address are the pod's.
	Name, Address string
	Head          bool
	CPUs, GPUs    int
	// Devices are the GPUs that nvidia-smi lists in the pod. Ray does not compare GPUs with them.
	Devices int
	// CommitFails: the raylet reserves the resources of a bundle and does not commit them.
	CommitFails bool
}

// ID of the node: 28 bytes in hexadecimal digits.
func (n Node) ID() string { return id(28, n.Name, n.Address) }

// id is a stable identifier of n bytes, in hexadecimal digits.
func id(n int, words ...string) string {
	h := sha256.New()
	for _, w := range words {
		_, _ = h.Write([]byte(w + "\x00")) // never fails
	}
	return hex.EncodeToString(h.Sum(nil)[:n])
}

// Cluster is a Ray cluster since its head has started.
type Cluster struct {
	nodes func() []Node
	now   func() time.Time

	mu     sync.Mutex
	jobs   []*job
	groups []*group
	// drivers have been started.
	drivers int
}

// New is a cluster without jobs. nodes are the raylets that are alive.
func New(nodes func() []Node, now func() time.Time) *Cluster {
	return &Cluster{nodes: nodes, now: now}
}

// Handler serves the head's API.
func (c *Cluster) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/version", c.version)
	mux.HandleFunc("GET /api/v0/nodes", c.listNodes)
	mux.HandleFunc("GET /api/v0/placement_groups", c.listGroups)
	mux.HandleFunc("GET /api/cluster_status", c.status)
	mux.HandleFunc("POST /api/jobs/{$}", c.submit)
	mux.HandleFunc("GET /api/jobs/{$}", c.listJobs)
	mux.HandleFunc("GET /api/jobs/{id}", c.getJob)
	mux.HandleFunc("DELETE /api/jobs/{id}", c.deleteJob)
	mux.HandleFunc("POST /api/jobs/{id}/stop", c.stopJob)
	mux.HandleFunc("GET /api/jobs/{id}/logs", c.jobLogs)
	return mux
}
