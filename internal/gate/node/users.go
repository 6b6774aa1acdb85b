package node

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/dra/inventory"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

const (
	remedyUsed = "wait until the jobs have ended (nvvs is a diagnostic, perhaps of an earlier run), or drain the node, then run the gate again"
	remedyPods = "make the API server reachable and let the user list pods (firstlight accept rbac), and do not run the gate while pods hold GPUs"
)

// podFigures are the pods that hold GPUs, by node.
type podFigures struct {
	Nodes map[string][]kube.Holder `json:"nodes"`
}

// podsWithin limits the listing of pods: before gate 4 a site may have no cluster yet.
const podsWithin = time.Minute

// looksAtPods reports whether pods may hold the GPUs.
func (g *Gate) looksAtPods() bool { return g.site.Kubernetes() && !g.lowLoad }

// observePods records the pods that hold GPUs of the nodes.
func (g *Gate) observePods(ctx context.Context, rec check.Recorder) (podFigures, error) {
	if g.deps.Cluster == nil || !g.looksAtPods() {
		return podFigures{}, nil
	}
	return g.listPods(ctx, rec, onCluster, g.site.NodeNames())
}

// observePodsOf records the pods that hold GPUs of a host just before its diagnostic: a gate of many hosts reaches some of them hours
// after its start. If they cannot be listed, they are those of the start; without these, the cluster is not asked again.
func (g *Gate) observePodsOf(ctx context.Context, rec check.Recorder, host string, start podFigures) ([]kube.Holder, error) {
	if start.Nodes == nil {
		return nil, nil
	}
	now, err := g.listPods(ctx, rec, host, []string{host})
	if err != nil || now.Nodes == nil {
		return start.Nodes[host], err
	}
	return now.Nodes[host], nil
}

// onCluster is the target of the pods of all nodes.
const onCluster = "cluster"

// listPods records the pods that hold GPUs of nodes; zero if they cannot be listed.
func (g *Gate) listPods(ctx context.Context, rec check.Recorder, target string, nodes []string) (podFigures, error) {
	attempt := g.observer(rec).Begin(kindPods, target, inventory.UsageCommand(g.site.GPUStack.DeviceClass))
	ctx, cancel := context.WithTimeout(ctx, podsWithin)
	defer cancel()
	cluster, err := g.deps.Cluster(ctx)
	if err != nil {
		return podFigures{}, attempt.Record(nil, err)
	}
	usage, err := inventory.UsageBehindCordon(ctx, cluster, g.site.GPUStack.DeviceClass, nodes)
	if err != nil {
		return podFigures{}, attempt.Record(nil, err)
	}
	f := podFigures{Nodes: map[string][]kube.Holder{}}
	for node, u := range usage {
		if len(u.Holders) > 0 {
			f.Nodes[node] = u.Holders
		}
	}
	return f, attempt.Record(f, nil)
}

// used reports whether the diagnostic would disturb others: a process computes on a GPU, or a pod holds one. The pods of a
// RayCluster hold its GPUs also while they are idle.
func (g *Gate) used(before smiFigures, pods []kube.Holder) bool {
	return len(processes(before)) > 0 || len(pods) > 0 && !g.site.OnRay()
}

// processes are the processes on the GPUs.
func processes(f smiFigures) []string {
	var out []string
	if f.Log == nil {
		return nil
	}
	for _, gpu := range f.Log.GPUs {
		for _, p := range gpu.Processes {
			out = append(out, fmt.Sprintf("process %s (PID %s) on gpu%d", p.Name, p.PID, gpu.Index))
		}
	}
	return out
}

// withoutDiagnostic reports whether the diagnostic of a host was not started because its GPUs are in use.
func (g *Gate) withoutDiagnostic(h *host) bool {
	return h.diag.reason == kindDiag+notRun && g.used(h.before.fig, h.pods)
}

// judgeUsed names the users of the GPUs of a host without a diagnostic.
func (g *Gate) judgeUsed(b *check.Builder, h *host) {
	if !g.withoutDiagnostic(h) {
		return
	}
	var users []string
	for _, p := range h.pods {
		users = append(users, fmt.Sprintf("pod %s/%s", p.Namespace, p.Pod))
	}
	users = append(users, processes(h.before.fig)...)
	const shown = 6 // the observations have all
	more := ""
	if len(users) > shown {
		users, more = users[:shown], fmt.Sprintf(" and %d more", len(users)-shown)
	}
	b.Unobserved(h.before.obs.ID, h.name, remedyUsed, "its GPUs are in use, so the diagnostic was not started: %s%s", strings.Join(users, ", "), more)
}

// judgePods notes that the pods are not known.
func (g *Gate) judgePods(b *check.Builder, obs []check.Observation) {
	for _, o := range check.OfKind(obs, kindPods) {
		if !o.Failed() {
			continue
		}
		b.Note(o.ID, o.Target, remedyPods, "the pods that hold GPUs are not known, only the processes on them: %s", o.Err)
	}
}
