package snapshot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"

	"golang.org/x/sync/errgroup"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/dra/inventory"
	"github.com/firstlight/firstlight/internal/conformance/dra/testpod"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/recipe/constraint"
)

// releaseFile has the operating system of a node.
const releaseFile = "/etc/os-release"

// atOnce limits the agents that run concurrently.
const atOnce = 16

// agentNamespace is the suffix of the agents' namespace, agentContainer their container.
const (
	agentNamespace = "snapshot"
	agentContainer = "agent"
)

// request is what the API does not tell of a node.
type request struct {
	node string
	// release: the operating system, which node feature discovery labels.
	release bool
	// gpu: product or driver of a GPU, which GPU feature discovery labels (the driver) or the DRA
	// driver publishes (the product).
	gpu bool
	// claim: the GPU is claimed; otherwise the device plugin allocates it.
	claim bool
}

// Rules are the permissions of the check.
func Rules() []rbacv1.PolicyRule {
	return append(testpod.Rules(), rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods/log"}, Verbs: []string{"get"}})
}

// requests lists what agents must read: of the nodes of the inventory that are Ready, what the
// recipe's constraints and the site need and the API does not tell.
func (c *Check) requests(nodes []Node, published []inventory.Slice) []request {
	var out []request
	for _, n := range nodes {
		if !n.Ready || !slices.Contains(c.demand.Nodes, n.Name) {
			continue
		}
		gpus, _, _ := inventory.GPUsOnNode(published, n.Name)
		r := request{
			node: n.Name, release: c.releaseMissing(n), claim: n.Allocatable == 0,
			gpu: n.Labels[driverLabel] == "" || n.Labels[productLabel] == "" || productsOf(gpus) == "" && c.constrains(modelPath),
		}
		r.gpu = r.gpu && (n.Allocatable > 0 || len(gpus) > 0)
		if r.release || r.gpu {
			out = append(out, r)
		}
	}
	return out
}

// constrains reports whether the recipe has a constraint on a measurement.
func (c *Check) constrains(path constraint.Path) bool {
	for _, one := range c.demand.Constraints {
		if one.Name == path.String() {
			return true
		}
	}
	return false
}

// releaseMissing reports whether the recipe constrains a field of os-release that no label has.
func (c *Check) releaseMissing(n Node) bool {
	for _, one := range c.demand.Constraints {
		path, err := constraint.ParsePath(one.Name)
		if err == nil && path.Type == "OS" && path.Subtype == "release" && n.Labels[releaseLabel+path.Key] == "" {
			return true
		}
	}
	return false
}

// runAgents runs an agent on each node of the requests and records its answer.
func (c *Check) runAgents(ctx context.Context, cluster *kube.Cluster, rec check.Recorder, requests []request) (err error) {
	if len(requests) == 0 {
		return nil
	}
	rec.Progress("reading %d nodes with a pod each", len(requests))
	level := testpod.Baseline
	if slices.ContainsFunc(requests, func(r request) bool { return r.release }) {
		level = testpod.Privileged
	}
	runner, err := testpod.OpenAt(ctx, cluster, c.deps.RunID, agentNamespace, level, c.deps.PodPatches, c.deps.Clock)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, runner.Close(ctx)) }()
	agents, ctx := errgroup.WithContext(ctx)
	agents.SetLimit(atOnce)
	for i, r := range requests {
		agents.Go(func() error { return c.runAgent(ctx, runner, rec, fmt.Sprintf("agent-%d", i), r) })
	}
	return agents.Wait()
}

// runAgent records the answer of one agent, or why it gave none.
func (c *Check) runAgent(ctx context.Context, runner testpod.Runner, rec check.Recorder, name string, r request) error {
	attempt := check.Observer{Recorder: rec, Clock: c.deps.Clock}.Begin(kindAgent, r.node, "run a pod on the node: "+strings.Join(r.commands(), "; "))
	answer, log, err := c.ask(ctx, runner, name, r)
	return errors.Join(attempt.Raw(log).Record(answer, err), ctx.Err())
}

func (c *Check) ask(ctx context.Context, runner testpod.Runner, name string, r request) (Answer, []byte, error) {
	if err := runner.Start(ctx, r.spec(name, c.deps.Image)); err != nil {
		return Answer{}, nil, err
	}
	status, err := runner.WaitFor(ctx, c.deps.Timeout, name, func(s testpod.Status) bool { return s.Terminated() || s.Unschedulable() })
	if err != nil {
		return Answer{}, nil, err
	}
	if !status.Terminated() {
		return Answer{}, nil, fmt.Errorf("pod %s did not run: %s", status.Pod, status.Summary())
	}
	log, err := runner.Log(ctx, name, agentContainer)
	if err != nil {
		return Answer{}, log, err
	}
	if status.Node != r.node {
		return Answer{}, log, fmt.Errorf("pod %s ran on %q", status.Pod, status.Node)
	}
	answer, err := parseAnswer(log, r)
	return answer, log, err
}

// commands are those of the agent's script.
func (r request) commands() []string {
	var out []string
	if r.release {
		out = append(out, "cat "+testpod.HostFile(releaseFile))
	}
	if r.gpu {
		out = append(out, "nvidia-smi -q -x")
	}
	return out
}

// spec is the pod: any image with a shell will do, nvidia-smi is injected with the GPU.
func (r request) spec(name, image string) testpod.Spec {
	script := []string{"exec 2>&1", "echo " + logBegin}
	for _, command := range r.commands() {
		mark := logSMI
		if strings.HasPrefix(command, "cat ") {
			mark = logRelease
		}
		script = append(script, "echo "+mark, command)
	}
	script = append(script, "echo "+logEnd)
	s := testpod.Spec{
		Name: name, Check: Name, Image: image, Nodes: []string{r.node},
		Containers: []testpod.Container{{Name: agentContainer, Script: strings.Join(script, "\n") + "\n", Claims: r.gpu && r.claim}},
	}
	if r.release {
		s.HostFiles = []string{releaseFile}
	}
	switch {
	case r.gpu && r.claim:
		s.Claim = &testpod.Claim{}
	case r.gpu:
		s.Limits = map[string]int64{kube.GPUResource: 1}
	}
	return s
}
