package chain_test

import (
	"context"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firstlight/firstlight/internal/poll/polltest"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/suite"
)

// TestAutoscaleWithNoise proves the chain while another team's workload comes
// and goes: its own pending GPU pods, its own NodePool, its own nodes.
func TestAutoscaleWithNoise(t *testing.T) {
	t.Parallel()
	suite.Require(t, suite.All)
	lab := chainLab(t)
	made := makeNoise(t, program.Cluster(t, lab))
	c, r := autoscale(t, lab)
	wholeChain(t, c, r)
	if n := made(); n < 2 {
		t.Errorf("the other workload changed its size %d times: too little noise", n)
	}
}

const noise = "noise"

// makeNoise scales a Deployment of GPU pods up and down until it is asked how
// often it did, and cleans up at the end of the test.
func makeNoise(t *testing.T, cluster *kube.Cluster) (made func() int) {
	t.Helper()
	ctx := t.Context()
	pools := cluster.Dynamic.Resource(schema.GroupVersionResource{Group: "karpenter.sh", Version: "v1", Resource: "nodepools"})
	if _, err := pools.Create(ctx, noisePool(), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: noise}}
	if _, err := cluster.Client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	deployments := cluster.Client.AppsV1().Deployments(noise)
	if _, err := deployments.Create(ctx, noiseDeployment(), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	noisy, quiet := context.WithCancel(ctx)
	var scaling sync.WaitGroup
	times := 0
	scaling.Go(func() {
		tick := time.NewTicker(7 * time.Second)
		defer tick.Stop()
		for size := range cycle(`{"spec":{"replicas":3}}`, `{"spec":{"replicas":1}}`) {
			if _, err := deployments.Patch(noisy, noise, types.MergePatchType, []byte(size), metav1.PatchOptions{}); err == nil {
				times++
			}
			select {
			case <-noisy.Done():
				return
			case <-tick.C:
			}
		}
	})
	stop := sync.OnceFunc(func() { quiet(); scaling.Wait() })
	t.Cleanup(func() {
		stop()
		ctx := context.WithoutCancel(ctx)
		if err := cluster.Client.CoreV1().Namespaces().Delete(ctx, noise, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
		if err := pools.Delete(ctx, noise, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
		polltest.Until(t, "the noise to end", func() bool {
			list, err := pools.List(ctx, metav1.ListOptions{})
			if err != nil || len(list.Items) > 0 {
				return false
			}
			nodes, err := cluster.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: "karpenter.sh/nodepool=" + noise})
			return err == nil && len(nodes.Items) == 0
		})
	})
	return func() int { stop(); return times }
}

// cycle yields its values over and over.
func cycle[T any](values ...T) func(yield func(T) bool) {
	return func(yield func(T) bool) {
		for i := 0; yield(values[i%len(values)]); i++ {
		}
	}
}

func noisePool() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "karpenter.sh/v1", "kind": "NodePool",
		"metadata": map[string]any{"name": noise},
		"spec": map[string]any{
			"limits":     map[string]any{"nvidia.com/gpu": "16"},
			"disruption": map[string]any{"consolidationPolicy": "WhenEmptyOrUnderutilized", "consolidateAfter": "1s"},
			"template": map[string]any{"spec": map[string]any{
				"nodeClassRef": map[string]any{"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"},
				"requirements": []any{map[string]any{
					"key": "node.kubernetes.io/instance-type", "operator": "In", "values": []any{"g5.xlarge", "g5.2xlarge"},
				}},
				"terminationGracePeriod": "30s",
			}},
		},
	}}
}

func noiseDeployment() *appsv1.Deployment {
	labels := map[string]string{"app": noise}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: noise},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					NodeSelector: map[string]string{"karpenter.sh/nodepool": noise},
					Containers: []corev1.Container{{
						Name: noise, Image: "registry.k8s.io/pause:3.10",
						Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{kube.GPUResource: resource.MustParse("1")}},
					}},
				},
			},
		},
	}
}
