package recommended

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/dra/testpod"
)

// kindAllocation is the observation of an extended resource: allocation.
const kindAllocation = "pods-with-a-resource"

// allocationRequest asks to allocate one of an extended resource, and more of it than any
// node has.
type allocationRequest struct {
	check, image string
	resource     string
	nodes        []string
	// tooMany is more than any node has.
	tooMany int64
	timeout time.Duration
}

// allocation is the state of the pod with one of the resource and of the pod with too many.
type allocation struct {
	Resource string         `json:"resource"`
	More     int64          `json:"more"`
	One      testpod.Status `json:"one"`
	TooMany  testpod.Status `json:"tooMany"`
}

// allocate creates both pods in an open namespace and records their states.
func allocate(ctx context.Context, r testpod.Runner, rec check.Observer, req allocationRequest) error {
	rec.Progress("creating a pod with one %s, and a pod with %d", req.resource, req.tooMany)
	attempt := rec.Begin(kindAllocation, req.resource, fmt.Sprintf("create a Pod with one %s and a Pod with %d; read the first until it runs, the second until it is unschedulable", req.resource, req.tooMany))
	out := allocation{Resource: req.resource, More: req.tooMany}
	run := func(name string, n int64, to *testpod.Status) error {
		spec := testpod.Spec{
			Name: name, Check: req.check, Image: req.image, Nodes: req.nodes, Limits: map[string]int64{req.resource: n},
			Containers: []testpod.Container{{Name: "asker", Script: testpod.Sleep}},
		}
		if err := r.Start(ctx, spec); err != nil {
			return err
		}
		var err error
		*to, err = r.WaitFor(ctx, req.timeout, name, testpod.Status.Settled)
		return err
	}
	err := run("one", 1, &out.One)
	if err == nil {
		err = run("too-many", req.tooMany, &out.TooMany)
	}
	return errors.Join(attempt.Record(out, err), ctx.Err())
}

// judge adds the allocation to an assessment, and reports whether the resource is allocated.
func (s allocation) judge(a *assessment, id string) bool {
	one, tooMany := "pod "+s.One.Pod, "pod "+s.TooMany.Pod
	switch {
	case s.One.ImagePullFailed():
		a.unknown(id, one, testpod.ImageRemedy, "cannot pull its image: %s", s.One.Summary())
	case s.One.Unschedulable():
		a.unknown(id, one, "run the check when one is free", "no %s is free: %s", s.Resource, s.One.Summary())
	case !s.One.Running():
		a.unmet(id, one, "see the events of the pod", "requests one %s but does not run: %s", s.Resource, s.One.Summary())
	case s.TooMany.Running() || s.TooMany.Terminated() || s.TooMany.Node != "":
		a.unmet(id, tooMany, "find the scheduler or webhook that places pods", "requests %d of %s, more than any node has, and was placed: the resource is not accounted for", s.More, s.Resource)
	case !s.TooMany.Unschedulable() || !strings.Contains(s.TooMany.Scheduled.Message, s.Resource):
		a.unknown(id, tooMany, "see the scheduler's log", "is not unschedulable because of %s: %s", s.Resource, s.TooMany.Summary())
	default:
		a.met("a pod with one %s ran on %s, and a pod with %d was unschedulable", s.Resource, s.One.Node, s.More)
		return true
	}
	return false
}
