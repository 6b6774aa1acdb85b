package gateway_test

import (
	"context"
	"fmt"
	"net"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firstlight/firstlight/internal/lab/component"
	"github.com/firstlight/firstlight/internal/lab/labtest"
	"github.com/firstlight/firstlight/internal/poll/polltest"
	"github.com/firstlight/firstlight/internal/suite"
	"github.com/firstlight/firstlight/internal/world"
)

const port = 18080

// bench is a lab with Gateways.
type bench struct{ lab *labtest.Lab }

func (b bench) api(plural string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "gateway.networking.k8s.io", Version: "v1", Resource: plural}
}

func (b bench) create(t *testing.T, plural, kind, name string, spec map[string]any) {
	t.Helper()
	o := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "gateway.networking.k8s.io/v1", "kind": kind, "metadata": map[string]any{"name": name}, "spec": spec,
	}}
	if _, err := b.lab.Cluster.Dynamic.Resource(b.api(plural)).Namespace("default").Create(t.Context(), o, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func (b bench) gateway(t *testing.T, name, class string) {
	t.Helper()
	b.create(t, "gateways", "Gateway", name, map[string]any{
		"gatewayClassName": class, "listeners": []any{map[string]any{"name": "http", "port": int64(port), "protocol": "HTTP"}},
	})
}

func (b bench) get(t *testing.T, plural, name string) *unstructured.Unstructured {
	t.Helper()
	o, err := b.lab.Cluster.Dynamic.Resource(b.api(plural)).Namespace("default").Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// address waits for a Gateway's address.
func (b bench) address(t *testing.T, name string) (host string) {
	t.Helper()
	polltest.UntilNil(t, "the address of gateway "+name, func() error {
		list, _, err := unstructured.NestedSlice(b.get(t, "gateways", name).Object, "status", "addresses")
		if err != nil || len(list) != 1 {
			return fmt.Errorf("%v %w", list, err)
		}
		one, _ := list[0].(map[string]any)
		host, _, err = unstructured.NestedString(one, "value")
		return err
	})
	return host
}

func (b bench) routes(t *testing.T, gateway string) int64 {
	t.Helper()
	list, _, err := unstructured.NestedSlice(b.get(t, "gateways", gateway).Object, "status", "listeners")
	if err != nil || len(list) != 1 {
		t.Fatalf("%v %v", list, err)
	}
	one, _ := list[0].(map[string]any)
	n, _, err := unstructured.NestedInt64(one, "attachedRoutes")
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func listens(t *testing.T, host string) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", fmt.Sprintf("%s:%d", host, port))
	if err == nil {
		_ = c.Close()
	}
	return err
}

func TestOnALab(t *testing.T) {
	suite.Live(t)
	b := bench{lab: labtest.Start(t, world.DefaultSpec(1), component.ExtraGateway)}
	b.lab.Retire() // its objects remain in the default namespace
	// Another program has the port on all addresses, as the MPI Operator has its health port.
	other, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", fmt.Sprintf(":%d", port))
	if err != nil {
		t.Fatal(err)
	}
	b.gateway(t, "one", "world")
	polltest.UntilNil(t, "the reason of a gateway without a port", func() error {
		list, _, err := unstructured.NestedSlice(b.get(t, "gateways", "one").Object, "status", "conditions")
		for _, c := range list {
			if m, ok := c.(map[string]any); ok && m["type"] == "Programmed" && m["reason"] == "NoResources" {
				return nil
			}
		}
		return fmt.Errorf("%v, %w", list, err)
	})
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	b.gateway(t, "two", "world")
	b.gateway(t, "other", "somebodys")
	b.create(t, "httproutes", "HTTPRoute", "r", map[string]any{
		"parentRefs": []any{map[string]any{"name": "one"}},
		"rules":      []any{map[string]any{"backendRefs": []any{map[string]any{"name": "late", "port": int64(80)}}}},
	})
	one, two := b.address(t, "one"), b.address(t, "two")
	if one == two {
		t.Errorf("two gateways of one port share the address %s", one)
	}
	for _, host := range []string{one, two} {
		if err := listens(t, host); err != nil {
			t.Error(err)
		}
	}
	resolved := func() string { return b.resolved(t) }
	polltest.UntilNil(t, "the route to be judged", func() error {
		if b.routes(t, "one") != 1 || resolved() != "False" {
			return fmt.Errorf("%d routes, %s", b.routes(t, "one"), resolved())
		}
		return nil
	})
	if _, err := b.lab.Cluster.Client.CoreV1().Services("default").Create(t.Context(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "late"}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	before := b.get(t, "gateways", "one").GetResourceVersion()
	polltest.UntilNil(t, "the route to be resolved", func() error {
		if resolved() != "True" {
			return fmt.Errorf("it is %s", resolved())
		}
		return nil
	})
	if after := b.get(t, "gateways", "one").GetResourceVersion(); after != before {
		t.Error("a status that is right was written again")
	}
	if status, found, err := unstructured.NestedSlice(b.get(t, "gateways", "other").Object, "status", "addresses"); found || err != nil {
		t.Errorf("a gateway of another controller has %v, %v", status, err)
	}
	if err := b.lab.Cluster.Dynamic.Resource(b.api("gateways")).Namespace("default").Delete(t.Context(), "two", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	polltest.UntilNil(t, "the listener to close", func() error {
		if err := listens(t, two); err == nil {
			return fmt.Errorf("%s listens", two)
		}
		return nil
	})
}

// resolved returns the status of the route's condition ResolvedRefs.
func (b bench) resolved(t *testing.T) string {
	t.Helper()
	parents, _, err := unstructured.NestedSlice(b.get(t, "httproutes", "r").Object, "status", "parents")
	if err != nil || len(parents) != 1 {
		return ""
	}
	parent, _ := parents[0].(map[string]any)
	list, _, err := unstructured.NestedSlice(parent, "conditions")
	if err != nil {
		return ""
	}
	for _, c := range list {
		if m, ok := c.(map[string]any); ok && m["type"] == "ResolvedRefs" {
			return fmt.Sprint(m["status"])
		}
	}
	return ""
}
