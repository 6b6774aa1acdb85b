package workload

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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

func TestIndexOfEachKind(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		labels map[string]string
		want   int
	}{
		"launcher":     {map[string]string{mpiRoleLabel: "launcher"}, 0},
		"first worker": {map[string]string{mpiRoleLabel: "worker", mpiIndexLabel: "0"}, 1},
		"third worker": {map[string]string{mpiRoleLabel: "worker", mpiIndexLabel: "2"}, 3},
		"task":         {map[string]string{volcanoIndexLabel: "2"}, 2},
		"another pod":  {nil, -1},
	} {
		if got := Index(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: tt.labels}}); got != tt.want {
			t.Errorf("%s: %d, want %d", name, got, tt.want)
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
	for name, tt := range map[string]struct {
		scheduler Scheduler
		kind      Kind
		s         state
		want      bool
	}{
		"no pods":                    {KAI{}, MPIJob{}, state{job: job}, true},
		"no pods of a Job":           {Native{}, nil, state{job: job}, true},
		"a pod":                      {KAI{}, MPIJob{}, state{job: job, pods: make([]corev1.Pod, 1)}, false},
		"the job was not observed":   {KAI{}, MPIJob{}, state{}, false},
		"kueue has not decided":      {Kueue{}, JobSet{}, state{job: job}, false},
		"kueue has not admitted":     {Kueue{}, JobSet{}, state{job: job, groups: []*unstructured.Unstructured{workload("False")}}, false},
		"kueue has admitted":         {Kueue{}, JobSet{}, state{job: job, groups: []*unstructured.Unstructured{workload("True")}}, true},
		"a vcjob without a group":    {Volcano{}, VolcanoJob{}, state{job: job}, true},
		"a vcjob's group waits":      {Volcano{}, VolcanoJob{}, state{job: job, groups: make([]*unstructured.Unstructured, 1)}, false},
		"volcano, an MPIJob's group": {Volcano{}, MPIJob{}, state{job: job, groups: make([]*unstructured.Unstructured, 1)}, true},
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
	group := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{
		"phase":      "Pending",
		"conditions": []any{map[string]any{"type": "Unschedulable", "status": "True", "message": "4/0 tasks in gang unschedulable"}},
	}}}
	for _, tt := range []struct {
		kind Kind
		want bool
	}{{MPIJob{}, false}, {nil, false}, {VolcanoJob{}, true}} {
		g := &Gang{Spec: Spec{Pods: 4}, scheduler: Volcano{}, kind: tt.kind}
		if got := g.placementOf(state{groups: []*unstructured.Unstructured{group}}).GroupRefused; got != tt.want {
			t.Errorf("%s: %t, want %t", KindName(tt.kind), got, tt.want)
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
