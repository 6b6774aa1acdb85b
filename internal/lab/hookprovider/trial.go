package hookprovider

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/hook"
	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/workload"
)

// runID labels the objects of a test. A deployment runs one test at a time, and a test first
// removes the objects of a killed one.
const runID = "reservation-test"

// image of the pods; labs simulate programs by name and pull no image.
const image = "nvcr.io/nvidia/cuda:13.0.1-base-ubuntu24.04"

const (
	// within bounds each wait for pods; it is long because test machines are busy.
	within = 3 * time.Minute
	// refusalHold is how long a refusal must last: GPUs may have been freed a moment ago.
	refusalHold = 2 * time.Second
	// clearing bounds the removal after a timeout: a hook is killed after lease.MaxStopTime. The next
	// test removes the rest.
	clearing = lease.MaxStopTime * 2 / 3
)

// podTest is one test of a deployment.
type podTest struct {
	cluster  *kube.Cluster
	launcher workload.Launcher
	size     size
	// startDelay of scheduled pods.
	startDelay time.Duration

	checks   int
	failures []string
}

func newPodTest(cluster *kube.Cluster, row config.Reservation, held time.Duration) *podTest {
	return &podTest{cluster: cluster, launcher: workload.Launcher{Cluster: cluster, RunID: runID}, size: sizeOf(row), startDelay: held}
}

// check counts one check.
func (t *podTest) check(right bool, format string, args ...any) {
	t.checks++
	if !right {
		t.failures = append(t.failures, fmt.Sprintf(format, args...))
	}
}

// run runs the test of an intent.
func (t *podTest) run(ctx context.Context, intent config.Intent) (result hook.Result, err error) {
	guest := kube.Guest{Cluster: t.cluster}
	if err := guest.Cleanup(ctx, runID); err != nil {
		return unobserved(ctx, fmt.Errorf("remove the objects of an earlier test: %w", err))
	}
	nodes, err := gpuNodes(ctx, t.cluster)
	if err != nil {
		return unobserved(ctx, err)
	}
	if len(nodes) == 0 {
		return unobserved(ctx, errors.New("no node has GPUs: nothing was tested"))
	}
	t.check(len(nodes) == t.size.nodes, "%d nodes have GPUs, the reservation has %d", len(nodes), t.size.nodes)
	switch intent {
	case config.Training:
		err = t.training(ctx)
	case config.Inference:
		err = t.inference(ctx)
	default:
		err = fmt.Errorf("unknown intent %s", intent)
	}
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), clearing)
	defer cancel()
	left := guest.Cleanup(bounded, runID)
	if err != nil || ctx.Err() != nil {
		return unobserved(ctx, errors.Join(err, left))
	}
	t.check(left == nil, "the objects of the test could not be removed: %v", left)
	return t.result(), nil
}

func (t *podTest) result() hook.Result {
	if len(t.failures) > 0 {
		return hook.Result{Verdict: hook.Failed, Checks: t.checks, Reason: lease.TrimReason(strings.Join(t.failures, "; "))}
	}
	if t.checks == 0 {
		return hook.Result{Verdict: hook.Unobserved, Reason: "nothing was checked"}
	}
	return hook.Result{Verdict: hook.Passed, Checks: t.checks}
}
