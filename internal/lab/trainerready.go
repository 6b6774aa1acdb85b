package lab

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/firstlight/firstlight/internal/poll"
)

var trainJobKind = schema.GroupVersionResource{Group: "trainer.kubeflow.org", Version: "v1alpha1", Resource: "trainjobs"}

// sampleJob returns a TrainJob of the lab's runtime for dry runs.
func sampleJob(env ...any) *unstructured.Unstructured {
	trainer := map[string]any{"numNodes": int64(1), "numProcPerNode": "auto"}
	if len(env) > 0 {
		trainer["env"] = env
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob",
		"metadata": map[string]any{"name": "webhook-sample", "namespace": metav1.NamespaceDefault},
		"spec":     map[string]any{"runtimeRef": map[string]any{"name": "torch-distributed"}, "trainer": trainer},
	}}
}

func sendSample(ctx context.Context, client dynamic.Interface, job *unstructured.Unstructured) error {
	_, err := client.Resource(trainJobKind).Namespace(metav1.NamespaceDefault).Create(ctx, job, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	return err
}

// awaitRuntimes waits until Kubeflow Trainer's webhook admits a TrainJob of the new runtime, which
// the webhook reads from its own cache.
func awaitRuntimes(ctx context.Context, client dynamic.Interface) error {
	ctx, cancel := context.WithTimeoutCause(ctx, propagationTimeout, fmt.Errorf("not in effect after %s", propagationTimeout))
	defer cancel()
	return poll.Until(ctx, pollInterval, "the webhook to admit a TrainJob of the lab's runtime", func(ctx context.Context) error {
		return sendSample(ctx, client, sampleJob())
	})
}
