package preflight

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/gate/gpustack"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/workload"
)

// gangFacts is the gang scheduler that the gates would use.
type gangFacts struct {
	found []workload.Detected
	err   error
}

func observeGang(ctx context.Context, c *kube.Cluster, s site.GPUStack) gangFacts {
	found, err := workload.DetectGang(ctx, c, s.GangScheduler)
	return gangFacts{found, err}
}

// judgeGang returns the scheduler to render pods for; nil without one.
func judgeGang(f gangFacts, s site.GPUStack) (Line, workload.Scheduler) {
	const what = "gang scheduler"
	target := s.GangScheduler
	if f.err != nil {
		return unobserved(what, target, remedyRead, "%v", f.err), nil
	}
	if len(f.found) == 0 {
		return stop(what, target, "install a gang scheduler, or correct gpustack.gangScheduler in the site file", "the cluster serves the API of none"), nil
	}
	first := f.found[0]
	scheduler, err := first.Scheduler(s.Queue)
	if err != nil {
		return stop(what, target, "set gpustack.queue in the site file", "%v", err), nil
	}
	return ok(what, target, "%s, API %s", first.Name, first.API), scheduler
}

// stackFacts is what exists of the GPU Operator.
type stackFacts struct {
	policyErr error
	operands  []string
	err       error
}

func observeStack(ctx context.Context, c *kube.Cluster, s site.GPUStack) stackFacts {
	var f stackFacts
	if !s.Provided() {
		_, f.policyErr = gpustack.Policy(ctx, c, s)
	} else if len(s.Operands) == 0 {
		return f
	}
	sets, err := c.Client.AppsV1().DaemonSets(s.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		f.err = fmt.Errorf("list DaemonSets of %s: %w", s.Namespace, err)
		return f
	}
	for i := range sets.Items {
		f.operands = append(f.operands, sets.Items[i].Name)
	}
	return f
}

func judgeStack(f stackFacts, s site.GPUStack) []Line {
	kind, name := s.Policy()
	what, remedy, policy := "GPU Operator", "install the GPU Operator, or correct gpustack in the site file", kind+" "+name
	if s.Provided() {
		what, remedy, policy = "device plugin", "turn the provider's GPU driver on, or correct gpustack in the site file", "the provider"
	}
	var out []Line
	switch {
	case apierrors.IsNotFound(f.policyErr):
		out = append(out, stop(what, policy, remedy, "does not exist"))
	case f.policyErr != nil:
		out = append(out, unobserved(what, policy, remedyRead, "%v", f.policyErr))
	}
	missing := slices.DeleteFunc(slices.Clone(s.Operands), func(name string) bool {
		return slices.ContainsFunc(f.operands, func(set string) bool { return s.Names(name, set) })
	})
	switch {
	case f.err != nil:
		out = append(out, unobserved(what, "namespace "+s.Namespace, remedyRead, "%v", f.err))
	case len(missing) > 0:
		out = append(out, stop(what, "namespace "+s.Namespace, remedy, "has no DaemonSet %s", strings.Join(missing, ", ")))
	}
	switch {
	case len(out) > 0:
	case s.Provided() && len(s.Operands) == 0:
		out = append(out, ok(what, policy, "has it in the nodes' image: not observed"))
	case s.Provided():
		out = append(out, ok(what, "namespace "+s.Namespace, "has DaemonSets %s", strings.Join(s.Operands, ", ")))
	default:
		out = append(out, ok(what, policy, "exists, with its %d operands", len(s.Operands)))
	}
	return out
}
