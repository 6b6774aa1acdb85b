package ray

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/plan"
	probe "github.com/firstlight/firstlight/internal/probe/ray"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// raySite is the example's site with a RayCluster, of two nodes.
func raySite(t *testing.T) (*site.Site, *profile.Profile) {
	t.Helper()
	merged, err := site.Over(site.Example(), "ray.yaml", site.RayExample())
	if err != nil {
		t.Fatal(err)
	}
	s, err := site.Parse("site.yaml", merged)
	if err != nil {
		t.Fatal(err)
	}
	s.Inventory.Nodes = s.Inventory.Nodes[:2]
	p, err := profile.Load(s.Profile)
	if err != nil {
		t.Fatal(err)
	}
	return s, p
}

// simulatedTime is a clock that only Wait advances.
func depsAt(clock *testingclock.FakePassiveClock) Deps {
	return Deps{RunID: "r1", Clock: clock, Wait: func(ctx context.Context, by time.Duration) error {
		clock.SetTime(clock.Now().Add(by))
		return ctx.Err()
	}}
}

func judgeOf(g *Gate) func([]check.Observation) check.Judgement {
	return func(obs []check.Observation) check.Judgement { return plan.Judge(g, obs) }
}

func group2(state, scheduling string, nodes ...string) *probe.Group {
	g := &probe.Group{ID: "ab", Name: "x", State: state, Scheduling: scheduling}
	for _, n := range nodes {
		g.Bundles = append(g.Bundles, probe.Bundle{Node: n, GPUs: 8})
	}
	return g
}

// readAt is when the observations were made.
var readAt = time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)

// healthy are the observations of a RayCluster with a worker on each of two nodes, and a head on another node.
func healthy(t *testing.T) (*Gate, []check.Observation) {
	t.Helper()
	s, p := raySite(t)
	g := New(s, p, Deps{RunID: "r1"})
	a, b := g.nodes[0], g.nodes[1]
	pods := []podFigures{
		{Name: "head", UID: "u0", Head: true, Node: "system-01", Address: "10.0.0.1", Ready: true},
		{Name: "one", UID: "u1", Node: a, Address: "10.0.0.2", GPUs: 8, Ready: true},
		{Name: "two", UID: "u2", Node: b, Address: "10.0.0.3", GPUs: 8, Ready: true},
	}
	running := probe.Job{ID: "x", Status: probe.JobRunning}
	o := checktest.Observed{T: t}
	o.Add(kindCluster, g.ref(), true, clusterFigures{State: "ready", Generation: 1, Observed: 1, Conditions: []condition{{Type: "ReplicaFailure", Status: "False"}}, Groups: []group{{Name: "gpu", Pods: 2, GPUs: true}, {Name: "cpu", Pods: 3}}})
	o.Add(kindPods, g.ref(), true, pods)
	o.Add(kindOperator, "ray", true, operatorFigures{State: suspended, WithinSeconds: 120})
	o.Add(kindVersion, "head", true, versionFigures{"2.52.0"})
	raylets := []probe.Node{
		{ID: "n0", Address: "10.0.0.1", Head: true, State: probe.Alive}, {ID: "n1", Address: "10.0.0.2", State: probe.Alive, GPUs: 8}, {ID: "n2", Address: "10.0.0.3", State: probe.Alive, GPUs: 8},
	}
	o.Add(kindNodes, "head", true, raylets)
	o.Add(kindLeft, "head", true, leftFigures{Ended: []string{}})
	o.Add(kindUsage, "head", true, probe.Usage{Known: true, Total: 16})
	o.Add(kindProof, targetFits, true, proofFigures{Bundles: 2, GPUs: 8, Job: running, Group: group2(probe.Created, "FINISHED", "n1", "n2"),
		Counts: []count{{Bundle: 0, Node: "n1", GPUs: 8}, {Bundle: 1, Node: "n2", GPUs: 8}}, Removed: true})
	o.Add(kindProof, targetTooLarge, true, proofFigures{Bundles: 3, GPUs: 8, Job: running, Group: group2(probe.Pending, "INFEASIBLE", "", "", ""), SteadySeconds: 2, Removed: true})
	o.Add(kindAfter, g.ref(), true, pods)
	o.Add(kindRaylets, "head", true, raylets)
	for i := range o.List {
		o.List[i].At = readAt
	}
	return g, o.List
}

func TestRules(t *testing.T) {
	t.Parallel()
	g, obs := healthy(t)
	checktest.Judged(t, judgeOf(g)(obs), check.Passed, "", "")
	head, first, second := "head of RayCluster ray/ray", g.nodes[0], g.nodes[1]
	set := checktest.Set
	when := checktest.When
	fits, large := kindProof+"@"+targetFits, kindProof+"@"+targetTooLarge
	checktest.Rules(t, judgeOf(g), obs, []checktest.Rule{
		when("the operator reconciles", set(kindOperator, `.state`, "")).Fails("kuberay-operator", "did not reconcile"),
		when("the probe remains suspended", set(kindOperator, `.resumed`, true)).Fails("suspended RayCluster in namespace ray", "spec.suspend was set to false"),
		when("the probe has no pods", set(kindOperator, `.pods`, 1)).Fails("suspended RayCluster in namespace ray", "has 1 pods"),
		when("a change of the spec does not change the status", set(kindCluster, `.generation`, 2)).Passes(),
		when("the RayCluster is ready", set(kindCluster, `.state`, "failed")).Fails("RayCluster ray/ray", `in state "failed"`),
		when("it is not suspended", set(kindCluster, `.suspended`, true)).Fails("RayCluster ray/ray", "is suspended"),
		when("KubeRay can create pods", set(kindCluster, `.conditions[0].status`, "True")).Fails("RayCluster ray/ray", "cannot create its pods"),
		when("nothing scales", set(kindCluster, `.scales`, true)).Unobserved("RayCluster ray/ray", "autoscaler"),
		when("there is a head", set(kindPods, `[0].head`, false)).Fails(head, "0 pods of the head"),
		when("there is one head", set(kindPods, `[1].head`, true)).Fails(head, "2 pods of the head"),
		when("the head is ready", set(kindPods, `[0].ready`, false)).Fails(head, "is not ready"),
		when("a worker is ready", set(kindPods, `[1].ready`, false)).Fails(first, "is not ready"),
		when("a worker has all GPUs", set(kindPods, `[1].gpus`, 7)).Fails(first, "has 7 GPUs, want 8"),
		when("each node has a worker", set(kindPods, `[2]`, checktest.LeftOut)).Fails(second, "no pod of the RayCluster"),
		when("the group is as large as the inventory", set(kindPods, `[2]`, checktest.LeftOut), set(kindCluster, `.groups[0].pods`, 1)).Fails("worker group gpu", "has 1 replicas, the inventory has 2 nodes"),
		when("a node has one worker", set(kindPods, `[2].node`, first)).Fails(first, "2 pods of the RayCluster"),
		when("a worker is on a node of the inventory", set(kindPods, `[2].node`, "gpu-99")).Fails("gpu-99", "not in the inventory"),
		when("a worker is placed", set(kindPods, `[2].node`, "")).Fails("pod two", "is not placed"),
		when("the head has a version", set(kindVersion, `.version`, "")).Unobserved("Ray head", "no version"),
		when("the raylet has registered", set(kindNodes, `[1]`, checktest.LeftOut)).Fails(first, "not registered"),
		when("the raylet is alive", set(kindNodes, `[1].state`, "DEAD")).Fails(first, "is DEAD"),
		when("a pod has one raylet", set(kindNodes, `[2].address`, "10.0.0.2")).Fails(first, "2 raylets"),
		when("Ray has all GPUs", set(kindNodes, `[1].gpus`, 7)).Fails(first, "Ray has 7 GPUs"),
		when("Ray has only pods", set(kindNodes, `[0].address`, "10.0.0.9"), set(kindNodes, `[0].gpus`, 8)).Fails("Ray node 10.0.0.9", "is not a pod"),
		when("the head offers only GPUs that it requests", set(kindNodes, `[0].gpus`, 8)).Fails("pod head", "Ray has 8 GPUs of pod head, which requests 0"),
		when("the GPUs are free", set(kindUsage, `.used`, 1)).Unobserved("GPUs of Ray", "1 of 16 GPUs are in use"),
		when("no group of a killed run remains", set(kindLeft, `.remain`, []string{"firstlight-r0-group-fits"})).Fails("placement groups of Ray", "firstlight-r0-group-fits still exists"),
		when("a task ran on each bundle", set(fits, `.counts[1]`, checktest.LeftOut)).Fails(second, "no task ran with the GPUs of "+second),
		when("a worker process started", set(fits, `.counts[1].node`, ""), set(fits, `.counts[1].error`, "WorkerCrashedError()")).Fails(second, "did not run: WorkerCrashedError"),
		when("a task ran on its own node", set(fits, `.counts[1].node`, "n1")).Unobserved(second, "ran on "+first),
		when("a bundle has one result", set(fits, `.counts[1]`, checktest.Twice)).Unobserved(second, "2 results"),
		when("the container has all GPUs", set(fits, `.counts[1].gpus`, 7)).Fails(second, "nvidia-smi lists 7 GPUs in the pod on "+second+", want 8"),
		when("nvidia-smi runs", set(fits, `.counts[0].gpus`, 0), set(fits, `.counts[0].error`, "FileNotFoundError(2)")).Fails(first, "want 8: FileNotFoundError"),
		when("nvidia-smi ends without an error", set(fits, `.counts[0].error`, "exit code 15")).Fails(first, "exit code 15"),
		when("the head has run for some time", set(kindPods, `[0].restarts`, 3), set(kindPods, `[0].started`, readAt.Add(-time.Minute))).Fails(head, "restarted 1m0s before"),
		when("a worker has run for some time", set(kindPods, `[1].restarts`, 1), set(kindPods, `[1].ended`, readAt.Add(-2*time.Minute))).Fails(first, "restarted 2m0s before"),
		when("a restart was long ago", set(kindPods, `[1].restarts`, 1), set(kindPods, `[1].started`, readAt.Add(-time.Hour)), set(kindAfter, `[1].restarts`, 1)).Passes(),
		when("a container that started lately has not restarted", set(kindPods, `[1].started`, readAt)).Passes(),
		when("the raylet remains", set(kindRaylets, `[1].state`, "DEAD")).Fails(first, "raylet n1 of "+first+" was lost"),
		when("the raylet of the head remains", set(kindRaylets, `[0].id`, "n9")).Fails(head, "raylet n0"),
		when("the raylet keeps its GPUs", set(kindRaylets, `[2].gpus`, 7)).Fails(second, "raylet n2"),
		when("no raylet joins", set(kindRaylets, `[2]`, checktest.Twice), set(kindRaylets, `[2].id`, "n8")).Fails("Ray node 10.0.0.3", "joined during the gate"),
		when("the job runs", set(fits, `.job.status`, "FAILED")).Fails(suspectJob, "ended before"),
		when("the state of the job is known", set(fits, `.job.status`, "ODD")).Unobserved(suspectJob, "unknown state"),
		when("the job creates a group", set(fits, `.group`, nil)).Fails(suspectJob, "created no placement group"),
		when("the group has all bundles", set(fits, `.group.bundles[0]`, checktest.LeftOut)).Unobserved("placement group group-fits", "has 1 bundles"),
		when("the bundles have all GPUs", set(fits, `.group.bundles[0].gpus`, 1)).Unobserved("placement group group-fits", "or others"),
		when("the proof is of this site", set(fits, `.bundles`, 3)).Unobserved("placement group group-fits", "want 2"),
		when("the group is removed", set(fits, `.removed`, false)).Fails("placement groups of Ray", "still exists"),
		when("no half of the group is placed", set(fits, `.group.bundles[1].node`, ""), set(fits, `.group.state`, probe.Rescheduling)).Fails(second, "1 of 2 are placed"),
		when("bundles are on two nodes", set(fits, `.group.bundles[1].node`, "n1")).Fails(second, "has no bundle"),
		when("the group is placed", set(fits, `.group.bundles[0].node`, ""), set(fits, `.group.bundles[1].node`, ""), set(fits, `.group.state`, probe.Pending)).Fails("placement groups of Ray", "none of 2 bundles"),
		when("the group is created", set(fits, `.group.state`, probe.Prepared)).Fails("placement groups of Ray", "want CREATED"),
		when("a larger group is not placed", set(large, `.group.state`, probe.Created)).Fails("placement groups of Ray", "a group of 3 bundles was placed on 2 nodes"),
		when("no part of a larger group is placed", set(large, `.group.bundles[0].node`, "n1")).Fails("placement groups of Ray", "1 of 3 bundles"),
		when("a larger group is not reserved", set(large, `.group.state`, probe.Prepared)).Fails("placement groups of Ray", "0 of 3 bundles"),
		when("Ray has decided", set(large, `.steadySeconds`, 0)).Unobserved("placement groups of Ray", "not a decision"),
		when("the scheduler has looked", set(large, `.group.scheduling`, "QUEUED")).Unobserved("placement groups of Ray", "not a decision"),
		when("the scheduler states its decision", set(large, `.group.scheduling`, "")).Unobserved("placement groups of Ray", "not a decision"),
		when("the decision is a known one", set(large, `.group.scheduling`, "ODD")).Unobserved("placement groups of Ray", "not a decision"),
		when("the group waits for no commit", set(large, `.group.scheduling`, "FAILED_TO_COMMIT_RESOURCES")).Unobserved("placement groups of Ray", "not a decision"),
		when("the head did not restart", set(kindAfter, `[0].restarts`, 1)).Fails(head, "restarted during the gate"),
		when("a worker remained ready", set(kindAfter, `[1].ready`, false)).Fails(first, "ready false"),
		when("a worker does not terminate", set(kindAfter, `[1].terminating`, true)).Fails(first, "was replaced"),
		when("the worker of a node remains", set(kindPods, `[1].terminating`, true)).Fails(first, "no pod of the RayCluster"),
		when("the head remains", set(kindPods, `[0].terminating`, true)).Fails(head, "0 pods of the head"),
		when("a worker was not replaced", set(kindAfter, `[1].uid`, "other")).Fails(first, "was replaced"),
		when("no pod was added", set(kindAfter, `[2]`, checktest.Twice), set(kindAfter, `[2].uid`, "u3")).Fails(second, "pod two was created during the gate"),
	})
}

// Workers without GPUs whose number the autoscaler changes may come and go; others may not.
func TestScaledPods(t *testing.T) {
	t.Parallel()
	for _, how := range [][2]bool{{false, false}, {false, true}, {true, false}, {true, true}} {
		scales, starts := how[0], how[1]
		g, obs := healthy(t)
		cpu := podFigures{Name: "cpu", UID: "u9", Node: "system-01", Ready: true}
		for i, o := range obs {
			switch o.Kind {
			case kindCluster:
				f, err := check.Decode[clusterFigures](o)
				if err != nil {
					t.Fatal(err)
				}
				f.Groups[1].Scales = scales
				obs[i].Figures = encoded(t, f)
			case kindAfter:
				pods, err := check.Decode[[]podFigures](o)
				if err != nil {
					t.Fatal(err)
				}
				obs[i].Figures = encoded(t, append(pods, cpu))
			case kindPods: // one starts
				pods, err := check.Decode[[]podFigures](o)
				if err != nil {
					t.Fatal(err)
				}
				if starts {
					obs[i].Figures = encoded(t, append(pods, podFigures{Name: "starting", UID: "u8", Reason: "ContainerCreating"}))
				}
			}
		}
		want := check.Failed
		if scales {
			want = check.Passed
		}
		if j := judgeOf(g)(obs); j.Verdict != want {
			t.Errorf("scales %t, one starts %t: %s, %+v", scales, starts, j.Verdict, j.Findings)
		}
	}
}

func encoded(t *testing.T, v any) json.RawMessage {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// Without one of its observations the gate is unobserved.
func TestMissing(t *testing.T) {
	t.Parallel()
	g, obs := healthy(t)
	for i, o := range obs {
		if j := judgeOf(g)(append(slices.Clone(obs[:i]), obs[i+1:]...)); j.Verdict != check.Unobserved {
			t.Errorf("without %s %s: %s (%s)", o.Kind, o.Target, j.Verdict, j.Reason)
		}
	}
}

func TestPodOf(t *testing.T) {
	t.Parallel()
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "u", Labels: map[string]string{labelType: typeHead}}, Spec: corev1.PodSpec{
		Containers: []corev1.Container{{Name: "ray-head"}, {Name: "autoscaler"}},
	}, Status: corev1.PodStatus{
		Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/5 nodes"}},
	}}
	if f := podOf(p); f.Ready || !f.Head || f.Reason != "Unschedulable: 0/5 nodes" {
		t.Errorf("%+v", f)
	}
	p.Status = corev1.PodStatus{
		Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse}},
		ContainerStatuses: []corev1.ContainerStatus{ // the kubelet sorts them by name
			{Name: "autoscaler", RestartCount: 1},
			{Name: "ray-head", RestartCount: 3, LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{FinishedAt: metav1.NewTime(readAt)}},
				State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}},
		},
	}
	if f := podOf(p); f.Ready || f.Reason != "CrashLoopBackOff" || f.Restarts != 3 || f.Started != nil || f.Ended == nil || !f.Ended.Equal(readAt) {
		t.Errorf("%+v", f)
	}
	p.Status.Conditions[0].Status, p.Status.ContainerStatuses[1].State = corev1.ConditionTrue, corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(readAt)}}
	if f := podOf(p); !f.Ready || f.Reason != "" || f.Terminating || f.Started == nil || !f.Started.Equal(readAt) {
		t.Errorf("%+v", f)
	}
	p.DeletionTimestamp = new(metav1.Now())
	if f := podOf(p); !f.Terminating {
		t.Errorf("%+v", f)
	}
}

// head is a Ray head with one job and the states of its group, one a request; the last one remains.
type head struct {
	id       string // of the job
	posted   string // the body of the submission
	deaf     int    // stops that it ignores
	used     []int  // GPUs in use, one a request; the last one remains. Empty: it does not report them
	log      string
	t        *testing.T
	states   []string
	job      string // its state; empty: the job does not exist
	requests []string
	keeps    bool // the group remains after its job
}

func (h *head) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.requests = append(h.requests, r.Method+" "+r.URL.RequestURI())
	reply := func(v any) {
		if err := json.NewEncoder(w).Encode(v); err != nil {
			h.t.Error(err)
		}
	}
	id := cmp.Or(h.id, "firstlight-r1-"+targetFits)
	other := strings.HasPrefix(r.URL.Path, probe.JobsPath) && r.URL.Path != probe.JobsPath && !strings.HasPrefix(r.URL.Path, probe.JobPath(id))
	switch {
	case other:
		http.Error(w, "Job does not exist", http.StatusNotFound)
	case strings.HasPrefix(probe.StatusPath, r.URL.Path):
		h.status(w)
	case r.Method == http.MethodPost && r.URL.Path == probe.JobsPath:
		body, err := io.ReadAll(r.Body)
		if err != nil {
			h.t.Error(err)
		}
		h.posted, h.job = string(body), probe.JobRunning
		reply(map[string]string{"submission_id": id})
	case strings.HasSuffix(r.URL.Path, "/stop") && h.deaf > 0:
		h.deaf--
		reply(map[string]bool{"stopped": true})
	case strings.HasSuffix(r.URL.Path, "/stop"):
		h.job = probe.JobStopped
		if !h.keeps {
			h.states = []string{probe.Removed}
		}
	case strings.HasPrefix(r.URL.Path, probe.JobsPath) && h.job == "":
		http.Error(w, "Job does not exist", http.StatusNotFound)
	case strings.HasSuffix(r.URL.Path, "/logs"):
		reply(map[string]string{"logs": h.log})
	case r.Method == http.MethodDelete:
		h.job = ""
	case strings.HasPrefix(r.URL.Path, probe.JobsPath):
		reply(map[string]string{"submission_id": id, "status": h.job})
	default:
		state := h.states[0]
		if len(h.states) > 1 {
			h.states = h.states[1:]
		}
		fmt.Fprintf(w, `{"result": true, "data": {"result": {"total": 1, "result": [{"placement_group_id": "a", "name": %q, "state": %q, "bundles": [{"node_id": "n1", "unit_resources": {"GPU": 8}}, {"node_id": "n2", "unit_resources": {"GPU": 8}}], "stats": {}}]}}}`, id, state)
	}
}

func (h *head) status(w io.Writer) {
	report := "null"
	if len(h.used) > 0 {
		report = fmt.Sprintf(`{"usage": {"GPU": [%d, 16]}}`, h.used[0])
		h.used = append(h.used[1:], h.used[len(h.used)-1])[:max(1, len(h.used)-1)]
	}
	fmt.Fprintf(w, `{"result": true, "msg": "", "data": {"clusterStatus": {"loadMetricsReport": %s}}}`, report)
}

const bothCounts = "INFO a line\n" + `gpus of bundle {"bundle": 1, "node": "n2", "gpus": 8}` + "\n" + `gpus of bundle {"bundle": 0, "node": "n1", "gpus": 7, "error": "x"}` + "\n"

// probeGroup submits one job, waits for the decision and the results of its tasks, and leaves neither the job nor the
// group.
func TestProbeGroup(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		head    head
		held    bool
		state   string
		seconds float64 // simulated, at least
		removed bool
	}{
		"placed at once":         {head{states: []string{probe.Created}, log: bothCounts}, true, probe.Created, 0, true},
		"placed later":           {head{states: []string{probe.Pending, probe.Pending, probe.Created}, log: bothCounts}, true, probe.Created, 2, true},
		"stopped in the end":     {head{states: []string{probe.Created}, log: bothCounts, deaf: 3}, true, probe.Created, 0.75, true},
		"a group that remains":   {head{states: []string{probe.Created}, log: bothCounts, keeps: true}, false, probe.Created, 0, false},
		"no task runs":           {head{states: []string{probe.Created}, log: "a log"}, true, probe.Created, 90, true},
		"never placed":           {head{states: []string{probe.Pending}, log: "a log"}, false, probe.Pending, 120, true},
		"rescheduled for a time": {head{states: []string{probe.Rescheduling}, log: "a log"}, false, probe.Rescheduling, 30, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := tt.head
			h.t = t
			server := httptest.NewServer(&h)
			t.Cleanup(server.Close)
			s, p := raySite(t)
			began := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
			clock := testingclock.NewFakePassiveClock(began)
			g := New(s, p, depsAt(clock))
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if h.keeps { // its removal is waited for on a real clock
				removed := g.deps.Wait
				g.deps.Wait = func(ctx context.Context, by time.Duration) error {
					if h.job == "" {
						return context.DeadlineExceeded
					}
					return removed(ctx, by)
				}
			}
			var rec book
			held, err := g.probeGroup(ctx, &probe.Client{Address: strings.TrimPrefix(server.URL, "http://"), HTTP: server.Client()}, &rec, targetFits, 2)
			if err != nil || held != tt.held || len(rec) != 1 {
				t.Fatalf("held %t, %v, %+v", held, err, rec)
			}
			f, err := check.Decode[proofFigures](rec[0])
			if err != nil {
				t.Fatal(err)
			}
			if f.Group == nil || f.Group.State != tt.state || f.Removed != tt.removed || clock.Since(began).Seconds() < tt.seconds || h.job != "" {
				t.Errorf("%+v after %s, job %q", f, clock.Since(began), h.job)
			}
			if counts := parseCounts(tt.head.log); !reflect.DeepEqual(append([]count{}, f.Counts...), counts) || (f.Log == "") != (len(counts) == 2) {
				t.Errorf("counts %+v, log %q", f.Counts, f.Log)
			}
			for _, want := range []string{
				`"submission_id":"firstlight-r1-group-fits"`, "firstlight-r1-group-fits 2 8 270", "STRICT_SPREAD", "PlacementGroupSchedulingStrategy(", "nvidia-smi", `"firstlight.dev/run":"r1"`,
			} {
				if !strings.Contains(h.posted, want) {
					t.Errorf("%q not found in the submission %s", want, h.posted)
				}
			}
			if all := strings.Join(h.requests, "\n"); !strings.Contains(all, "filter_values=firstlight-r1-group-fits") {
				t.Errorf("groups are not filtered by name: %s", all)
			}
		})
	}
}

type book []check.Observation

func (b *book) Record(o check.Observation) (check.Observation, error) {
	*b = append(*b, o)
	return o, nil
}
func (*book) Progress(string, ...any) {}

// Without a group the state is as old as the wait.
func TestWatchWithoutAGroup(t *testing.T) {
	t.Parallel()
	h := head{t: t, states: []string{probe.Removed}, job: probe.JobRunning}
	server := httptest.NewServer(&h)
	t.Cleanup(server.Close)
	s, p := raySite(t)
	g := New(s, p, depsAt(testingclock.NewFakePassiveClock(time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC))))
	var f proofFigures
	_, err := g.watch(t.Context(), &probe.Client{Address: strings.TrimPrefix(server.URL, "http://"), HTTP: server.Client()}, targetFits, &f)
	if err != nil || f.Group != nil || f.steady() > g.deadline+2*interval || f.steady() < g.deadline {
		t.Errorf("%+v, %v, want none for %s", f, err, g.deadline)
	}
}
