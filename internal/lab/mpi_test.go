package lab

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firstlight/firstlight/internal/lab/component"
)

var mpiJobs = schema.GroupVersionResource{Group: "kubeflow.org", Version: "v2beta1", Resource: "mpijobs"}

// testMPI adds the MPI Operator: it creates launcher and workers of an MPIJob, which succeeds with
// its launcher.
func testMPI(t *testing.T, r *running) {
	requireOneOnly(t)
	begin := time.Now()
	if err := r.Ensure(t.Context(), []string{component.ExtraMPI}); err != nil {
		t.Fatal(err)
	}
	t.Logf("the MPI Operator was ready after %s", time.Since(begin))
	replica := func(replicas int64, name string) map[string]any {
		return map[string]any{"replicas": replicas, "template": map[string]any{"spec": map[string]any{
			"containers": []any{map[string]any{"name": name, "image": "example.com/mpi:1"}},
		}}}
	}
	jobs := r.dyn.Resource(mpiJobs).Namespace("default")
	begin = time.Now()
	_, err := jobs.Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "kubeflow.org/v2beta1", "kind": "MPIJob", "metadata": map[string]any{"name": "reduce"},
		"spec": map[string]any{"mpiReplicaSpecs": map[string]any{"Launcher": replica(1, "launcher"), "Worker": replica(2, "worker")}},
	}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r.awaitRunning(t, "training.kubeflow.org/job-name=reduce,training.kubeflow.org/job-role=worker", 2)
	r.awaitRunning(t, "training.kubeflow.org/job-name=reduce,training.kubeflow.org/job-role=launcher", 1)
	t.Logf("launcher and workers ran after %s", time.Since(begin))

	// No program is simulated in this lab: the test ends the launcher.
	pods := r.client.CoreV1().Pods("default")
	list, err := pods.List(t.Context(), metav1.ListOptions{LabelSelector: "training.kubeflow.org/job-name=reduce,training.kubeflow.org/job-role=launcher"})
	if err != nil || len(list.Items) != 1 {
		t.Fatalf("launchers are %v, %v", list, err)
	}
	list.Items[0].Status.Phase = corev1.PodSucceeded
	if _, err := pods.UpdateStatus(t.Context(), &list.Items[0], metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	r.await(t, "the MPIJob to have succeeded", func(ctx context.Context) (bool, error) {
		job, err := jobs.Get(ctx, "reduce", metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		status, message := conditionOf(job, "Succeeded")
		return status == "True", fmt.Errorf("condition %q: %s", status, message)
	})
	if err := jobs.Delete(t.Context(), "reduce", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

// requireOneOnly proves that a second lab with the MPI Operator fails with an error about the
// port.
func requireOneOnly(t *testing.T) {
	t.Helper()
	first, err := claimNetwork(t.Context(), 1, component.ExtraMPI)
	if err != nil {
		t.Fatal(err)
	}
	defer first.close()
	if _, err := claimNetwork(t.Context(), 1, component.ExtraMPI); err == nil || !strings.Contains(err.Error(), "8080") || !strings.Contains(err.Error(), "another lab") {
		t.Errorf("second lab with the MPI Operator: %v, want an error about the port", err)
	}
}
