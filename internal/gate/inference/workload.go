package inference

import (
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/workload"
)

// Port is where the server listens.
const Port = port

// Workloads are the server's pods.
func (g *Gate) Workloads() ([]workload.Spec, error) { return []workload.Spec{g.spec()}, nil }

// Workload is the site's inference server as a workload of another gate.
func Workload(s *site.Site, name, gate string) workload.Spec {
	spec := (&Gate{site: s}).spec()
	spec.Name, spec.Gate = name, gate
	return spec
}
