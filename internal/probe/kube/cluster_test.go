package kube

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
)

func gpus(n string) corev1.ResourceList {
	return corev1.ResourceList{GPUResource: resource.MustParse(n)}
}

func node(name, count string, ready bool, change func(*corev1.Node)) *corev1.Node {
	status := corev1.ConditionFalse
	if ready {
		status = corev1.ConditionTrue
	}
	n := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Status:     corev1.NodeStatus{Allocatable: gpus(count), Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: status}}},
	}
	if change != nil {
		change(n)
	}
	return n
}

func holding(name, on, count string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "team"},
		Spec: corev1.PodSpec{NodeName: on, Containers: []corev1.Container{{
			Resources: corev1.ResourceRequirements{Limits: gpus(count)},
		}}},
	}
}

func TestFreeGPUs(t *testing.T) {
	t.Parallel()
	client := fake.NewClientset(
		node("free", "8", true, nil), node("half", "8", true, nil), node("over", "4", true, nil),
		node("down", "8", false, nil), node("cordoned", "8", true, func(n *corev1.Node) { n.Spec.Unschedulable = true }),
		holding("a", "half", "3"), holding("b", "half", "1"), holding("c", "over", "8"), holding("pending", "", "8"),
	)
	c := &Cluster{Client: client}
	usage, err := c.Usage(t.Context(), []string{"free", "half", "over", "down", "cordoned", "absent"}, GPUResource)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for node, u := range usage {
		got[node] = u.Free()
	}
	want := map[string]int{"free": 8, "half": 4, "over": 0, "down": 0, "cordoned": 0, "absent": 0}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(usage["half"].Holders) != 2 {
		t.Error(usage)
	}
	behind, err := c.UsageBehindCordon(t.Context(), []string{"half", "cordoned", "down"}, GPUResource)
	if err != nil || behind["half"].Free() != 4 || behind["cordoned"].Free() != 8 || behind["down"].Free() != 0 {
		t.Error(behind, err)
	}
}

func TestPodRequestCountsAsTheSchedulerDoes(t *testing.T) {
	t.Parallel()
	with := func(n string) corev1.Container {
		return corev1.Container{Resources: corev1.ResourceRequirements{Requests: gpus(n), Limits: gpus(n)}}
	}
	sidecar := with("1")
	always := corev1.ContainerRestartPolicyAlways
	sidecar.RestartPolicy = &always
	for name, tt := range map[string]struct {
		spec corev1.PodSpec
		want int
	}{
		"none":                       {corev1.PodSpec{Containers: []corev1.Container{{}}}, 0},
		"sum of containers":          {corev1.PodSpec{Containers: []corev1.Container{with("2"), with("3")}}, 5},
		"a larger init":              {corev1.PodSpec{InitContainers: []corev1.Container{with("8")}, Containers: []corev1.Container{with("2")}}, 8},
		"a smaller init":             {corev1.PodSpec{InitContainers: []corev1.Container{with("1")}, Containers: []corev1.Container{with("2")}}, 2},
		"a sidecar continues to run": {corev1.PodSpec{InitContainers: []corev1.Container{sidecar}, Containers: []corev1.Container{with("2")}}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := PodRequest(&tt.spec, GPUResource); got != tt.want {
				t.Errorf("got %d, want %d", got, tt.want)
			}
		})
	}
}

func TestSimulated(t *testing.T) {
	t.Parallel()
	kwok := func(n *corev1.Node) { n.Annotations = map[string]string{kwokNode: "fake"} }
	c := &Cluster{Client: fake.NewClientset(node("real", "8", true, nil))}
	if simulated, why, err := c.Simulated(t.Context()); simulated || err != nil || why == "" {
		t.Error(simulated, why, err)
	}
	c = &Cluster{Client: fake.NewClientset(node("real", "8", true, nil), node("b", "8", true, kwok), node("a", "8", true, kwok))}
	simulated, why, err := c.Simulated(t.Context())
	if !simulated || err != nil || why != "2 of 3 nodes carry the annotation kwok.x-k8s.io/node (a, b)" {
		t.Error(simulated, why, err)
	}
}

func TestCleanupNeedsARun(t *testing.T) {
	t.Parallel()
	g := Guest{Cluster: &Cluster{Client: fake.NewClientset(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "theirs"}})}}
	if err := g.Cleanup(t.Context(), ""); err == nil {
		t.Error("an empty run id was accepted")
	}
	if _, err := g.LeftOf(t.Context(), ""); err == nil {
		t.Error("an empty run id was accepted")
	}
}

func TestProxy(t *testing.T) {
	t.Parallel()
	c, err := New(&rest.Config{Host: "https://127.0.0.1:6443"})
	if err != nil {
		t.Fatal(err)
	}
	for service, want := range map[string]string{
		"monitoring/prometheus:9090":   "https://127.0.0.1:6443/api/v1/namespaces/monitoring/services/prometheus:9090/proxy",
		"https:monitoring/am-main:web": "https://127.0.0.1:6443/api/v1/namespaces/monitoring/services/https:am-main:web/proxy",
		"prometheus":                   "",
		"a/b/c":                        "",
		"":                             "",
	} {
		got, err := c.Proxy(service)
		if got.BaseURL != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", service, got.BaseURL, err)
		}
	}
}

func TestOpenNamesTheFileInErrors(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, []byte("\x00\xff not yaml"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{path, path + "-absent"} {
		if _, err := Open(p, ""); err == nil || !strings.Contains(err.Error(), p) {
			t.Error(err)
		}
	}
}
