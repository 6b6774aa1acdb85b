package inference

import (
	"context"
	"fmt"
	"net"

	"github.com/firstlight/firstlight/internal/gate/gangjob"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// Name of the gate.
const Name = "inference"

// jobName of its workload.
const jobName = "inference"

// Deps are the dependencies of Observe.
type Deps = gangjob.Deps

// Gate is gate 8.
type Gate struct {
	site    *site.Site
	profile *profile.Profile
	deps    Deps
	// start starts the server's pod.
	start func(context.Context) (server, error)
	// dial connects to a forwarded port; nil: over TCP.
	dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// New returns the gate; deps may be zero for a gate that only judges.
func New(s *site.Site, p *profile.Profile, deps Deps) *Gate {
	g := &Gate{site: s, profile: p, deps: deps}
	g.start = g.startPod
	return g
}

// Name implements check.Check.
func (g *Gate) Name() string { return Name }

// Claims is the number of GPUs that the gate claims while it observes.
func (g *Gate) Claims() int { return g.site.Workloads.Inference.GPUs }

// Describe lists the actions of Observe.
func (g *Gate) Describe() []string {
	w := g.site.Workloads.Inference
	return []string{
		fmt.Sprintf("start one pod with %d GPUs: vllm serve %s --max-model-len %d --tensor-parallel-size %d", w.GPUs, w.Model, w.MaxModelLen, w.GPUs),
		"GET /health and /v1/models; complete the site's prompt greedily and compare it with its golden prefix",
		fmt.Sprintf("stream %d requests after %d to warm up, %g a second, at most %d at a time, %d tokens in and %d out",
			w.Requests, w.Warmup, w.Rate, w.Concurrency, w.InputTokens, w.OutputTokens),
		"GET /health again; read the server's log and restarts",
	}
}
