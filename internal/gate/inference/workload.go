package inference

import (
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/workload"
)

// Port is where the server listens.
const Port = port

// Workloads are the pods of the server and, if it runs in the cluster, of the load generator.
func (g *Gate) Workloads() ([]workload.Spec, error) {
	if !g.inside() {
		return []workload.Spec{g.spec()}, nil
	}
	generator, err := g.loadSpec(g.plan("http://" + jobName))
	return []workload.Spec{g.spec(), generator}, err
}

// Workload is the site's inference server as a workload of another gate.
func Workload(s *site.Site, name, gate string) workload.Spec {
	spec := (&Gate{site: s}).spec()
	spec.Name, spec.Gate = name, gate
	return spec
}
