package controller

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance"
	"github.com/firstlight/firstlight/internal/probe/kube/kubetest"
)

// recorded keeps the last figures.
type recorded struct{ last check.Observation }

func (r *recorded) Record(o check.Observation) (check.Observation, error) {
	r.last = o
	return o, nil
}

func (*recorded) Progress(string, ...any) {}

// reconciled is the observation of a resource that the webhook refuses several times.
func reconciled(t *testing.T, refusals int32, timeout time.Duration) reconcileFigures {
	t.Helper()
	operators, err := Operators()
	if err != nil {
		t.Fatal(err)
	}
	var creations atomic.Int32
	cluster := kubetest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodPost && creations.Add(1) <= refusals:
			w.WriteHeader(http.StatusForbidden)
			_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":"admission webhook denied the request: runtime not found"}`))
		case strings.Contains(r.URL.Path, "/trainjobs/") || r.Method == http.MethodPost:
			_, _ = w.Write([]byte(`{"kind":"TrainJob","apiVersion":"trainer.kubeflow.org/v1alpha1","metadata":{"name":"firstlight-left-alone","uid":"u"},"status":{"conditions":[{"type":"Complete","status":"True"}]}}`))
		default:
			_, _ = w.Write([]byte(`{"kind":"List","apiVersion":"v1","metadata":{},"items":[]}`))
		}
	})
	deps := conformance.Deps{RunID: "r", Timeout: timeout}.WithDefaults(0)
	w := &observation{Check: &Check{deps: deps}, cluster: cluster, rec: check.Observer{Recorder: &recorded{}, Clock: deps.Clock}, operator: operators[0], namespace: "ns"}
	seen, err := w.reconcile(t.Context(), targetPlain, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	return seen
}

func TestARefusalByALateCacheIsRetriedUntilADeadline(t *testing.T) {
	t.Parallel()
	if seen := reconciled(t, 2, time.Minute); seen.Refused != "" || seen.UID != "u" || seen.Ended == nil {
		t.Errorf("after two refusals: %+v", seen)
	}
	if seen := reconciled(t, 1000, time.Second); !strings.Contains(seen.Refused, "runtime not found") || seen.UID != "" {
		t.Errorf("after refusals until the deadline: %+v", seen)
	}
}

// holding is an API server with at most one TrainJob. It loses the answer to the first creation,
// if told so.
func holding(t *testing.T, held []byte, loses bool) *observation {
	t.Helper()
	var mu sync.Mutex
	cluster := kubetest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case r.Method == http.MethodPost && held == nil:
			held, _ = io.ReadAll(r.Body)
			if loses {
				panic(http.ErrAbortHandler)
			}
			_, _ = w.Write(held)
		case r.Method == http.MethodPost:
			w.WriteHeader(http.StatusConflict)
			_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"AlreadyExists","code":409,"message":"trainjobs already exists"}`))
		default:
			_, _ = w.Write(held)
		}
	})
	operators, err := Operators()
	if err != nil {
		t.Fatal(err)
	}
	return &observation{Check: &Check{deps: conformance.Deps{RunID: "r"}.WithDefaults(0)}, cluster: cluster, operator: operators[0], namespace: "ns"}
}

func (w *observation) admitted(t *testing.T) (created *unstructured.Unstructured, refused, err error) {
	t.Helper()
	obj, err := w.operator.render(w.operator.Valid, w.values("a", 1), variant{})
	if err != nil {
		t.Fatal(err)
	}
	return w.admit(t.Context(), w.cluster.Dynamic.Resource(w.operator.Resource.gvr()).Namespace("ns"), obj, 10*time.Second)
}

func TestACreationWhoseAnswerWasLostIsNoRefusal(t *testing.T) {
	t.Parallel()
	created, refused, err := holding(t, nil, true).admitted(t)
	if err != nil || refused != nil || created == nil || created.GetName() != "a" {
		t.Errorf("%v, refused %v, %v", created, refused, err)
	}
}

func TestAnObjectOfAnotherAttemptIsNeitherARefusalNorOurs(t *testing.T) {
	t.Parallel()
	other := []byte(`{"kind":"TrainJob","apiVersion":"trainer.kubeflow.org/v1alpha1","metadata":{"name":"a","namespace":"ns","uid":"u","labels":{"firstlight.dev/run":"r"}}}`)
	created, refused, err := holding(t, other, false).admitted(t)
	if err == nil || refused != nil || !strings.Contains(err.Error(), "already exists") {
		t.Errorf("%v, refused %v, %v", created, refused, err)
	}
}

func TestAnUnreachableAPIServerIsNoRefusal(t *testing.T) {
	t.Parallel()
	cluster := kubetest.Unreachable(t)
	w := holding(t, nil, false)
	w.cluster, w.deps.Timeout = cluster, time.Second
	rec := &recorded{}
	w.rec = check.Observer{Recorder: rec, Clock: w.deps.Clock}
	if _, err := w.reconcile(t.Context(), targetPlain, 1, nil); err != nil {
		t.Fatal(err)
	}
	if rec.last.Err == "" {
		t.Errorf("recorded %+v", rec.last)
	}
}

// An API server that admits the resource and then does not answer says nothing of its end.
func TestAResourceThatCannotBeReadHasNotFailed(t *testing.T) {
	t.Parallel()
	w := holding(t, nil, false)
	w.cluster = kubetest.Serve(t, func(rw http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			rw.WriteHeader(http.StatusGatewayTimeout)
			return
		}
		_, _ = io.Copy(rw, r.Body)
	})
	w.deps.Timeout, w.rec = time.Second, check.Observer{Recorder: &recorded{}, Clock: w.deps.Clock}
	seen, err := w.reconcile(t.Context(), targetPlain, 1, nil)
	if err != nil || !strings.HasPrefix(seen.Unread, "read firstlight-") || seen.Trouble != "" {
		t.Errorf("%+v, %v", seen, err)
	}
}

func TestAnInterruptEndsTheCreation(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	cluster := kubetest.Unreachable(t)
	operators, err := Operators()
	if err != nil {
		t.Fatal(err)
	}
	w := &observation{Check: &Check{deps: conformance.Deps{}.WithDefaults(0)}, cluster: cluster, operator: operators[0], namespace: "ns"}
	obj, err := w.operator.render(w.operator.Valid, w.values("a", 1), variant{})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.admit(ctx, cluster.Dynamic.Resource(w.operator.Resource.gvr()).Namespace("ns"), obj, time.Minute); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestNothingKilledIsAnError(t *testing.T) {
	t.Parallel()
	nothing := func(context.Context, string) (string, error) { return "", nil }
	w := &observation{Check: &Check{deps: conformance.Deps{KillOutside: nothing}}}
	if killed, err := w.kill(t.Context(), controllerFigures{}); err == nil {
		t.Errorf("killed %q", killed)
	}
}

func TestALeaseOfTheKilledPodIsNoSuccessor(t *testing.T) {
	t.Parallel()
	pods := func(uids ...string) (out []podState) {
		for _, uid := range uids {
			out = append(out, podState{Name: "pod-" + uid, UID: uid, Ready: true})
		}
		return out
	}
	lease := func(holder string) *leaseState { return &leaseState{Name: "ns/lease", Holder: holder} }
	before := controllerFigures{Pods: pods("a", "b"), Lease: lease("pod-a_1")}
	for name, tt := range map[string]struct {
		after     controllerFigures
		successor bool
	}{
		"the other pod leads":             {controllerFigures{Pods: pods("b", "c"), Lease: lease("pod-b_1")}, true},
		"the lease is still the victim's": {controllerFigures{Pods: pods("b", "c"), Lease: lease("pod-a_1")}, false},
		"no pod leads":                    {controllerFigures{Pods: pods("b", "c"), Lease: lease("")}, false},
		"the lease is gone":               {controllerFigures{Pods: pods("b", "c")}, false},
	} {
		if problem := noSuccessor(before, tt.after); (problem == "") != tt.successor {
			t.Errorf("%s: %q", name, problem)
		}
	}
	stale := controllerFigures{Pods: pods("a"), Lease: lease("pod-z_1")} // of a release that is gone
	if problem := noSuccessor(stale, controllerFigures{Pods: pods("b"), Lease: lease("pod-z_1")}); problem != "" {
		t.Errorf("a lease that no pod held: %q", problem)
	}
}
