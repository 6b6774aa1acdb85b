package inference

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// startServers creates the servers and their Services. The function that it returns waits for
// them, and records the answer of each.
func (t *trial) startServers(ctx context.Context, where placement) (func(context.Context) ([]server, error), error) {
	program := "vllm serve " + t.figures.Model
	if where.Scripts {
		program = "a script that reports the model that it would serve"
	}
	attempt := t.rec.Begin(kindServers, "cluster", fmt.Sprintf("create Pods and Services %v (%s); read the pods until they are ready and, through a port forward to each, GET %s", serverNames(), program, modelsPath))
	if template := t.claimTemplate(where); template != nil {
		if _, err := t.cluster.DRA().ResourceClaimTemplates(t.namespace).Create(ctx, template, metav1.CreateOptions{}); err != nil {
			return nil, errors.Join(attempt.Record(nil, fmt.Errorf("create resource claim template %s: %w", template.Name, err)), ctx.Err())
		}
	}
	for _, name := range serverNames() {
		if _, err := t.cluster.Client.CoreV1().Services(t.namespace).Create(ctx, t.service(name), metav1.CreateOptions{}); err != nil {
			return nil, errors.Join(attempt.Record(nil, fmt.Errorf("create service %s: %w", name, err)), ctx.Err())
		}
		pod, err := t.patchedPod(name, where)
		if err != nil {
			return nil, errors.Join(attempt.Record(nil, err), ctx.Err())
		}
		if _, err := t.cluster.Client.CoreV1().Pods(t.namespace).Create(ctx, pod, metav1.CreateOptions{}); err != nil {
			return nil, errors.Join(attempt.Record(nil, fmt.Errorf("create pod %s: %w", name, err)), ctx.Err())
		}
	}
	return func(ctx context.Context) ([]server, error) {
		var all []server
		for _, name := range serverNames() {
			s, err := await(ctx, t.deps.Timeout, func(ctx context.Context) (server, error) { return t.readServer(ctx, name) },
				func(s server) bool {
					return s.up() || s.State == string(corev1.PodFailed) || s.State == string(corev1.PodSucceeded)
				})
			if err != nil {
				return nil, errors.Join(attempt.Record(nil, err), ctx.Err())
			}
			all = append(all, s)
		}
		return all, attempt.Record(all, nil)
	}, nil
}

func (t *trial) readServer(ctx context.Context, name string) (server, error) {
	pod, err := t.cluster.Client.CoreV1().Pods(t.namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return server{}, fmt.Errorf("read pod %s/%s: %w", t.namespace, name, err)
	}
	s := server{Pod: t.namespace + "/" + name, UID: string(pod.UID), Node: pod.Spec.NodeName, State: string(pod.Status.Phase), Serves: served(name)}
	for _, c := range pod.Status.Conditions {
		switch {
		case c.Type == corev1.PodReady:
			s.Ready = c.Status == corev1.ConditionTrue
		case c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse:
			s.State += ": " + c.Message
		}
	}
	for _, c := range pod.Status.ContainerStatuses {
		if w := c.State.Waiting; w != nil {
			s.State += ": " + w.Reason + " " + w.Message
		}
	}
	if !s.Ready {
		return s, nil
	}
	addr, stop, err := t.cluster.Forward(ctx, t.namespace, name, serverPort)
	if err != nil {
		s.Direct.Err = err.Error()
		return s, nil
	}
	defer stop()
	client := newClient()
	defer client.CloseIdleConnections()
	s.Direct = t.get(ctx, client, "http://"+addr+modelsPath, nil)
	return s, nil
}

// startGateway creates the Gateway and waits until it is programmed with an address (up).
func (t *trial) startGateway(ctx context.Context) (up bool, gw gateway, err error) {
	attempt := t.rec.Begin(kindGateway, "cluster", fmt.Sprintf("create Gateway %s of class %s; read it until it is Accepted and Programmed with an address", gatewayName, t.class.Name))
	api := t.cluster.Dynamic.Resource(resourceOf("gateways")).Namespace(t.namespace)
	if _, err := api.Create(ctx, t.gateway(t.class.Name), metav1.CreateOptions{}); err != nil {
		return false, gw, errors.Join(attempt.Record(nil, fmt.Errorf("create gateway: %w", err)), ctx.Err())
	}
	gw, failed := await(ctx, t.deps.Timeout, func(ctx context.Context) (gateway, error) {
		o, err := api.Get(ctx, gatewayName, metav1.GetOptions{})
		if err != nil {
			return gateway{}, fmt.Errorf("read gateway %s/%s: %w", t.namespace, gatewayName, err)
		}
		return gatewayOf(o)
	}, func(g gateway) bool { return g.problem() == "" || g.terminal(t.figures.Terminal) })
	if err := attempt.Record(gw, failed); err != nil {
		return false, gw, err
	}
	return failed == nil && gw.problem() == "", gw, ctx.Err()
}

// startRoutes creates the routes and waits for the status of the class's controller.
func (t *trial) startRoutes(ctx context.Context) error {
	api := t.cluster.Dynamic.Resource(resourceOf("httproutes")).Namespace(t.namespace)
	for _, object := range t.routes() {
		name := object.GetName()
		attempt := t.rec.Begin(kindRoute, name, fmt.Sprintf("create HTTPRoute %s; read it until %s sets its status", name, t.class.Controller))
		if _, err := api.Create(ctx, object, metav1.CreateOptions{}); err != nil {
			if err := errors.Join(attempt.Record(nil, fmt.Errorf("create http route %s: %w", name, err)), ctx.Err()); err != nil {
				return err
			}
			continue
		}
		status, failed := await(ctx, t.deps.Timeout, func(ctx context.Context) (route, error) {
			o, err := api.Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return route{}, fmt.Errorf("read http route %s/%s: %w", t.namespace, name, err)
			}
			return routeOf(o, t.class.Controller)
		}, func(r route) bool { return r.problem(name == routeSplit) == "" })
		if err := errors.Join(attempt.Record(status, failed), ctx.Err()); err != nil {
			return err
		}
	}
	return nil
}

func hostPort(host string, port int32) string { return net.JoinHostPort(host, strconv.Itoa(int(port))) }

// newClient sends requests only to the given address: it uses no proxy and follows no
// redirects.
func newClient() *http.Client {
	return &http.Client{
		Transport:     &http.Transport{MaxIdleConnsPerHost: 2},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
