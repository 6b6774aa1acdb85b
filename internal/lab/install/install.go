// Package install creates on a lab the workloads that installing a recipe's components creates on
// a cluster, each with the replicas, requests, selectors and tolerations of its footprint, in its
// own namespace. The controllers, the scheduler and kwok process them like any workload.
//
// Existing objects are kept: the world's GPU Operator and the lab's own programs have real ones.
package install

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/firstlight/firstlight/internal/recipe/footprint"
)

const (
	// Label has the component as its value.
	Label = "firstlight.dev/lab-component"
	// workloadLabel is the pod selector of a workload.
	workloadLabel = "firstlight.dev/lab-workload"
	image         = "registry.k8s.io/pause:3.10"
	// completes makes the lab end a pod with success.
	completes = "firstlight.dev/world-completes"
)

// Apply creates missing objects of the components in order. The error has everything that failed.
func Apply(ctx context.Context, client kubernetes.Interface, components []footprint.Component) error {
	var problems []error
	spaces := map[string]bool{}
	for _, c := range components {
		for _, w := range c.Workloads {
			if !spaces[w.Namespace] {
				spaces[w.Namespace] = true
				problems = append(problems, namespace(ctx, client, w.Namespace))
			}
			if err := create(ctx, client, c.Name, w); err != nil && !apierrors.IsAlreadyExists(err) {
				problems = append(problems, fmt.Errorf("install %s %s/%s of %s: %w", w.Kind, w.Namespace, w.Name, c.Name, err))
			}
		}
	}
	return errors.Join(problems...)
}

func namespace(ctx context.Context, client kubernetes.Interface, name string) error {
	_, err := client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create namespace %s: %w", name, err)
	}
	return nil
}

func create(ctx context.Context, client kubernetes.Interface, component string, w footprint.Workload) error {
	meta := metav1.ObjectMeta{Name: w.Name, Namespace: w.Namespace, Labels: map[string]string{Label: component, workloadLabel: w.Name}}
	pods := template(component, w)
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{workloadLabel: w.Name}}
	var err error
	switch w.Kind {
	case "Deployment":
		_, err = client.AppsV1().Deployments(w.Namespace).Create(ctx, &appsv1.Deployment{
			ObjectMeta: meta, Spec: appsv1.DeploymentSpec{Replicas: new(w.Replicas), Selector: selector, Template: pods},
		}, metav1.CreateOptions{})
	case "StatefulSet":
		_, err = client.AppsV1().StatefulSets(w.Namespace).Create(ctx, &appsv1.StatefulSet{
			ObjectMeta: meta, Spec: appsv1.StatefulSetSpec{Replicas: new(w.Replicas), Selector: selector, ServiceName: w.Name, Template: pods},
		}, metav1.CreateOptions{})
	case "DaemonSet":
		_, err = client.AppsV1().DaemonSets(w.Namespace).Create(ctx, &appsv1.DaemonSet{
			ObjectMeta: meta, Spec: appsv1.DaemonSetSpec{Selector: selector, Template: pods},
		}, metav1.CreateOptions{})
	case "Job":
		pods.Spec.RestartPolicy = corev1.RestartPolicyNever
		pods.Annotations = map[string]string{completes: "true"}
		_, err = client.BatchV1().Jobs(w.Namespace).Create(ctx, &batchv1.Job{
			ObjectMeta: meta, Spec: batchv1.JobSpec{Completions: new(w.Replicas), Parallelism: new(w.Replicas), Template: pods},
		}, metav1.CreateOptions{})
	default:
		return fmt.Errorf("unsupported kind %s", w.Kind)
	}
	return err
}

// template returns the workload's pod template without priority class and scheduler name, which
// belong to components that do not run.
func template(component string, w footprint.Workload) corev1.PodTemplateSpec {
	p := w.Pod
	labels := maps.Clone(p.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[Label], labels[workloadLabel] = component, w.Name
	limits := corev1.ResourceList{}
	for name, q := range p.Requests {
		if name != corev1.ResourceCPU && name != corev1.ResourceMemory && name != corev1.ResourceEphemeralStorage {
			limits[name] = q
		}
	}
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: labels},
		Spec: corev1.PodSpec{
			NodeSelector: maps.Clone(p.NodeSelector), Affinity: p.Affinity.DeepCopy(), Tolerations: slices.Clone(p.Tolerations),
			TopologySpreadConstraints: slices.Clone(p.TopologySpreadConstraints), HostNetwork: p.HostNetwork,
			Containers: []corev1.Container{{
				Name: "main", Image: image,
				Resources: corev1.ResourceRequirements{Requests: p.Requests.DeepCopy(), Limits: limits},
			}},
		},
	}
}
