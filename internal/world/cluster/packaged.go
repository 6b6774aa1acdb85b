package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/firstlight/firstlight/internal/world"
)

// packaged are the components that k3s installs in kube-system (github.com/k3s-io/k3s, manifests/ and
// pkg/cloudprovider/servicelb.go). Nothing runs in their pods.
type packaged struct {
	client kubernetes.Interface
	world  *world.World

	mu      sync.Mutex
	created bool
}

// labelPackaged has the name of the component.
const labelPackaged = "firstlight.dev/world-component"

// serviceLB is the DaemonSet of the Service traefik.
const serviceLB = "svclb-traefik"

// deploymentsOfK3s are images by name.
func deploymentsOfK3s() map[string]string {
	return map[string]string{
		"coredns": "rancher/mirrored-coredns-coredns:1.12.3", "local-path-provisioner": "rancher/local-path-provisioner:v0.0.31",
		"metrics-server": "rancher/mirrored-metrics-server:v0.8.0", "traefik": "rancher/mirrored-library-traefik:3.3.6",
	}
}

// sync creates the components of a cluster of k3s, and returns nil when their pods are those of the world.
func (p *packaged) sync(ctx context.Context) error {
	state := p.world.Recent()
	if state.Distribution != world.K3s {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.create(ctx); err != nil {
		return err
	}
	pods, err := p.client.CoreV1().Pods(metav1.NamespaceSystem).List(ctx, metav1.ListOptions{LabelSelector: labelPackaged})
	if err != nil {
		return wrap(err, "list the pods of packaged components")
	}
	var waiting error
	have := map[string]int{}
	for i := range pods.Items {
		pod := &pods.Items[i]
		name := pod.Labels[labelPackaged]
		have[name]++
		held := name == state.K3s.NotReady
		if held != (pod.Annotations[holdAnnotation] == "ready") {
			if err := annotateHold(ctx, p.client, pod, held); err != nil {
				return err
			}
		}
		if isReady(pod) == held {
			waiting = fmt.Errorf("pod %s has Ready %t", pod.Name, !held)
		}
	}
	for name := range deploymentsOfK3s() {
		if have[name] != 1 {
			return fmt.Errorf("component %s has %d pods, not yet 1", name, have[name])
		}
	}
	return errors.Join(waiting, p.statuses(ctx, state.K3s.NotReady))
}

// statuses returns nil when the controllers have written which components are ready.
func (p *packaged) statuses(ctx context.Context, notReady string) error {
	deployments, err := p.client.AppsV1().Deployments(metav1.NamespaceSystem).List(ctx, metav1.ListOptions{LabelSelector: labelPackaged})
	if err != nil {
		return wrap(err, "list packaged components")
	}
	for _, d := range deployments.Items {
		if ready := d.Status.ReadyReplicas == 1; ready == (d.Name == notReady) {
			return fmt.Errorf("component %s has %d ready pods", d.Name, d.Status.ReadyReplicas)
		}
	}
	set, err := p.client.AppsV1().DaemonSets(metav1.NamespaceSystem).Get(ctx, serviceLB, metav1.GetOptions{})
	if err != nil {
		return wrap(err, "get DaemonSet "+serviceLB)
	}
	if s := set.Status; s.DesiredNumberScheduled == 0 || (s.NumberReady == s.DesiredNumberScheduled) == (notReady == serviceLB) {
		return fmt.Errorf("DaemonSet %s has %d ready pods of %d", serviceLB, s.NumberReady, s.DesiredNumberScheduled)
	}
	return nil
}

// create creates missing objects once.
func (p *packaged) create(ctx context.Context) error {
	if p.created {
		return nil
	}
	for name, image := range deploymentsOfK3s() {
		template := podOf(name, image)
		deployment := &appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: metav1.NamespaceSystem, Labels: template.Labels, Annotations: map[string]string{
				"objectset.rio.cattle.io/owner-gvk": "k3s.cattle.io/v1, Kind=Addon", "objectset.rio.cattle.io/owner-namespace": metav1.NamespaceSystem,
			}},
			Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: template.Labels}, Template: template},
		}
		if _, err := p.client.AppsV1().Deployments(metav1.NamespaceSystem).Create(ctx, deployment, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			return wrap(err, "create component "+name)
		}
	}
	template := podOf(serviceLB, "rancher/klipper-lb:v0.4.13")
	// GPU nodes are tainted, and ServiceLB does not tolerate that.
	template.Spec.Tolerations = []corev1.Toleration{
		{Key: "node-role.kubernetes.io/control-plane", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule},
		{Key: "CriticalAddonsOnly", Operator: corev1.TolerationOpExists},
	}
	set := &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Name: serviceLB, Namespace: metav1.NamespaceSystem, Labels: map[string]string{
			"svccontroller.k3s.cattle.io/nodeselector": "false", "svccontroller.k3s.cattle.io/svcname": strings.TrimPrefix(serviceLB, "svclb-"), "svccontroller.k3s.cattle.io/svcnamespace": metav1.NamespaceSystem,
		}},
		Spec: appsv1.DaemonSetSpec{Selector: &metav1.LabelSelector{MatchLabels: template.Labels}, Template: template},
	}
	if _, err := p.client.AppsV1().DaemonSets(metav1.NamespaceSystem).Create(ctx, set, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return wrap(err, "create component "+serviceLB)
	}
	p.created = true
	return nil
}

func podOf(name, image string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{labelPackaged: name}},
		Spec: corev1.PodSpec{
			PriorityClassName: "system-cluster-critical", AutomountServiceAccountToken: new(false), TerminationGracePeriodSeconds: new(int64),
			Containers: []corev1.Container{{Name: name, Image: image}},
		},
	}
}
