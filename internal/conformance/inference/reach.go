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

// reachWithin bounds how long the gateway's own addresses are tried: a load balancer's
// name takes a minute or two until it is known.
const reachWithin = 2 * time.Minute

// reach finds a base URL that answers anything at all; empty when there is none. leave
// ends the way, and may always be called.
func (t *trying) reach(ctx context.Context, client *http.Client, gw gateway) (base string, leave func(), found way) {
	tried := map[string]string{}
	base, err := await(ctx, min(reachWithin, t.deps.Patience), func(ctx context.Context) (string, error) {
		for _, host := range gw.Addresses {
			at := "http://" + hostPort(host, gw.Port)
			if why := t.silent(ctx, client, at); why != "" {
				tried[at] = why
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

// silent is why nothing answers; empty when something does, whatever it says.
func (t *trying) silent(ctx context.Context, client *http.Client, base string) string {
	if a := t.get(ctx, client, base+noRoutePath, nil); a.Status == 0 {
		return a.Err
	}
	return ""
}

// forward tries the pods that the implementations label as the gateway's.
func (t *trying) forward(ctx context.Context, client *http.Client, gw gateway, found way) (base string, leave func(), seen way) {
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
			addr, stop, err := t.cluster.Forward(ctx, p.namespace, p.name, p.port)
			if err != nil {
				found.Tried = append(found.Tried, to+": "+err.Error())
				continue
			}
			if why := t.silent(ctx, client, "http://"+addr); why != "" {
				stop()
				found.Tried = append(found.Tried, to+": "+why)
				continue
			}
			found.Through = to
			return "http://" + addr, stop, found
		}
	}
	return "", func() {}, found
}

func orNone(err error) string {
	if err == nil {
		return "there are none that run"
	}
	return err.Error()
}

// target is a pod's port.
type target struct {
	namespace, name string
	port            int
}

// dataPlane are the running pods of a selector, with the port of theirs to which the
// Service of the same labels leads from the listener's; that port itself without one.
func (t *trying) dataPlane(ctx context.Context, namespace, selector string, port int32) ([]target, error) {
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
