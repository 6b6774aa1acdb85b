package inference

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// addressTimeout limits how long the gateway's addresses are tried: the name of a load balancer
// takes a minute or two to resolve.
const addressTimeout = 2 * time.Minute

// reach finds a base URL that returns any answer; empty if none does. stop ends a
// port-forward, and may always be called.
func (t *trial) reach(ctx context.Context, client *http.Client, gw gateway) (base string, stop func(), found gatewayPath) {
	tried := map[string]string{}
	base, err := await(ctx, min(addressTimeout, t.deps.Timeout), func(ctx context.Context) (string, error) {
		for _, host := range gw.Addresses {
			at := "http://" + hostPort(host, gw.Port)
			if reason := t.unreachable(ctx, client, at); reason != "" {
				tried[at] = reason
				continue
			}
			return at, nil
		}
		return "", nil
	}, func(base string) bool { return base != "" })
	for _, host := range gw.Addresses {
		if at := "http://" + hostPort(host, gw.Port); tried[at] != "" && at != base {
			found.Tried = append(found.Tried, at+": "+tried[at])
		}
	}
	if err == nil && base != "" {
		found.Through = base
		return base, func() {}, found
	}
	return t.forward(ctx, client, gw, found)
}

// unreachable is why there is no answer; empty when there is any.
func (t *trial) unreachable(ctx context.Context, client *http.Client, base string) string {
	if a := t.get(ctx, client, base+noRoutePath, nil); a.Status == 0 {
		return a.Err
	}
	return ""
}

// forward tries the pods with a known label of the gateway's data plane.
func (t *trial) forward(ctx context.Context, client *http.Client, gw gateway, found gatewayPath) (base string, stop func(), path gatewayPath) {
	for _, plane := range t.figures.DataPlanes {
		selector, namespace := plane.selector(t.namespace, gatewayName), t.namespace
		if plane.Everywhere {
			namespace = metav1.NamespaceAll
		}
		pods, err := t.dataPlane(ctx, namespace, selector, gw.Port)
		if err != nil || len(pods) == 0 {
			found.Tried = append(found.Tried, fmt.Sprintf("pods %s: %s", selector, orNone(err)))
			continue
		}
		for _, p := range pods {
			to := fmt.Sprintf("port-forward to pod %s/%s port %d", p.namespace, p.name, p.port)
			addr, end, err := t.cluster.Forward(ctx, p.namespace, p.name, p.port)
			if err != nil {
				found.Tried = append(found.Tried, to+": "+err.Error())
				continue
			}
			if reason := t.unreachable(ctx, client, "http://"+addr); reason != "" {
				end()
				found.Tried = append(found.Tried, to+": "+reason)
				continue
			}
			found.Through = to
			return "http://" + addr, end, found
		}
	}
	return "", func() {}, found
}

func orNone(err error) string {
	if err == nil {
		return "no running pods found"
	}
	return err.Error()
}

type target struct {
	namespace, name string
	port            int
}

// dataPlane lists the running pods of a selector, with the target port for the listener's port
// of the Service with the same labels; without one, the listener's port.
func (t *trial) dataPlane(ctx context.Context, namespace, selector string, port int32) ([]target, error) {
	pods, err := t.cluster.Client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		return nil, fmt.Errorf("list pods: %w", err)
	}
	services, err := t.cluster.Client.CoreV1().Services(namespace).List(ctx, metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		return nil, fmt.Errorf("list services: %w", err)
	}
	var out []target
	for i := range pods.Items {
		if p := &pods.Items[i]; p.Status.Phase == corev1.PodRunning {
			out = append(out, target{namespace: p.Namespace, name: p.Name, port: targetPort(p, services.Items, port)})
		}
	}
	return out, nil
}

func targetPort(pod *corev1.Pod, services []corev1.Service, port int32) int {
	for _, s := range services {
		i := slices.IndexFunc(s.Spec.Ports, func(p corev1.ServicePort) bool { return p.Port == port })
		if i < 0 || s.Namespace != pod.Namespace {
			continue
		}
		to := s.Spec.Ports[i].TargetPort
		if to.Type == intstr.Int && to.IntVal > 0 {
			return int(to.IntVal)
		}
		for _, c := range pod.Spec.Containers {
			for _, p := range c.Ports {
				if to.Type == intstr.String && p.Name == to.StrVal {
					return int(p.ContainerPort)
				}
			}
		}
	}
	return int(port)
}
