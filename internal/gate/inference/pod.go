package inference

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/firstlight/firstlight/internal/conformance/dra/allocation"
	"github.com/firstlight/firstlight/internal/gate/gangjob"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/workload"
)

//go:embed serve.sh
var script string

const (
	port      = 8000
	container = site.InferenceContainer
	// restarts before the job fails, enough to detect a server that crashes at start.
	restarts = 3
	// logLimit limits the stored log of the server, in bytes.
	logLimit = 16 << 20
	// deleteDeadline limits the deletion of the pod.
	deleteDeadline = 3 * time.Minute
)

// place is where a server runs: in a pod, or in a batch job of this ID.
type place struct{ pod, job, node string }

func (p place) String() string {
	if p.job != "" {
		return "job " + p.job + " on " + p.node
	}
	return "pod " + p.pod + " on " + p.node
}

// server is a pod or a job that runs or starts the server.
type server interface {
	where() place
	// claims are the GPUs that its claim allocates; nil if it claims none.
	claims() *allocation.Figures
	// served is a name that the server must list, if others may answer on its port; else empty.
	served() string
	// service is its URL in the cluster.
	service() string
	// forward opens a port forward, and returns its address for Gate.dial.
	forward(ctx context.Context) (addr string, stop func(), err error)
	// ended waits until its container has terminated or cannot start (crashed), or its state
	// can no longer be watched, and returns the reason.
	ended(ctx context.Context) (crashed bool, reason error)
	// log is the log of its container, including the previous instance.
	log(ctx context.Context) ([]byte, error)
	// state is how often its container or job began again, and the state of a job.
	state(ctx context.Context) (restarts int, job string, err error)
	remove(ctx context.Context) error
}

// spec is the workload.
func (g *Gate) spec() workload.Spec {
	w := g.site.Workloads.Inference
	var nodes []string
	for _, n := range g.site.Inventory.Nodes {
		nodes = append(nodes, n.Name)
	}
	return workload.Spec{
		Name: jobName, Gate: Name, Pods: 1, MinCount: 1, GPUs: w.GPUs,
		Image: w.Image, Container: container, Script: script,
		Env: map[string]string{
			"MODEL": w.Model, "MAX_MODEL_LEN": strconv.Itoa(w.MaxModelLen), "TP": strconv.Itoa(w.GPUs),
		},
		Ports: []int32{port}, Nodes: nodes, Restarts: restarts, Patches: g.site.PodPatches(Name),
	}
}

// startPod starts the pod and waits until it runs.
func (g *Gate) startPod(ctx context.Context) (server, error) {
	l, err := g.deps.Launcher(ctx, g.site)
	if err != nil {
		return nil, fmt.Errorf("start the server: %w", err)
	}
	spec := g.spec()
	reason, err := gangjob.Free(ctx, l, spec)
	if err != nil {
		return nil, fmt.Errorf("start the server: %w", err)
	}
	if reason != "" {
		return nil, errors.New(reason)
	}
	gang, err := l.Start(ctx, spec)
	if err != nil {
		return nil, fmt.Errorf("start the server: %w", err)
	}
	p := &pod{gang: gang, cluster: l.Cluster}
	if err := p.bind(ctx); err != nil {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), deleteDeadline)
		defer cancel()
		return nil, errors.Join(err, p.remove(end))
	}
	return p, nil
}

// pod is a server in the cluster.
type pod struct {
	gang       *workload.Gang
	cluster    *kube.Cluster
	name, node string
	claimed    *allocation.Figures
}

func (p *pod) claims() *allocation.Figures { return p.claimed }

func (p *pod) bind(ctx context.Context) error {
	if err := p.gang.WaitBound(ctx); err != nil {
		return err
	}
	pods, err := p.gang.Pods(ctx)
	if err != nil {
		return err
	}
	if len(pods) == 0 {
		return errors.New("the server's pod was deleted")
	}
	p.name, p.node, p.claimed = pods[0].Name, pods[0].Spec.NodeName, gangjob.Claims(ctx, p.gang)
	return nil
}

func (p *pod) where() place { return place{pod: p.name, node: p.node} }

func (p *pod) served() string { return "" }

func (p *pod) service() string {
	return fmt.Sprintf("http://%s.%s.svc:%d", p.gang.Spec.Name, p.gang.Namespace, port)
}

func (p *pod) forward(ctx context.Context) (addr string, stop func(), err error) {
	return p.cluster.Forward(ctx, p.gang.Namespace, p.name, port)
}

func (p *pod) ended(ctx context.Context) (crashed bool, reason error) {
	result, err := p.gang.WaitDone(ctx)
	switch {
	case err != nil:
		return errors.Is(err, workload.ErrFailed), err
	case len(result.Pods) > 0:
		return true, errors.New(result.Pods[0].String())
	default:
		return true, errors.New("the server's pod was deleted")
	}
}

func (p *pod) log(ctx context.Context) ([]byte, error) {
	current, err := read(p.cluster.PodLogs(ctx, p.gang.Namespace, p.name, container, false))
	n, _, restartErr := p.state(ctx)
	if restartErr != nil || n == 0 {
		return current, err
	}
	previous, prevErr := read(p.cluster.PreviousLogs(ctx, p.gang.Namespace, p.name, container))
	if prevErr != nil {
		return current, err
	}
	return append(previous, current...), nil
}

func read(stream io.ReadCloser, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	defer func() { _ = stream.Close() }()
	data, err := io.ReadAll(io.LimitReader(stream, logLimit))
	if err != nil {
		return data, fmt.Errorf("read the server's log: %w", err)
	}
	return data, nil
}

func (p *pod) state(ctx context.Context) (restarts int, job string, err error) {
	pods, err := p.gang.Pods(ctx)
	if err != nil {
		return 0, "", err
	}
	for i := range pods {
		for _, c := range pods[i].Status.ContainerStatuses {
			restarts += int(c.RestartCount)
		}
	}
	return restarts, "", nil
}

func (p *pod) remove(ctx context.Context) error {
	return p.gang.Delete(ctx)
}
