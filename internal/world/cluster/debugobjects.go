package cluster

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/firstlight/firstlight/internal/poll"
)

func logsResource() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "kwok.x-k8s.io", Version: "v1alpha1", Resource: "logs"}
}

func forwardsResource() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "kwok.x-k8s.io", Version: "v1alpha1", Resource: "portforwards"}
}

// logFile has the log paths of a container's current and previous instance; empty: none.
type logFile struct{ container, current, previous string }

// logsOf returns kwok's Logs object of a pod.
func logsOf(name string, pod *corev1.Pod, files ...logFile) *unstructured.Unstructured {
	var logs []any
	for _, f := range files {
		log := map[string]any{"containers": []any{f.container}, "logsFile": f.current, "follow": true}
		if f.previous != "" {
			log["previousLogsFile"] = f.previous
		}
		logs = append(logs, log)
	}
	return debugObject("Logs", name, pod, map[string]any{"logs": logs})
}

// forwardOf returns kwok's PortForward object of a pod; no ports means all.
func forwardOf(name string, pod *corev1.Pod, ports []int32, address string, port int) *unstructured.Unstructured {
	forward := map[string]any{"target": map[string]any{"address": address, "port": int64(port)}}
	if len(ports) > 0 {
		list := make([]any, 0, len(ports))
		for _, p := range ports {
			list = append(list, int64(p))
		}
		forward["ports"] = list
	}
	return debugObject("PortForward", name, pod, map[string]any{"forwards": []any{forward}})
}

// debugObject returns an object that kwok finds by its name (secretNames). The pod owns it.
func debugObject(kind, name string, pod *corev1.Pod, spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "kwok.x-k8s.io/v1alpha1", "kind": kind,
		"metadata": map[string]any{
			"name": name, "namespace": pod.Namespace,
			"ownerReferences": []any{map[string]any{"apiVersion": "v1", "kind": "Pod", "name": pod.Name, "uid": string(pod.UID)}},
		},
		"spec": spec,
	}}
}

// put creates or replaces an object, with retries until ctx ends. It fails at once in a
// terminating namespace.
func put(ctx context.Context, client dynamic.Interface, resource schema.GroupVersionResource, obj *unstructured.Unstructured) error {
	api := client.Resource(resource).Namespace(obj.GetNamespace())
	what := fmt.Sprintf("%s %s/%s to be written", obj.GetKind(), obj.GetNamespace(), obj.GetName())
	return poll.Until(ctx, 100*time.Millisecond, what, func(ctx context.Context) error {
		_, err := api.Create(ctx, obj, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			err = replace(ctx, api, obj)
		}
		if apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) || apierrors.IsInvalid(err) {
			return poll.Stop(err)
		}
		return err
	})
}

func replace(ctx context.Context, api dynamic.ResourceInterface, obj *unstructured.Unstructured) error {
	have, err := api.Get(ctx, obj.GetName(), metav1.GetOptions{})
	if err != nil {
		return err
	}
	next := obj.DeepCopy()
	next.SetResourceVersion(have.GetResourceVersion())
	_, err = api.Update(ctx, next, metav1.UpdateOptions{})
	return err
}

// remove deletes the named object if the pod owns it.
func remove(ctx context.Context, client dynamic.Interface, resource schema.GroupVersionResource, name string, pod *corev1.Pod) error {
	api := client.Resource(resource).Namespace(pod.Namespace)
	have, err := api.Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("get %s of pod %s/%s: %w", resource.Resource, pod.Namespace, pod.Name, err)
	}
	for _, o := range have.GetOwnerReferences() {
		if o.UID != pod.UID {
			return nil // owned by a later pod of the same name
		}
	}
	if err := api.Delete(ctx, name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("remove %s of pod %s/%s: %w", resource.Resource, pod.Namespace, pod.Name, err)
	}
	return nil
}
