package inference

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/firstlight/firstlight/internal/gate/gangjob"
	"github.com/firstlight/firstlight/internal/gate/inference/load"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/workload"
)

const (
	// loadJob is the Job of the load generator in the cluster, with one pod.
	loadJob       = "inference-load"
	loadContainer = "loadgen"
	// loadProgram is the path of the program in the image (images/loadgen).
	loadProgram = "/usr/local/bin/firstlight"
	// loadCPU is the CPU that is requested for it: a busy node must not delay requests.
	loadCPU = "1"
	// reachWithin limits the wait of the load generator for the server, which is healthy.
	reachWithin = 20 * time.Second
	// drainSlack is added to twice the time of an answer that just meets the objectives: the limit of the
	// wait for answers after the last request was due.
	drainSlack = time.Minute
)

// drains is that limit.
func (g *Gate) drains() time.Duration {
	ttft, _ := g.ttftLimit()
	tpot, _ := g.tpotLimit()
	answer := ttft + float64(g.site.Workloads.Inference.OutputTokens)*tpot // ms
	return time.Duration(2*answer*float64(time.Millisecond)) + drainSlack
}

// client is where the load generator runs.
func (g *Gate) client() string {
	return cmp.Or(g.site.Workloads.Inference.Client, site.ClientMachine)
}

// inside reports whether the load generator runs in the cluster.
func (g *Gate) inside() bool { return g.client() == site.ClientCluster }

// concurrency is the maximum number of requests at a time; 0: no limit. In the cluster the loop is open.
func (g *Gate) concurrency() int {
	if g.inside() {
		return 0
	}
	return g.site.Workloads.Inference.Concurrency
}

// plan is the load of a server at a URL.
func (g *Gate) plan(url string) load.Plan {
	w := g.site.Workloads.Inference
	p := load.Plan{
		URL: url, Model: w.Model, Prompt: w.Prompt, RatePerSecond: w.Rate, Concurrency: g.concurrency(), Requests: w.Requests, Warmup: w.Warmup,
		InputTokens: w.InputTokens, OutputTokens: w.OutputTokens, TimeoutSeconds: w.Timeout.D().Seconds(),
	}
	if g.inside() {
		p.ReachSeconds = reachWithin.Seconds()
		p.TimeoutSeconds = p.ReachSeconds + float64(w.Requests+w.Warmup)/w.Rate + g.drains().Seconds()
	}
	return p
}

// loadSpec is the workload of the load generator.
func (g *Gate) loadSpec(p load.Plan) (workload.Spec, error) {
	text, err := p.JSON()
	return workload.Spec{
		Name: loadJob, Gate: Name, Pods: 1, MinCount: 1, Image: g.site.Workloads.Inference.LoadImage, Container: loadContainer,
		Command: []string{loadProgram, "load", "--plan", text}, CPU: loadCPU, Patches: append([]map[string]any{apart(g.deps.RunID)}, g.site.PodPatches("")...),
	}, err
}

// apart prefers another node than the server's: a request on the same node does not use the network
// between nodes.
func apart(run string) map[string]any {
	server := kube.Labels(run, Name)
	server[batchv1.JobNameLabel] = jobName
	return map[string]any{"spec": map[string]any{"affinity": map[string]any{"podAntiAffinity": map[string]any{
		"preferredDuringSchedulingIgnoredDuringExecution": []any{map[string]any{"weight": 100, "podAffinityTerm": map[string]any{
			"topologyKey": corev1.LabelHostname, "labelSelector": map[string]any{"matchLabels": server},
		}}},
	}}}}
}

// runInside runs the load generator in the cluster and returns its log and the state of its pod.
func (g *Gate) runInside(ctx context.Context, p load.Plan) (log []byte, pod workload.Outcome, err error) {
	cluster, err := g.deps.Open(ctx)
	if err != nil {
		return nil, pod, fmt.Errorf("open the cluster: %w", err)
	}
	spec, err := g.loadSpec(p)
	if err != nil {
		return nil, pod, err
	}
	launcher := &workload.Launcher{Cluster: cluster, RunID: g.deps.RunID} // one pod needs no gang
	out, logs, err := gangjob.Run(ctx, launcher, spec, g.site.Workloads.Inference.Timeout.D(), gangjob.First)
	if err != nil {
		return nil, pod, err
	}
	if len(logs) > 0 {
		log = logs[0].Data
	}
	if len(out.Pods) > 0 {
		pod = out.Pods[0]
	}
	switch {
	case out.Ended != gangjob.EndedDone:
		return log, pod, fmt.Errorf("job %s: %s", loadJob, out.Problem)
	case !out.Succeeded && len(out.Pods) > 0:
		return log, pod, fmt.Errorf("job %s: %s", loadJob, out.Pods[0].String())
	case !out.Succeeded:
		return log, pod, fmt.Errorf("job %s: %s", loadJob, out.Problem)
	case len(logs) == 0:
		return log, pod, fmt.Errorf("job %s has no log", loadJob)
	case logs[0].Err != "":
		return log, pod, fmt.Errorf("read the log of job %s: %w", loadJob, errors.New(logs[0].Err))
	}
	return log, pod, nil
}
