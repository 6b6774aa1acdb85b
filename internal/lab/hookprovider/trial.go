package hookprovider

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/reservation/hook"
	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/workload"
)

// runID labels what a test creates: a deployment has one at a time, and what a test that
// was killed has left goes before the next begins.
const runID = "reservation-test"

// image of the pods; labs play programs by their names, and pull none.
const image = "nvcr.io/nvidia/cuda:13.0.1-base-ubuntu24.04"

const (
	// within bounds each wait for pods: for minutes, since machines are busy.
	within = 3 * time.Minute
	// stands is how long a refusal has to stand: GPUs may have been given back a moment ago.
	refusalHold = 2 * time.Second
	// clearing bounds the removal of what was created, also when the test is ended: whoever
	// ends a hook gives it 30 seconds. What is left then goes before the next test.
	clearing = 25 * time.Second
)

// trial is one test of a deployment: what it has seen, and of that what was not right.
type podTest struct {
	cluster  *kube.Cluster
	launcher workload.Launcher
	size     size
	// held is how long pods that were placed wait for their start.
	startDelay time.Duration

	checks int
	failures  []string
}

func newPodTest(cluster *kube.Cluster, row config.Reservation, held time.Duration) *podTest {
	return &podTest{cluster: cluster, launcher: workload.Launcher{Cluster: cluster, RunID: runID}, size: sizeOf(row), startDelay: held}
}

// saw is one check.
func (t *podTest) check(right bool, format string, args ...any) {
	t.checks++
	if !right {
		t.failures = append(t.failures, fmt.Sprintf(format, args...))
	}
}

// run is the test of an intent.
func (t *podTest) run(ctx context.Context, intent config.Intent) (result hook.Result, err error) {
	guest := kube.Guest{Cluster: t.cluster}
	if err := guest.Cleanup(ctx, runID); err != nil {
		return unobserved(ctx, fmt.Errorf("remove what an earlier test has left: %w", err))
	}
	nodes, err := gpuNodes(ctx, t.cluster)
	if err != nil {
		return unobserved(ctx, err)
	}
	if len(nodes) == 0 {
		return unobserved(ctx, errors.New("there is no node that has GPUs: nothing was tested"))
	}
	t.check(len(nodes) == t.size.nodes, "%d nodes have GPUs, the reservation has %d", len(nodes), t.size.nodes)
	switch intent {
	case config.Training:
		err = t.training(ctx)
	case config.Inference:
		err = t.inference(ctx)
	default:
		err = fmt.Errorf("no test is known for the intent %s", intent)
	}
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), clearing)
	defer cancel()
	left := guest.Cleanup(bounded, runID)
	if err != nil || ctx.Err() != nil {
		return unobserved(ctx, errors.Join(err, left))
	}
	t.check(left == nil, "what the test created could not be removed: %v", left)
	return t.result(), nil
}

// result is the judgement of what was seen.
func (t *podTest) result() hook.Result {
	if len(t.failures) > 0 {
		return hook.Result{Verdict: hook.Failed, Checks: t.checks, Reason: hook.TrimReason(strings.Join(t.failures, "; "))}
	}
	if t.checks == 0 {
		return hook.Result{Verdict: hook.Unobserved, Reason: "nothing was checked"}
	}
	return hook.Result{Verdict: hook.Passed, Checks: t.checks}
}
