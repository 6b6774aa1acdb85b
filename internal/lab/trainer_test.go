package lab

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firstlight/firstlight/internal/lab/component"
)

var (
	trainJobs = schema.GroupVersionResource{Group: "trainer.kubeflow.org", Version: "v1alpha1", Resource: "trainjobs"}
	jobSets   = schema.GroupVersionResource{Group: "jobset.x-k8s.io", Version: "v1alpha2", Resource: "jobsets"}
)

// trainJob uses the lab's runtime on two nodes.
func trainJob(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob", "metadata": map[string]any{"name": name},
		"spec": map[string]any{
			"runtimeRef": map[string]any{"name": "torch-distributed"},
			"trainer":    map[string]any{"numNodes": int64(2), "numProcPerNode": "auto"},
		},
	}}
}

// testTrainer adds Kubeflow Trainer: a TrainJob becomes a JobSet and a Job, whose pods run; the
// webhook denies an invalid TrainJob that the schema accepts; after a kill it restarts and
// continues.
func testTrainer(t *testing.T, r *running) {
	begin := time.Now()
	if err := r.Ensure(t.Context(), []string{component.ExtraTrainer}); err != nil {
		t.Fatal(err)
	}
	t.Logf("Kubeflow Trainer was ready after %s", time.Since(begin))

	begin = time.Now()
	jobs := r.dyn.Resource(trainJobs).Namespace("default")
	created, err := jobs.Create(t.Context(), trainJob("two"), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r.awaitRunning(t, "jobset.sigs.k8s.io/jobset-name=two", 2)
	t.Logf("its pods ran after %s", time.Since(begin))
	set, err := r.dyn.Resource(jobSets).Namespace("default").Get(t.Context(), "two", metav1.GetOptions{})
	if err != nil || !metav1.IsControlledBy(set, created) {
		t.Errorf("the JobSet is %v of %v, want the TrainJob's %s", set.GetOwnerReferences(), err, created.GetUID())
	}
	list, err := r.client.BatchV1().Jobs("default").List(t.Context(), metav1.ListOptions{LabelSelector: "jobset.sigs.k8s.io/jobset-name=two"})
	if err != nil || len(list.Items) != 1 || !metav1.IsControlledBy(&list.Items[0], set) {
		t.Errorf("Jobs are %v, %v; want one, the JobSet's", list, err)
	}

	reserved := trainJob("reserved")
	env := []any{map[string]any{"name": "PET_NNODES", "value": "7"}}
	if err := unstructured.SetNestedSlice(reserved.Object, env, "spec", "trainer", "env"); err != nil {
		t.Fatal(err)
	}
	_, err = jobs.Create(t.Context(), reserved, metav1.CreateOptions{})
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `admission webhook "validator.trainjob.trainer.kubeflow.org" denied`) {
		t.Errorf("a reserved variable: %v, want a denial of the webhook", err)
	}
	testTrainerKilled(t, r)
	if err := jobs.Delete(t.Context(), "two", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	r.await(t, "the Job to be gone with its TrainJob", func(ctx context.Context) (bool, error) {
		list, err := r.client.BatchV1().Jobs("default").List(ctx, metav1.ListOptions{LabelSelector: "jobset.sigs.k8s.io/jobset-name=two"})
		return err == nil && len(list.Items) == 0, err
	})
}

// testTrainerKilled kills Kubeflow Trainer before the Job ends: its successor reports the end.
func testTrainerKilled(t *testing.T, r *running) {
	t.Helper()
	holder := func() string {
		lease, err := r.client.CoordinationV1().Leases("kubeflow-system").Get(t.Context(), "trainer.kubeflow.org", metav1.GetOptions{})
		if err != nil || lease.Spec.HolderIdentity == nil {
			return ""
		}
		return *lease.Spec.HolderIdentity
	}
	before := holder()
	if before == "" {
		t.Error("Kubeflow Trainer's lease has no holder")
	}
	killComponent(t, r, component.KubeflowTrainer)
	// No program is simulated in this lab: the test ends the Job.
	pods := r.client.CoreV1().Pods("default")
	list, err := pods.List(t.Context(), metav1.ListOptions{LabelSelector: "jobset.sigs.k8s.io/jobset-name=two"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range list.Items {
		p := &list.Items[i]
		p.Status.Phase = "Succeeded"
		if _, err := pods.UpdateStatus(t.Context(), p, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	begin := time.Now()
	r.await(t, "the TrainJob to be complete", func(ctx context.Context) (bool, error) {
		job, err := r.dyn.Resource(trainJobs).Namespace("default").Get(ctx, "two", metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		status, message := conditionOf(job, string(batchv1.JobComplete))
		return status == "True", fmt.Errorf("condition %q: %s", status, message)
	})
	t.Logf("the TrainJob was complete %s after its controller was killed", time.Since(begin))
	if after := holder(); after == before {
		t.Errorf("%s still holds the lease after the kill", after)
	}
}
