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

// startServers creates the servers and their Services. What it returns waits for
// them, and records what each answers.
func (t *trying) startServers(ctx context.Context, where room) (func(context.Context) ([]server, error), error) {
	what := "vllm serve " + t.figures.Model
	if where.StandIns {
		what = "a script that says which model it would serve"
	}
	n := t.rec.Begin(kindServers, "cluster", fmt.Sprintf("create Pods and Services %v (%s); read the pods until they are ready and, through a port forward to each, GET %s", serverNames(), what, modelsPath))
	for _, name := range serverNames() {
		if _, err := t.cluster.Client.CoreV1().Services(t.namespace).Create(ctx, t.service(name), metav1.CreateOptions{}); err != nil {
			return nil, errors.Join(n.Keep(nil, fmt.Errorf("create service %s: %w", name, err)), ctx.Err())
		}
		if _, err := t.cluster.Client.CoreV1().Pods(t.namespace).Create(ctx, t.pod(name, where), metav1.CreateOptions{}); err != nil {
			return nil, errors.Join(n.Keep(nil, fmt.Errorf("create pod %s: %w", name, err)), ctx.Err())
		}
	}
	return func(ctx context.Context) ([]server, error) {
		var all []server
		for _, name := range serverNames() {
			s, err := await(ctx, t.deps.Patience, func(ctx context.Context) (server, error) { return t.lookServer(ctx, name) },
				func(s server) bool {
					return s.up() || s.State == string(corev1.PodFailed) || s.State == string(corev1.PodSucceeded)
				})
			if err != nil {
				return nil, errors.Join(n.Keep(nil, err), ctx.Err())
			}
			all = append(all, s)
		}
		return all, n.Keep(all, nil)
	}, nil
}

func (t *trying) lookServer(ctx context.Context, name string) (server, error) {
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

// startGateway creates the Gateway and waits for it. up says that it has an address.
func (t *trying) startGateway(ctx context.Context) (up bool, seen gateway, err error) {
	n := t.rec.Begin(kindGateway, "cluster", fmt.Sprintf("create Gateway %s of class %s; read it until it is Accepted and Programmed with an address", gatewayName, t.class.Name))
	api := t.cluster.Dynamic.Resource(resourceOf("gateways")).Namespace(t.namespace)
	if _, err := api.Create(ctx, t.gateway(t.class.Name), metav1.CreateOptions{}); err != nil {
		return false, seen, errors.Join(n.Keep(nil, fmt.Errorf("create gateway: %w", err)), ctx.Err())
	}
	seen, unseen := await(ctx, t.deps.Patience, func(ctx context.Context) (gateway, error) {
		o, err := api.Get(ctx, gatewayName, metav1.GetOptions{})
		if err != nil {
			return gateway{}, fmt.Errorf("read gateway %s/%s: %w", t.namespace, gatewayName, err)
		}
		return gatewayOf(o)
	}, func(g gateway) bool { return g.wrong() == "" || g.never(t.figures.Terminal) })
	if err := n.Keep(seen, unseen); err != nil {
		return false, seen, err
	}
	return unseen == nil && seen.wrong() == "", seen, ctx.Err()
}

// startRoutes creates the routes and waits for what the class's controller says of them.
func (t *trying) startRoutes(ctx context.Context) error {
	api := t.cluster.Dynamic.Resource(resourceOf("httproutes")).Namespace(t.namespace)
	for _, made := range t.routes() {
		name := made.GetName()
		n := t.rec.Begin(kindRoute, name, fmt.Sprintf("create HTTPRoute %s; read it until %s says what it makes of it", name, t.class.Controller))
		if _, err := api.Create(ctx, made, metav1.CreateOptions{}); err != nil {
			if err := errors.Join(n.Keep(nil, fmt.Errorf("create http route %s: %w", name, err)), ctx.Err()); err != nil {
				return err
			}
			continue
		}
		seen, unseen := await(ctx, t.deps.Patience, func(ctx context.Context) (route, error) {
			o, err := api.Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return route{}, fmt.Errorf("read http route %s/%s: %w", t.namespace, name, err)
			}
			return routeOf(o, t.class.Controller)
		}, func(r route) bool { return r.wrong(name == routeSplit) == "" })
		if err := errors.Join(n.Keep(seen, unseen), ctx.Err()); err != nil {
			return err
		}
	}
	return nil
}

func hostPort(host string, port int32) string { return net.JoinHostPort(host, strconv.Itoa(int(port))) }

// newClient asks nobody else than the address that it is given, and follows nothing.
func newClient() *http.Client {
	return &http.Client{
		Transport:     &http.Transport{MaxIdleConnsPerHost: 2},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
