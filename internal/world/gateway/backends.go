package gateway

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/tools/cache"
)

// Reasons for a missing backend.
var (
	errNoService = errors.New("unknown service or port")
	errNotReady  = errors.New("service has no ready endpoint")
)

// backends resolves Services to the real addresses of their pods, which the pods' PortForward
// objects have. These are found by owner, because their names differ from the pods'.
type backends struct {
	services, pods, forwards cache.Store
}

// port returns a Service's port by number.
func (b *backends) port(namespace, service string, number int32) (*corev1.Service, corev1.ServicePort, error) {
	obj, ok, err := b.services.GetByKey(namespace + "/" + service)
	svc, is := obj.(*corev1.Service)
	if err != nil || !ok || !is {
		return nil, corev1.ServicePort{}, fmt.Errorf("service %s/%s: %w", namespace, service, errNoService)
	}
	i := slices.IndexFunc(svc.Spec.Ports, func(p corev1.ServicePort) bool { return p.Port == number })
	if i < 0 {
		return nil, corev1.ServicePort{}, fmt.Errorf("service %s/%s port %d: %w", namespace, service, number, errNoService)
	}
	return svc, svc.Spec.Ports[i], nil
}

// find returns the addresses (host:port) of a Service's ready pods in name order.
func (b *backends) find(namespace, service string, number int32) ([]string, error) {
	svc, port, err := b.port(namespace, service, number)
	if err != nil {
		return nil, err
	}
	var ready []*corev1.Pod
	for _, obj := range b.pods.List() {
		pod, ok := obj.(*corev1.Pod)
		if ok && pod.Namespace == namespace && len(svc.Spec.Selector) > 0 && isReady(pod) &&
			labels.SelectorFromSet(svc.Spec.Selector).Matches(labels.Set(pod.Labels)) {
			ready = append(ready, pod)
		}
	}
	slices.SortFunc(ready, func(a, b *corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
	var out []string
	for _, pod := range ready {
		if address := b.address(pod, port); address != "" {
			out = append(out, address)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("service %s/%s: %w", namespace, service, errNotReady)
	}
	return out, nil
}

// address returns the real address of a pod's port; empty if none.
func (b *backends) address(pod *corev1.Pod, port corev1.ServicePort) string {
	target, ok := targetOf(pod, port)
	forward := b.forward(pod)
	if !ok || forward == nil {
		return ""
	}
	list, _, err := unstructured.NestedSlice(forward.Object, "spec", "forwards")
	if err != nil {
		return ""
	}
	for _, item := range list {
		one, ok := item.(map[string]any)
		if !ok || !leads(one, target) {
			continue
		}
		host, _, err := unstructured.NestedString(one, "target", "address")
		number, _, numberErr := unstructured.NestedInt64(one, "target", "port")
		if err == nil && numberErr == nil && host != "" && number > 0 {
			return net.JoinHostPort(host, strconv.FormatInt(number, 10))
		}
	}
	return ""
}

// forward returns the PortForward object of a pod, or nil.
func (b *backends) forward(pod *corev1.Pod) *unstructured.Unstructured {
	for _, obj := range b.forwards.List() {
		if forward, ok := obj.(*unstructured.Unstructured); ok && ownedBy(forward, pod) {
			return forward
		}
	}
	return nil
}

// leads reports whether a forward is for the port; a forward without ports is for all.
func leads(forward map[string]any, port int32) bool {
	ports, found, err := unstructured.NestedSlice(forward, "ports")
	return err == nil && (!found || slices.Contains(ports, any(int64(port))))
}

func ownedBy(o *unstructured.Unstructured, pod *corev1.Pod) bool {
	for _, ref := range o.GetOwnerReferences() {
		if ref.UID == pod.UID {
			return true
		}
	}
	return false
}

// targetOf returns the pod port of a Service port.
func targetOf(pod *corev1.Pod, port corev1.ServicePort) (int32, bool) {
	switch {
	case port.TargetPort.Type == intstr.Int && port.TargetPort.IntVal == 0:
		return port.Port, true
	case port.TargetPort.Type == intstr.Int:
		return port.TargetPort.IntVal, true
	}
	for _, c := range pod.Spec.Containers {
		for _, p := range c.Ports {
			if p.Name == port.TargetPort.StrVal {
				return p.ContainerPort, true
			}
		}
	}
	return 0, false
}

func isReady(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp == nil && slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}
