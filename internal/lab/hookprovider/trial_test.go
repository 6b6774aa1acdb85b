package hookprovider

import (
	"context"
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firstlight/firstlight/internal/lab"
	"github.com/firstlight/firstlight/internal/poll/polltest"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/hook"
	"github.com/firstlight/firstlight/internal/suite"
)

const nightly = "fl-n-ah1-x"

// night is a deployment that tests are run on.
type night struct {
	*Provider
	cluster *kube.Cluster
	lab     *lab.Handle
	r       hook.Request
}

func newNight(t *testing.T) *night {
	t.Helper()
	suite.Live(t)
	n := &night{Provider: provider(t), r: request(hook.Test, nightly, first)}
	n.r.Reservation.GPUCount, n.r.Reservation.NodeCount, n.r.Version = 8, 2, "v1.2.0"
	t.Cleanup(func() {
		if err := end(context.WithoutCancel(t.Context()), nightly); err != nil {
			t.Error(err)
		}
	})
	provision := n.r
	provision.Verb, provision.Version = hook.Provision, ""
	if _, err := n.Provision(t.Context(), provision); err != nil {
		t.Fatal(err)
	}
	var err error
	if n.lab, n.cluster, err = connect(t.Context(), nightly); err != nil {
		t.Fatal(err)
	}
	polltest.Until(t, "two nodes that are ready", func() bool {
		nodes, err := n.GetNodes(t.Context(), n.r)
		return err == nil && len(nodes) == 2 && nodes[0].Ready && nodes[1].Ready && nodes[0].GPUs == 8 && nodes[1].GPUs == 8
	})
	return n
}

// defect writes the file of one.
func (n *night) write(t *testing.T, text string) {
	t.Helper()
	if err := os.WriteFile(n.defectsPath(), []byte("defects:\n  - "+text+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// test is one, that leaves nothing.
func (n *night) test(t *testing.T) hook.Result {
	t.Helper()
	begin := time.Now()
	result, err := n.Test(t.Context(), n.r)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s after %s: %d checks; %s", result.Verdict, time.Since(begin).Round(time.Millisecond), result.Checks, result.Reason)
	n.clean(t)
	return result
}

func (n *night) clean(t *testing.T) {
	t.Helper()
	own := metav1.ListOptions{LabelSelector: kube.LabelRun + "=" + runID}
	namespaces, err := n.cluster.Client.CoreV1().Namespaces().List(t.Context(), own)
	pods, podErr := n.cluster.Client.CoreV1().Pods("").List(t.Context(), own)
	if err := errors.Join(err, podErr); err != nil || len(namespaces.Items)+len(pods.Items) > 0 {
		t.Errorf("%d namespaces and %d pods are left: %v", len(namespaces.Items), len(pods.Items), err)
	}
}

// placed are the UIDs of a test's pods that have a node.
func (n *night) placed(t *testing.T) []types.UID {
	t.Helper()
	pods, err := n.cluster.Client.CoreV1().Pods(kube.NamespaceOf(runID)).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Error(err)
		return nil
	}
	var out []types.UID
	for _, pod := range pods.Items {
		if pod.Spec.NodeName != "" {
			out = append(out, pod.UID)
		}
	}
	return out
}

func (n *night) uncordon(t *testing.T) {
	t.Helper()
	nodes, err := gpuNodes(t.Context(), n.cluster)
	if err != nil {
		t.Fatal(err)
	}
	for _, node := range nodes {
		if !node.Spec.Unschedulable {
			t.Errorf("node %s was not cordoned", node.Name)
		}
		if _, err := n.cluster.Client.CoreV1().Nodes().Patch(t.Context(), node.Name, types.MergePatchType, []byte(`{"spec":{"unschedulable":null}}`), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

func (n *night) world(t *testing.T, method, body string) {
	t.Helper()
	resp, err := n.lab.Do(t.Context(), method, "/world/faults", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
}

func passed(t *testing.T, r hook.Result, checks int) {
	t.Helper()
	if r.Verdict != hook.Passed || r.Checks != checks || r.Reason != "" {
		t.Errorf("want a pass of %d checks, got %+v", checks, r)
	}
}

func fails(t *testing.T, r hook.Result, verdict hook.Verdict, reason ...string) {
	t.Helper()
	for _, w := range reason {
		if r.Verdict != verdict || !strings.Contains(r.Reason, w) {
			t.Errorf("want %s because of %q, got %+v", verdict, w, r)
		}
	}
}

// A lab is tested by intent; injected defects are found, with the scheduler's reason.
func TestTrial(t *testing.T) {
	n := newNight(t)
	resp, status := asHook(t, n.r, nil)
	if status != 0 || resp.Result == nil {
		t.Fatalf("status %d, %s", status, resp.Error)
	}
	passed(t, *resp.Result, 7)
	n.clean(t)

	inference, err := newPodTest(n.cluster, *n.r.Reservation, 0).run(t.Context(), config.Inference)
	if err != nil {
		t.Fatal(err)
	}
	passed(t, inference, 5)
	n.clean(t)

	n.r.Reservation.NodeCount = 3
	fails(t, n.test(t), hook.Failed, "2 nodes have GPUs, the reservation has 3", "not scheduled: the gang of 3 pods with 8 GPUs each")
	n.r.Reservation.NodeCount = 2

	// One that is killed leaves its pods to the next; one that is ended removes them.
	n.write(t, "{reservation: aws-h100, times: 2, defect: slow, for: 5m}")
	asHook(t, n.r, func() bool { return len(n.placed(t)) == 2 })
	killed := n.placed(t)
	if len(killed) != 2 {
		t.Fatalf("the killed test left %v", killed)
	}
	interrupted := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	ended := make(chan error, 1)
	go func() {
		_, err := n.Test(ctx, n.r)
		ended <- err
	}()
	polltest.Until(t, "pods of the next", func() bool {
		pods := n.placed(t)
		return len(pods) == 2 && pods[0] != killed[0] && pods[1] != killed[1]
	})
	cancel(interrupted)
	if err := <-ended; !errors.Is(err, interrupted) {
		t.Errorf("after cancellation: %v", err)
	}
	n.clean(t)

	if suite.Current() >= suite.All {
		n.everyDefect(t)
	}
}

// everyDefect injects those that TestTrial does not.
func (n *night) everyDefect(t *testing.T) {
	t.Helper()
	n.write(t, "{reservation: aws-h100, version: v1.2.0, times: 1, defect: slow, for: 3s}")
	begin := time.Now()
	passed(t, n.test(t), 7)
	if took := time.Since(begin); took < 3*time.Second {
		t.Errorf("it was slow for %s", took)
	}

	n.write(t, "{reservation: aws-h100, times: 1, defect: cordoned}")
	fails(t, n.test(t), hook.Failed, "not scheduled: the gang of 2 pods", "unschedulable")
	n.uncordon(t)

	n.write(t, "{reservation: aws-h100, times: 1, defect: hang}")
	limit := errors.New("at its limit")
	bounded, stop := context.WithTimeoutCause(t.Context(), time.Second, limit)
	defer stop()
	if result, err := n.Test(bounded, n.r); !errors.Is(err, limit) {
		t.Errorf("a hanging test: %+v, %v", result, err)
	}

	n.write(t, "{reservation: aws-h100, times: 1, defect: no-gpus}")
	fails(t, n.test(t), hook.Failed, "not scheduled: the gang of 2 pods", "nvidia.com/gpu")
	inference, err := newPodTest(n.cluster, *n.r.Reservation, 0).run(t.Context(), config.Inference)
	if err != nil {
		t.Fatal(err)
	}
	fails(t, inference, hook.Failed, "not scheduled: 16 replicas with a GPU each", "Insufficient nvidia.com/gpu")

	n.world(t, http.MethodDelete, "")
	n.world(t, http.MethodPost, `{"kind":"zero-gpu-nodes"}`)
	polltest.Until(t, "the nodes to lose their labels", func() bool {
		nodes, err := gpuNodes(t.Context(), n.cluster)
		return err == nil && len(nodes) == 0
	})
	fails(t, n.test(t), hook.Unobserved, "no node has GPUs")
}
