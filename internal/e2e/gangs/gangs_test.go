package gangs_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/suite"
)

const holder = "internal/e2e/gangs TestGangs"

// combination is a gang scheduler with a kind of job, and the fault that must fail it.
type combination struct {
	scheduler, kind string
	fault           string // empty: the combination itself places parts of gangs
	suspect         string
	message         string
}

const (
	half   = "placed 4 of 5 pods of a gang of which 4 fit"
	closed = "placed 0 of 4 pods of a gang that fits"
)

func (c combination) keys() string {
	if c.scheduler == "native" {
		return "gangScheduler: native, jobKind: " + c.kind
	}
	return fmt.Sprintf("gangScheduler: %s, queue: default-queue, jobKind: %s", c.scheduler, c.kind)
}

func combinations() []combination {
	const (
		kai, volcano, kueue = "gang scheduler kai, queue default-queue", "gang scheduler volcano, queue default-queue", "gang scheduler kueue, queue default-queue"
		jobset              = "webhook mjobset.kb.io of service jobset-system/jobset-webhook-service"
		trainer             = "webhook validator.trainingruntime.trainer.kubeflow.org of service kubeflow-system/kubeflow-trainer-controller-manager"
		conversion          = "webhook for conversion of LocalQueue of service kueue-system/kueue-webhook-service"
	)
	return []combination{
		{"native", "job", "half-gang", "gang scheduler native", half},
		// KAI 0.12 groups the pods of an MPIJob only.
		{"kai", "job", "", kai, half},
		{"kai", "jobset", "", kai, half},
		{"kai", "trainjob", "", kai, half},
		{"volcano", "job", "half-gang", volcano, half},
		{"volcano", "jobset", "job-operators-down", jobset, "does not answer"},
		{"volcano", "trainjob", "job-operators-down", trainer, "does not answer"},
		{"volcano", "vcjob", "queue-closed", volcano, closed},
		{"kueue", "job", "half-gang", kueue, half},
		{"kueue", "jobset", "job-operators-down", jobset, "does not answer"},
		{"kueue", "trainjob", "kueue-down", conversion, "does not answer"},
		// The MPI Operator comes last: its port is reserved meanwhile.
		{"kai", "mpijob", "queue-closed", kai, closed},
		{"volcano", "mpijob", "job-operators-down", "controller of mpijobs.kubeflow.org", "created none of the 5 pods"},
		{"kueue", "mpijob", "queue-closed", kueue, closed},
	}
}

// TestGang: Kueue admits a Job as a whole; with a quota above the GPUs of the cluster, part of a gang is
// placed, and gate gpustack names Kueue and the queue.
func TestGang(t *testing.T) {
	suite.RequireFault(t, "internal/e2e/gangs TestGang", "half-gang")
	suite.Admit(t)
	labWith(t, "kueue")
	i := slices.IndexFunc(combinations(), func(c combination) bool { return c.scheduler == "kueue" && c.kind == "job" })
	c := combinations()[i]
	passes(t, c, "gpustack")
	withFault(t, c.fault, func() { fails(t, c.keys(), c.suspect, c.message) })
}

// TestGangs: every scheduler with every kind of job that it places: gates 4, 6 and 7 pass with pods of
// that scheduler and kind, and gate 4 names the culprit of a fault.
func TestGangs(t *testing.T) {
	suite.Require(t, suite.All)
	suite.Admit(t)
	labWith(t, "kai,volcano,kueue,trainer")
	mpi := false
	for _, c := range combinations() {
		if c.kind == "mpijob" && !mpi {
			mpi = true
			suite.Exclusive(t, "mpi-operator")
			t.Cleanup(func() { // before the port is free for others
				if r := program.Run(context.WithoutCancel(t.Context()), "lab", "down", "--name", lab); r.Code != 0 {
					t.Errorf("lab down exited %d: %s", r.Code, r.Stderr)
				}
			})
			labWith(t, "mpi")
		}
		t.Run(c.scheduler+"/"+c.kind, func(t *testing.T) {
			if c.fault == "" {
				fails(t, c.keys(), c.suspect, c.message)
				return
			}
			suite.RequireFault(t, holder, c.fault)
			for _, gate := range []string{"gpustack", "collective", "training"} {
				passes(t, c, gate)
			}
			withFault(t, c.fault, func() { fails(t, c.keys(), c.suspect, c.message) })
		})
	}
	t.Run("kai/auto", func(t *testing.T) {
		pods := podsOf(t, func() { accept(t, "gpustack", "gangScheduler: kai, queue: default-queue") })
		requireKind(t, pods, "kai", "mpijob")
	})
	t.Run("volcano/auto", func(t *testing.T) {
		pods := podsOf(t, func() { accept(t, "gpustack", "gangScheduler: volcano") })
		requireKind(t, pods, "volcano", "vcjob")
	})
	program.RequireClean(t, lab)
}

// passes requires that a gate passes, and that all its pods are of the scheduler and the kind.
func passes(t *testing.T, c combination, name string) {
	t.Helper()
	pods := podsOf(t, func() {
		if g, code := accept(t, name, c.keys()); code != 0 || g.Verdict != "passed" {
			t.Errorf("gate %s: exit %d, %s (%s), want passed: %+v", name, code, g.Verdict, g.Reason, g.Findings)
		}
	})
	requireKind(t, pods, c.scheduler, c.kind)
}

func requireKind(t *testing.T, pods map[string]*corev1.Pod, scheduler, kind string) {
	t.Helper()
	if len(pods) == 0 {
		t.Error("no pod was observed")
	}
	binds := map[string]string{"native": corev1.DefaultSchedulerName, "kueue": corev1.DefaultSchedulerName, "kai": "kai-scheduler", "volcano": "volcano"}[scheduler]
	for name, p := range pods {
		if p.Spec.SchedulerName != binds || kindOf(p) != kind {
			t.Errorf("pod %s has the scheduler %s and the kind %s, want %s and %s", name, p.Spec.SchedulerName, kindOf(p), binds, kind)
		}
	}
}

// kindOf is the kind of a pod's job by what its controller has put on the pod.
func kindOf(p *corev1.Pod) string {
	_, jobset := p.Labels["jobset.sigs.k8s.io/jobset-name"]
	switch {
	case p.Labels["training.kubeflow.org/operator-name"] == "mpi-operator":
		return "mpijob"
	case p.Labels["volcano.sh/job-name"] != "":
		return "vcjob"
	case jobset && p.Spec.Containers[0].Name == "node":
		return "trainjob"
	case jobset:
		return "jobset"
	default:
		return "job"
	}
}

// podsOf returns the pods of runs that exist while run does, by name.
func podsOf(t *testing.T, run func()) map[string]*corev1.Pod {
	t.Helper()
	watch, err := program.Cluster(t, lab).Client.CoreV1().Pods(metav1.NamespaceAll).Watch(t.Context(), metav1.ListOptions{LabelSelector: kube.LabelRun})
	if err != nil {
		t.Fatal(err)
	}
	pods, done := map[string]*corev1.Pod{}, make(chan struct{})
	go func() {
		defer close(done)
		for event := range watch.ResultChan() {
			if p, ok := event.Object.(*corev1.Pod); ok {
				pods[p.Namespace+"/"+p.Name] = p
			}
		}
	}()
	run()
	watch.Stop()
	<-done
	return pods
}
