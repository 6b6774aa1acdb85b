package inference

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/gangjob"
	"github.com/firstlight/firstlight/internal/gate/inference/load"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/workload"
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
	// start starts the server.
	start func(context.Context) (server, error)
	// load runs the load generator in the cluster and returns its log and node.
	load func(context.Context, load.Plan) (log []byte, pod workload.Outcome, err error)
	// queue is how long the server may wait for its node, in addition to the site's timeout.
	queue time.Duration
	// dial connects to a forwarded port; nil: over TCP.
	dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// New returns the gate; deps may be zero for a gate that only judges.
func New(s *site.Site, p *profile.Profile, deps Deps) *Gate {
	g := &Gate{site: s, profile: p, deps: deps}
	g.start, g.load = g.startPod, g.runInside
	return g
}

// Name implements check.Check.
func (g *Gate) Name() string { return Name }

// Excluding implements plan.Excluding.
func (g *Gate) Excluding(nodes []string) check.Check {
	return New(g.site.Without(nodes), g.profile, g.deps)
}

// Claims is the number of GPUs that the gate claims while it observes.
func (g *Gate) Claims() int { return g.site.Workloads.Inference.GPUs }

// describeLoad describes the load and where it comes from.
func (g *Gate) describeLoad() string {
	w := g.site.Workloads.Inference
	from := fmt.Sprintf("at most %d at a time", w.Concurrency)
	if g.inside() {
		from = "without a limit at a time, from job " + loadJob + " in the cluster"
	}
	return fmt.Sprintf("stream %d requests after %d to warm up, %g a second, %s, %d tokens in and %d out",
		w.Requests, w.Warmup, w.Rate, from, w.InputTokens, w.OutputTokens)
}

// serve is the command of the server, for people.
func (g *Gate) serve() string {
	w := g.site.Workloads.Inference
	return fmt.Sprintf("vllm serve %s --max-model-len %d --tensor-parallel-size %d", w.Model, w.MaxModelLen, w.GPUs)
}

// Describe lists the actions of Observe.
func (g *Gate) Describe() []string {
	w := g.site.Workloads.Inference
	return []string{
		fmt.Sprintf("start one pod with %d GPUs: %s", w.GPUs, g.serve()),
		"GET /health and /v1/models; complete the site's prompt greedily and compare it with its golden prefix",
		g.describeLoad(),
		"GET /health again; read the server's log and restarts",
	}
}
