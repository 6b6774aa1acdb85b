package sandbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/conformance/dra/record"
	"github.com/firstlight/firstlight/internal/conformance/dra/trial"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// Kinds of observations, and what their figures are.
const (
	kindClasses = "runtime-classes" // []class
	kindPods    = "sandboxed-pod"   // tried, one a class
)

// mostClasses bounds how many are tried.
const mostClasses = 4

// between two looks at a log, and how long one is waited for once its pod runs.
const (
	between = 250 * time.Millisecond
	logWait = 30 * time.Second
)

// class is a RuntimeClass.
type class struct {
	Name    string `json:"name"`
	Handler string `json:"handler"`
	// Shares: the handler is known to share the node's kernel.
	Shares bool `json:"shares,omitempty"`
}

// tried is a pod under a class, and one under none on the same node.
type tried struct {
	Class   class      `json:"class"`
	Sandbox trial.Seen `json:"sandbox"`
	Inside  *kernel    `json:"inside,omitempty"`
	Plain   trial.Seen `json:"plain,omitzero"`
	Outside *kernel    `json:"outside,omitempty"`
	// Silent is why a log says nothing of a kernel.
	Silent string `json:"silent,omitempty"`
}

func (c *Check) look(ctx context.Context, cluster *kube.Cluster, rec record.Notes) (err error) {
	rec.Progress("reading runtime classes")
	n := rec.Begin(kindClasses, "cluster", "GET runtimeclasses")
	all, unseen := classes(ctx, cluster)
	if kept := n.Keep(all, unseen); kept != nil || unseen != nil {
		return kept //nolint:wrapcheck // the store's
	}
	try := candidates(all)
	if len(try) == 0 {
		return nil
	}
	r, err := trial.Open(ctx, cluster, c.deps.RunID, "sandbox", c.deps.Clock)
	if err != nil {
		return err //nolint:wrapcheck // says what it opens
	}
	defer func() { err = errors.Join(err, r.Close(ctx)) }()
	for i, one := range try {
		rec.Progress("a pod under RuntimeClass %s", one.Name)
		n := rec.Begin(kindPods, one.Name, "create a Pod under RuntimeClass "+one.Name+", and one under none on its node; read them until they run, and their logs")
		seen, unseen := c.try(ctx, r, one, i)
		if err := errors.Join(n.Keep(seen, unseen), ctx.Err()); err != nil {
			return err
		}
	}
	return nil
}

func classes(ctx context.Context, cluster *kube.Cluster) ([]class, error) {
	known, err := sharing()
	if err != nil {
		return nil, err
	}
	list, err := cluster.Client.NodeV1().RuntimeClasses().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list runtime classes: %w", err)
	}
	out := []class{}
	for _, c := range list.Items {
		shares := slices.ContainsFunc(known, func(h handler) bool { return h.Name == c.Handler })
		out = append(out, class{Name: c.Name, Handler: c.Handler, Shares: shares})
	}
	return out, nil
}

// candidates are those that may be sandboxes, as many as are tried.
func candidates(all []class) []class {
	var out []class
	for _, c := range all {
		if !c.Shares && len(out) < mostClasses {
			out = append(out, c)
		}
	}
	return out
}

func (c *Check) try(ctx context.Context, r trial.Runner, one class, i int) (tried, error) {
	out := tried{Class: one}
	spec := trial.Spec{
		Name: fmt.Sprintf("sandbox-%d", i), Check: Name, Image: c.image, RuntimeClass: one.Name,
		Containers: []trial.Container{{Name: "kernel", Script: script}},
	}
	if err := r.Start(ctx, spec); err != nil {
		return out, err //nolint:wrapcheck // says what it creates
	}
	var err error
	if out.Sandbox, err = r.Await(ctx, c.deps.Patience, spec.Name, settled); err != nil || !out.Sandbox.Runs() {
		return out, err //nolint:wrapcheck // says what it reads
	}
	if out.Inside, out.Silent = c.kernel(ctx, r, spec.Name); out.Inside == nil {
		return out, nil
	}
	spec.Name, spec.RuntimeClass, spec.Nodes = fmt.Sprintf("plain-%d", i), "", []string{out.Sandbox.Node}
	if err := r.Start(ctx, spec); err != nil {
		return out, err //nolint:wrapcheck // says what it creates
	}
	if out.Plain, err = r.Await(ctx, c.deps.Patience, spec.Name, settled); err != nil || !out.Plain.Runs() {
		return out, err //nolint:wrapcheck // says what it reads
	}
	out.Outside, out.Silent = c.kernel(ctx, r, spec.Name)
	return out, nil
}

// settled: more waiting changes nothing.
func settled(s trial.Seen) bool { return s.Runs() || s.Over() || s.Refused() }

// kernel reads a log until it is whole, or why it says nothing.
func (c *Check) kernel(ctx context.Context, r trial.Runner, pod string) (*kernel, string) {
	end := time.NewTimer(min(logWait, c.deps.Patience))
	defer end.Stop()
	tick := time.NewTicker(between)
	defer tick.Stop()
	for {
		log, err := r.Log(ctx, pod, "kernel")
		if err == nil {
			var k kernel
			if k, err = parse(log); err == nil {
				return &k, ""
			}
		}
		select {
		case <-ctx.Done():
			return nil, err.Error()
		case <-end.C:
			return nil, err.Error()
		case <-tick.C:
		}
	}
}
