package cluster

import (
	"context"
	"fmt"
	"strconv"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/firstlight/firstlight/internal/poll"
	"github.com/firstlight/firstlight/internal/world"
)

// The lab's RayCluster.
const (
	rayNamespace = "ray"
	rayName      = "ray"
	rayGroup     = "gpu"
	rayImage     = "rayproject/ray:2.52.0-gpu"
)

// rayCluster is the lab's RayCluster, which a worker on each GPU node gives all its GPUs. KubeRay creates its pods.
type rayCluster struct {
	client kubernetes.Interface
	dyn    dynamic.Interface
	world  *world.World

	mu      sync.Mutex
	started bool
}

// StartRay creates the RayCluster, whose operator must run, and returns when it is ready.
func (c *Cluster) StartRay(ctx context.Context) error {
	c.rays.mu.Lock()
	c.rays.started = true
	c.rays.mu.Unlock()
	return poll.Until(ctx, settleInterval, "the RayCluster", c.rays.sync)
}

func (r *rayCluster) resource() dynamic.ResourceInterface {
	return r.dyn.Resource(schema.GroupVersionResource{Group: "ray.io", Version: "v1", Resource: "rayclusters"}).Namespace(rayNamespace)
}

// sync makes the RayCluster and its pods those of the world; nil when they are. Without the extra it does nothing.
func (r *rayCluster) sync(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.started {
		return nil
	}
	state := r.world.Recent()
	replicas := len(state.GPUNodes())
	if state.Ray.GroupShort {
		replicas--
	}
	have, err := r.resource().Get(ctx, rayName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		have, err = r.resource().Create(ctx, r.object(state, replicas), metav1.CreateOptions{})
	}
	if err != nil {
		return wrap(err, "create the RayCluster")
	}
	if err := r.scale(ctx, have, replicas); err != nil {
		return err
	}
	pods, err := r.client.CoreV1().Pods(rayNamespace).List(ctx, metav1.ListOptions{LabelSelector: labelRay + "=" + rayName})
	if err != nil {
		return wrap(err, "list the pods of the RayCluster")
	}
	if err := r.replaceHead(ctx, state, pods.Items); err != nil {
		return err
	}
	ready, err := r.hold(ctx, state, pods.Items)
	if err != nil || state.Ray.OperatorDown { // its status remains
		return err
	}
	if want := replicas + 1; len(pods.Items) != want {
		return fmt.Errorf("the RayCluster has %d pods, not yet %d", len(pods.Items), want)
	}
	return rayStatus(have, ready)
}

// rayStatus returns nil when KubeRay has written how many workers are ready.
func rayStatus(have *unstructured.Unstructured, ready int) error {
	got, _, _ := unstructured.NestedInt64(have.Object, "status", "readyWorkerReplicas")
	observed, _, _ := unstructured.NestedInt64(have.Object, "status", "observedGeneration")
	if int(got) != ready || observed != have.GetGeneration() {
		return fmt.Errorf("the RayCluster has %d ready workers at generation %d, not yet %d at %d", got, observed, ready, have.GetGeneration())
	}
	return nil
}

// scale sets the replicas of the worker group.
func (r *rayCluster) scale(ctx context.Context, have *unstructured.Unstructured, replicas int) error {
	groups, _, _ := unstructured.NestedSlice(have.Object, "spec", "workerGroupSpecs")
	if len(groups) > 0 {
		if group, ok := groups[0].(map[string]any); ok && group["replicas"] == int64(replicas) {
			return nil
		}
	}
	patch := fmt.Sprintf(`[{"op":"replace","path":"/spec/workerGroupSpecs/0/replicas","value":%[1]d},{"op":"replace","path":"/spec/workerGroupSpecs/0/minReplicas","value":%[1]d},{"op":"replace","path":"/spec/workerGroupSpecs/0/maxReplicas","value":%[1]d}]`, replicas)
	if _, err := r.resource().Patch(ctx, rayName, types.JSONPatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		return wrap(err, "scale the RayCluster")
	}
	return fmt.Errorf("the RayCluster was scaled to %d workers", replicas)
}

// hold makes workers unready where their raylet does not start, and returns the number of ready workers once
// every pod is as it must be.
func (r *rayCluster) hold(ctx context.Context, state world.State, pods []corev1.Pod) (ready int, err error) {
	var waiting error
	for i := range pods {
		pod := &pods[i]
		host, _ := state.Node(pod.Spec.NodeName)
		head := pod.Labels[labelRayType] == rayHead
		held := host.RayNotReady && !head
		if !head && held != (pod.Annotations[holdAnnotation] == "ready") {
			if err := annotateHold(ctx, r.client, pod, held); err != nil {
				return 0, err
			}
		}
		unready := held || head && state.Ray.HeadRestarting
		if isReady(pod) == unready {
			waiting = fmt.Errorf("pod %s of the RayCluster has Ready %t", pod.Name, isReady(pod))
		}
		if !head && !unready {
			ready++
		}
	}
	return ready, waiting
}

// replaceHead deletes the head's pod if its container has restarted and the fault is over: KubeRay creates another one.
func (r *rayCluster) replaceHead(ctx context.Context, state world.State, pods []corev1.Pod) error {
	if state.Ray.HeadRestarting || state.Ray.OperatorDown {
		return nil
	}
	for i := range pods {
		statuses := pods[i].Status.ContainerStatuses
		if pods[i].Labels[labelRayType] != rayHead || len(statuses) == 0 || statuses[0].RestartCount == 0 {
			continue
		}
		if pods[i].DeletionTimestamp == nil {
			err := r.client.CoreV1().Pods(rayNamespace).Delete(ctx, pods[i].Name, metav1.DeleteOptions{})
			if err != nil && !apierrors.IsNotFound(err) {
				return wrap(err, "delete the head that restarted")
			}
		}
		return fmt.Errorf("the head %s of the RayCluster, which has restarted, is being replaced", pods[i].Name)
	}
	return nil
}

func isReady(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// object is the RayCluster. Its head is on a system node, if there is one, and offers no CPUs and GPUs.
func (r *rayCluster) object(state world.State, replicas int) *unstructured.Unstructured {
	gpus := "0"
	if nodes := state.GPUNodes(); len(nodes) > 0 {
		gpus = strconv.Itoa(len(nodes[0].GPUs))
	}
	container := func(name, port string, number int64, limits map[string]any) map[string]any {
		return map[string]any{
			"name": name, "image": rayImage, "resources": map[string]any{"limits": limits, "requests": limits},
			"ports": []any{map[string]any{"name": port, "containerPort": number}},
		}
	}
	tolerations := []any{map[string]any{"key": string(gpuResource), "operator": "Exists", "effect": "NoSchedule"}}
	dashboard := container("ray-head", "dashboard", rayDashboard, map[string]any{"cpu": "2", "memory": "8Gi"})
	dashboard["ports"] = []any{
		map[string]any{"name": "gcs-server", "containerPort": int64(rayGCS)}, map[string]any{"name": "dashboard", "containerPort": int64(rayDashboard)},
		map[string]any{"name": "client", "containerPort": int64(rayClient)},
	}
	head := map[string]any{"containers": []any{dashboard}, "tolerations": tolerations}
	for _, n := range state.Nodes {
		if n.System {
			head["nodeSelector"] = map[string]any{corev1.LabelHostname: n.Name}
			break
		}
	}
	worker := container("ray-worker", "client", rayClient, map[string]any{"cpu": "8", "memory": "32Gi", string(gpuResource): gpus})
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": map[string]any{"name": rayName, "namespace": rayNamespace},
		"spec": map[string]any{
			"rayVersion":    "2.52.0",
			"headGroupSpec": map[string]any{"rayStartParams": map[string]any{"num-cpus": "0"}, "template": map[string]any{"spec": head}},
			"workerGroupSpecs": []any{map[string]any{
				"groupName": rayGroup, "replicas": int64(replicas), "minReplicas": int64(replicas), "maxReplicas": int64(replicas), "rayStartParams": map[string]any{},
				"template": map[string]any{"spec": map[string]any{"containers": []any{worker}, "tolerations": tolerations}},
			}},
		},
	}}
}

// Ports of a Ray head.
const (
	rayGCS       = 6379
	rayDashboard = 8265
	rayClient    = 10001
)
