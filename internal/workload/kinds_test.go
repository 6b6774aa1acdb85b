package workload

import (
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

func TestSelectKind(t *testing.T) {
	t.Parallel()
	mpi, trainer, jobset := list("kubeflow.org/v2beta1", "mpijobs"), list("trainer.kubeflow.org/v1alpha1", "trainjobs"), list("jobset.x-k8s.io/v1alpha2", "jobsets")
	volcano := list("batch.volcano.sh/v1alpha1", "jobs")
	all := []*metav1.APIResourceList{mpi, trainer, jobset, volcano}
	for name, tt := range map[string]struct {
		scheduler Scheduler
		served    []*metav1.APIResourceList
		want      string
		kind      string
		err       string
	}{
		"native has one kind":          {Native{}, all, Auto, "job", ""},
		"nothing is served":            {KAI{}, nil, "", "job", ""},
		"kai's own":                    {KAI{}, all, Auto, "mpijob", ""},
		"kai, without the operator":    {KAI{}, []*metav1.APIResourceList{jobset}, Auto, "jobset", ""},
		"volcano's own":                {Volcano{}, all, Auto, "vcjob", ""},
		"volcano without its jobs":     {Volcano{}, []*metav1.APIResourceList{trainer}, Auto, "trainjob", ""},
		"kueue":                        {Kueue{}, all, Auto, "trainjob", ""},
		"forced":                       {Kueue{}, all, "job", "job", ""},
		"forced, another":              {Kueue{}, all, "mpijob", "mpijob", ""},
		"forced and not served":        {Kueue{}, nil, "mpijob", "", "does not serve kind mpijob"},
		"forced and impossible":        {Native{}, all, "jobset", "", "native cannot place a gang of kind jobset"},
		"another scheduler's own kind": {Kueue{}, all, "vcjob", "", "want one of trainjob"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kind, err := SelectKind(t.Context(), serving(tt.served...), tt.scheduler, tt.want, "q")
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("%v, want %q", err, tt.err)
				}
				return
			}
			if err != nil || KindName(kind) != tt.kind {
				t.Errorf("%s, %v; want %s", KindName(kind), err, tt.kind)
			}
		})
	}
}

// An MPIJob has a launcher and at least one worker.
func TestTheSmallestMPIJob(t *testing.T) {
	t.Parallel()
	spec := collectiveSpec()
	spec.Pods = 1
	if _, err := RenderKind("ns", "run", nil, MPIJob{}, spec); err == nil {
		t.Error("an MPIJob of one pod was rendered")
	}
}

// The label replica-index of an MPIJob whose launcher is a worker has counted the launcher since MPI
// Operator 0.7.0 (workerReplicaIndexLabel of its controller; for Kueue's topology-aware scheduling). The
// names of the pods are those of 0.6.0.
func TestIndexOfEachKind(t *testing.T) {
	t.Parallel()
	const role, index = "training.kubeflow.org/job-role", "training.kubeflow.org/replica-index"
	for name, tt := range map[string]struct {
		pod    string
		labels map[string]string
		want   int
	}{
		"launcher":                             {"gang-fits-launcher-x7k2p", map[string]string{role: "launcher"}, 0},
		"launcher of MPI Operator 0.7.0":       {"gang-fits-launcher-x7k2p", map[string]string{role: "launcher", index: "0"}, 0},
		"first worker":                         {"gang-fits-worker-0", map[string]string{role: "worker", index: "0"}, 1},
		"third worker":                         {"gang-fits-worker-2", map[string]string{role: "worker", index: "2"}, 3},
		"first worker of MPI Operator 0.7.0":   {"gang-fits-worker-0", map[string]string{role: "worker", index: "1"}, 1},
		"twelfth worker of MPI Operator 0.7.0": {"gang-fits-worker-11", map[string]string{role: "worker", index: "12"}, 12},
		"a worker without a number":            {"gang-fits-worker-x", map[string]string{role: "worker", index: "1"}, -1},
		"task":                                 {"", map[string]string{volcanoIndexLabel: "2"}, 2},
		"another pod":                          {"gang-fits-worker-0", nil, -1},
	} {
		if got := Index(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: tt.pod, Labels: tt.labels}}); got != tt.want {
			t.Errorf("%s: %d, want %d", name, got, tt.want)
		}
	}
}

// A worker computes its number in the same way from its name: bash prints what a rank would get.
func TestNumberOfAnMPIWorker(t *testing.T) {
	t.Parallel()
	spec := collectiveSpec()
	spec.Script = `echo "$JOB_COMPLETION_INDEX"`
	m, err := RenderKind("ns", "run", nil, MPIJob{}, spec)
	if err != nil {
		t.Fatal(err)
	}
	containers, _, err := unstructured.NestedSlice(m.Jobs[0].Object, "spec", "mpiReplicaSpecs", "Worker", "template", "spec", "containers")
	if err != nil {
		t.Fatal(err)
	}
	var c corev1.Container
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(containers[0].(map[string]any), &c); err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(c.Env, func(e corev1.EnvVar) bool { return e.Name == "MPI_WORKER" })
	if i < 0 || c.Env[i].ValueFrom == nil || c.Env[i].ValueFrom.FieldRef.FieldPath != "metadata.name" {
		t.Fatalf("MPI_WORKER is not the name of the pod: %+v", c.Env)
	}
	for name, want := range map[string]string{"all-reduce-worker-0": "1", "all-reduce-worker-10": "11"} {
		cmd := exec.CommandContext(t.Context(), c.Command[0], c.Command[1:]...)
		cmd.Env = []string{"MPI_WORKER=" + name}
		out, err := cmd.CombinedOutput()
		if err != nil || strings.TrimSpace(string(out)) != want {
			t.Errorf("%s: %s, %v; want %s", name, out, err, want)
		}
	}
}

func TestFailedKinds(t *testing.T) {
	t.Parallel()
	status := func(s map[string]any) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"status": s}}
	}
	failed := func(value string) map[string]any {
		return map[string]any{"conditions": []any{map[string]any{"type": "Failed", "status": value, "reason": "FailedJobs", "message": "m"}}}
	}
	phase := func(p string) map[string]any {
		return map[string]any{"state": map[string]any{"phase": p, "message": "m"}}
	}
	for name, tt := range map[string]struct {
		kind   Kind
		status map[string]any
		want   string
	}{
		"jobset":           {JobSet{}, failed("True"), "FailedJobs: m"},
		"jobset, running":  {JobSet{}, failed("False"), ""},
		"trainjob":         {TrainJob{}, failed("True"), "FailedJobs: m"},
		"mpijob":           {MPIJob{}, failed("True"), "FailedJobs: m"},
		"mpijob, new":      {MPIJob{}, nil, ""},
		"vcjob":            {VolcanoJob{}, phase("Aborted"), "Aborted: m"},
		"vcjob, completed": {VolcanoJob{}, phase("Completed"), ""},
	} {
		reason, ok := tt.kind.Failed(status(tt.status))
		if ok != (tt.want != "") || ok && reason != tt.want {
			t.Errorf("%s: %q, %t; want %q", name, reason, ok, tt.want)
		}
	}
}

// Without pods, the job's controller does not act, unless a scheduler holds the job back.
func TestUnstarted(t *testing.T) {
	t.Parallel()
	job := &jobState{}
	workload := func(admitted string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"conditions": []any{map[string]any{"type": "Admitted", "status": admitted}}}}}
	}
	// MultiKueue runs the job in another cluster (status.clusterName of Kueue 0.15; kueue issue 1787).
	remote := workload("True")
	remote.Object["status"].(map[string]any)["clusterName"] = "worker1"
	group := func(phase string) []*unstructured.Unstructured {
		return []*unstructured.Unstructured{{Object: map[string]any{"status": map[string]any{"phase": phase}}}}
	}
	for name, tt := range map[string]struct {
		scheduler Scheduler
		kind      Kind
		s         state
		want      bool
	}{
		"no pods":                  {KAI{}, MPIJob{}, state{job: job}, true},
		"no pods of a Job":         {Native{}, nil, state{job: job}, true},
		"a pod":                    {KAI{}, MPIJob{}, state{job: job, pods: make([]corev1.Pod, 1)}, false},
		"the job was not observed": {KAI{}, MPIJob{}, state{}, false},
		"kueue has not decided":    {Kueue{}, JobSet{}, state{job: job}, false},
		"kueue has not admitted":   {Kueue{}, JobSet{}, state{job: job, groups: []*unstructured.Unstructured{workload("False")}}, false},
		"kueue has admitted":       {Kueue{}, JobSet{}, state{job: job, groups: []*unstructured.Unstructured{workload("True")}}, true},
		"in another cluster":       {Kueue{}, JobSet{}, state{job: job, groups: []*unstructured.Unstructured{remote}}, false},
		// Kueue issue 11931: Kueue 0.17.3 admitted a TrainJob and did not resume it.
		"admitted and not resumed":    {Kueue{}, TrainJob{}, state{job: &jobState{suspended: true}, groups: []*unstructured.Unstructured{workload("True")}}, false},
		"a vcjob without a group":     {Volcano{}, VolcanoJob{}, state{job: job}, true},
		"a vcjob's group waits":       {Volcano{}, VolcanoJob{}, state{job: job, groups: group("Pending")}, false},
		"a vcjob's group is admitted": {Volcano{}, VolcanoJob{}, state{job: job, groups: group("Inqueue")}, true},
		"volcano, an MPIJob's group":  {Volcano{}, MPIJob{}, state{job: job, groups: make([]*unstructured.Unstructured, 1)}, true},
	} {
		if got := (&Gang{scheduler: tt.scheduler, kind: tt.kind}).unstarted(tt.s); got != tt.want {
			t.Errorf("%s: %t, want %t", name, got, tt.want)
		}
	}
}

// Volcano calls a group without pods unschedulable: that is a decision only where it comes before the
// pods.
func TestRefusalOfAGroupWithoutPods(t *testing.T) {
	t.Parallel()
	// Inqueue: Volcano has admitted the group, and its controller has to create the pods.
	for _, tt := range []struct {
		kind  Kind
		phase string
		want  bool
	}{{MPIJob{}, "Pending", false}, {nil, "Pending", false}, {VolcanoJob{}, "Pending", true}, {VolcanoJob{}, "Inqueue", false}} {
		group := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{
			"phase":      tt.phase,
			"conditions": []any{map[string]any{"type": "Unschedulable", "status": "True", "message": "4/0 tasks in gang unschedulable"}},
		}}}
		g := &Gang{Spec: Spec{Pods: 4}, scheduler: Volcano{}, kind: tt.kind}
		if got := g.placementOf(state{groups: []*unstructured.Unstructured{group}}).GroupRefused; got != tt.want {
			t.Errorf("%s, %s: %t, want %t", KindName(tt.kind), tt.phase, got, tt.want)
		}
	}
}

// Volcano 1.10 gives the numbers of missing pods and of those that it knew (OnSessionClose of its plugin
// gang): a refusal from before the pods is not a decision about them.
func TestRefusalFromBeforeThePods(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]bool{
		"2/0 tasks in gang unschedulable: pod group is not ready, 2 minAvailable":                                                   false,
		"2/2 tasks in gang unschedulable: pod group is not ready, 2 Pending, 2 minAvailable; Pending: 2 Unschedulable":              true,
		"10/10 tasks in gang unschedulable: pod group is not ready, 10 Pending, 10 minAvailable; Pending: 9 Schedulable, 1 Unsched": true,
	} {
		for _, kind := range []Kind{nil, VolcanoJob{}} {
			group := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{
				"phase":      "Inqueue",
				"conditions": []any{map[string]any{"type": "Unschedulable", "status": "True", "message": message}},
			}}}
			g := &Gang{Spec: Spec{Pods: 2}, scheduler: Volcano{}, kind: kind}
			pods := []corev1.Pod{pod("a", "0", nil), pod("b", "1", nil)}
			if got := g.placementOf(state{pods: pods, groups: []*unstructured.Unstructured{group}}).GroupRefused; got != want {
				t.Errorf("%s, %s: %t, want %t", KindName(kind), message, got, want)
			}
		}
	}
}

// The statuses are those of Workloads of Kueue 0.15 whose job has no pods.
func TestWhatKueueHolds(t *testing.T) {
	t.Parallel()
	holds := func(status map[string]any) string {
		return strings.Join(Kueue{}.holds([]*unstructured.Unstructured{{Object: map[string]any{"status": status}}}, MPIJob{}), "; ")
	}
	for name, tt := range map[string]struct {
		status map[string]any
		want   string
	}{
		"new":                {nil, ""},
		"a check waits":      {map[string]any{"admissionChecks": []any{map[string]any{"name": "capacity", "state": "Pending", "message": "Waiting for the ProvisioningRequest"}, map[string]any{"name": "other", "state": "Ready"}}}, "kueue: admission check capacity is Pending: Waiting for the ProvisioningRequest"},
		"in another cluster": {map[string]any{"clusterName": "worker1"}, "kueue: MultiKueue runs the job in cluster worker1: no pod of it is created in this one"},
		"evicted":            {map[string]any{"conditions": []any{map[string]any{"type": "Evicted", "status": "True", "reason": "PodsReadyTimeout", "message": "Exceeded the PodsReady timeout"}}}, "kueue: evicted (PodsReadyTimeout): Exceeded the PodsReady timeout"},
	} {
		if got := holds(tt.status); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
	if got := (Kueue{}).holds(nil, MPIJob{}); len(got) != 1 || !strings.Contains(got[0], "integrations.frameworks") || !strings.Contains(got[0], "mpijobs.kubeflow.org") {
		t.Errorf("without a Workload: %q", got)
	}
}

// The texts are those of the Job controller of Kubernetes 1.36, of Volcano 1.10 and of MPI Operator 0.7.0.
func TestDeniedPods(t *testing.T) {
	t.Parallel()
	created := metav1.Unix(1000, 0)
	event := func(name, reason, message string, at int64) corev1.Event {
		return corev1.Event{InvolvedObject: corev1.ObjectReference{Name: name}, Type: corev1.EventTypeWarning, Reason: reason, Message: message, LastTimestamp: metav1.Unix(at, 0)}
	}
	const quota = `pods "g-node-0-0-x7k2p" is forbidden: exceeded quota: team, requested: requests.nvidia.com/gpu=8, used: requests.nvidia.com/gpu=0, limited: requests.nvidia.com/gpu=0`
	const webhook = `admission webhook "validate.kyverno.svc-fail" denied the request: resource Pod/ns/g-worker-0 was blocked`
	for name, tt := range map[string]struct {
		event corev1.Event
		want  string
	}{
		"of a Job's quota":          {event("g-node-0", "FailedCreate", "Error creating: "+quota, 1001), quota},
		"of a Volcano Job's policy": {event("g", "FailedCreate", "Error creating pods: ["+webhook+"]", 1001), webhook},
		"of an MPIJob's policy":     {event("g", "MPIJobFailed", "worker pod created failed: "+webhook, 1001), webhook},
		"of an earlier run":         {event("g", "FailedCreate", "Error creating: "+quota, 999), ""},
		"of another gang":           {event("other", "FailedCreate", "Error creating: "+quota, 1001), ""},
		"no refusal":                {event("g", "FailedCreate", "Error creating: Timeout: request did not complete within requested timeout", 1001), ""},
		"another warning":           {event("g", "FailedScheduling", "is forbidden", 1001), ""},
	} {
		g := &Gang{Spec: Spec{Name: "g", Pods: 4}, created: created}
		got := denied(g.warnings([]corev1.Event{tt.event}))
		if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// The message is that of an API server 1.36 whose webhook refused the connection.
func TestWebhook(t *testing.T) {
	t.Parallel()
	const message = `failed calling webhook "mjob.kb.io": failed to call webhook: Post "https://kueue-webhook-service.kueue-system.svc:40123/mutate-batch-v1-job?timeout=10s": dial tcp 127.20.30.1:40123: connect: connection refused`
	if got, want := Webhook(apierrors.NewInternalError(errors.New(message))), "webhook mjob.kb.io of service kueue-system/kueue-webhook-service"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	const conversion = `conversion webhook for kueue.x-k8s.io/v1beta2, Kind=LocalQueue failed: Post "https://kueue-webhook-service.kueue-system.svc:37365/convert?timeout=30s": dial tcp 127.20.30.1:37365: connect: connection refused`
	converting := &apierrors.StatusError{ErrStatus: metav1.Status{Code: 500, Message: conversion}}
	if got, want := Webhook(fmt.Errorf("create LocalQueue g: %w", converting)), "webhook for conversion of LocalQueue of service kueue-system/kueue-webhook-service"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for _, err := range []error{nil, errors.New(message), apierrors.NewInternalError(errors.New("etcd"))} {
		if got := Webhook(err); got != "" {
			t.Errorf("%v: %q", err, got)
		}
	}
}

// The first message is that of Kubeflow Trainer 2.1 in a lab, a moment after its TrainingRuntime was created.
func TestTooEarly(t *testing.T) {
	t.Parallel()
	runtime := []objectRef{{name: "training"}}
	denied := func(what string) error {
		return &apierrors.StatusError{ErrStatus: metav1.Status{Code: http.StatusUnprocessableEntity, Message: `admission webhook "validator.trainjob.trainer.kubeflow.org" denied the request: spec.runtimeRef: Invalid value: {"name":"training"}: ` + what}}
	}
	const unknown = `TrainingRuntime.trainer.kubeflow.org "training" not found: specified trainingRuntime must be created before the TrainJob is created`
	for name, tt := range map[string]struct {
		err     error
		created []objectRef
		want    bool
	}{
		"a webhook without the runtime":   {denied(unknown), runtime, true},
		"a runtime that the gang has not": {denied(unknown), []objectRef{{name: "other"}}, false},
		"no object before":                {denied(unknown), nil, false},
		"denied for another reason":       {denied("jobs with labels are refused"), runtime, false},
		"not found without a webhook":     {errors.New(`namespaces "training" not found`), runtime, false},
		"accepted":                        {nil, runtime, false},
	} {
		if got := tooEarly(tt.err, tt.created); got != tt.want {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}
