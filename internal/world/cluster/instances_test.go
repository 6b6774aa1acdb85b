package cluster

import (
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/firstlight/firstlight/internal/world"
	"github.com/firstlight/firstlight/internal/world/worldtest"
)

// provider is an API server with Karpenter's kinds, and the world.
type provider struct {
	*instances
	client *fake.Clientset
	dyn    *dynamicfake.FakeDynamicClient
	world  *world.World
	now    *time.Time
}

func newProvider(t *testing.T, objects ...kruntime.Object) *provider {
	t.Helper()
	now := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	w, err := world.New(world.DefaultSpec(2), world.WithClock(func() time.Time { return now }), worldtest.Shared(t))
	if err != nil {
		t.Fatal(err)
	}
	client := fake.NewClientset()
	dyn := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(kruntime.NewScheme(), map[schema.GroupVersionResource]string{
		nodeClasses(): "KWOKNodeClassList", nodeClaims(): "NodeClaimList",
	}, objects...)
	nodes := informers.NewSharedInformerFactory(client, 0).Core().V1().Nodes().Informer()
	return &provider{newInstances(client, dyn, w, nodes, slog.New(slog.DiscardHandler)), client, dyn, w, &now}
}

func (p *provider) fault(t *testing.T, kind string) (clearIt func()) {
	t.Helper()
	f, err := p.world.AddFault(world.Fault{Kind: kind})
	if err != nil {
		t.Fatal(err)
	}
	if !p.look(t) {
		t.Errorf("%s is not tracked", kind)
	}
	return func() {
		t.Helper()
		if err := p.world.ClearFault(f.ID); err != nil {
			t.Fatal(err)
		}
		p.look(t)
		*p.now = p.now.Add(maxBoot + sweepAfter)
		if p.look(t) {
			t.Errorf("%s leaves a trace after its repair", kind)
		}
	}
}

// look runs one sync and returns whether another will follow.
func (p *provider) look(t *testing.T) (busy bool) {
	t.Helper()
	busy, err := p.sync(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return busy
}

// makeNode creates a node as Karpenter does for a run.
func (p *provider) makeNode(t *testing.T, name string, labels map[string]string, taints ...corev1.Taint) {
	t.Helper()
	n := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels, CreationTimestamp: metav1.NewTime(*p.now)},
		Spec:       corev1.NodeSpec{ProviderID: "kwok://" + name, Taints: taints},
	}
	if err := p.informer.GetStore().Add(n); err != nil {
		t.Fatal(err)
	}
	if _, err := p.client.CoreV1().Nodes().Create(t.Context(), n, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func class(name string, spec map[string]any) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "karpenter.kwok.sh/v1alpha1", "kind": "KWOKNodeClass", "metadata": map[string]any{"name": name},
	}}
	if spec != nil {
		o.Object["spec"] = spec
	}
	return o
}

func claim(name, pool, node string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim",
		"metadata": map[string]any{"name": name, "labels": map[string]any{labelPool: pool, labelRun: "r"}},
		"status":   map[string]any{"nodeName": node},
	}}
}

func (p *provider) delays(t *testing.T) map[string]string {
	t.Helper()
	list, err := p.dyn.Resource(nodeClasses()).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, c := range list.Items {
		out[c.GetName()], _, _ = unstructured.NestedString(c.Object, "spec", "nodeRegistrationDelay")
	}
	return out
}

func requireDelays(t *testing.T, p *provider, want map[string]string) {
	t.Helper()
	if diff := cmp.Diff(want, p.delays(t)); diff != "" {
		t.Errorf("delays (-want +got):\n%s", diff)
	}
}

func TestInstancesThatNeverRegister(t *testing.T) {
	t.Parallel()
	p := newProvider(t, class("default", nil), class("slow", map[string]any{"nodeRegistrationDelay": "3s"}))
	healthy := map[string]string{"default": "", "slow": "3s"}
	broken := map[string]string{"default": "86400s", "slow": "86400s"}
	repair := p.fault(t, "node-never-registers")
	requireDelays(t, p, healthy) // the first node is not affected
	p.makeNode(t, "somebodys", map[string]string{labelPool: "x"})
	p.look(t)
	requireDelays(t, p, healthy)
	p.makeNode(t, "first", map[string]string{labelPool: "x", labelRun: "r"})
	p.look(t)
	p.look(t)
	requireDelays(t, p, broken)
	repair()
	requireDelays(t, p, healthy)
}

// The node of a deleted claim is deleted; a node that is registering or new is kept.
func TestAbandonedInstances(t *testing.T) {
	t.Parallel()
	c := claim("b", "mine", "")
	if err := unstructured.SetNestedField(c.Object, "kwok://late", "status", "providerID"); err != nil {
		t.Fatal(err)
	}
	p := newProvider(t, class("default", nil), claim("a", "mine", "node-a"), c)
	repair := p.fault(t, "bound-elsewhere")
	unregistered := corev1.Taint{Key: "karpenter.sh/unregistered", Effect: corev1.TaintEffectNoExecute}
	of := map[string]string{labelPool: "mine", labelRun: "r"}
	p.makeNode(t, "node-a", of)
	p.makeNode(t, "late", of, unregistered)
	p.makeNode(t, "orphan", of, unregistered)
	p.makeNode(t, "somebodys", map[string]string{labelPool: "x"}, unregistered)
	left := func() []string {
		list, err := p.client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{LabelSelector: "!" + labelSpareNode})
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, n := range list.Items {
			out = append(out, n.Name)
		}
		slices.Sort(out)
		return out
	}
	p.look(t)
	if got := left(); len(got) != 4 {
		t.Errorf("at first, nodes are %v", got)
	}
	*p.now = p.now.Add(unclaimed)
	p.look(t)
	if diff := cmp.Diff([]string{"late", "node-a", "somebodys"}, left()); diff != "" {
		t.Error(diff)
	}
	repair()
}

func TestSpareNodes(t *testing.T) {
	t.Parallel()
	p := newProvider(t, class("default", nil), claim("a", "mine", "node-a"), claim("other", "others", ""))
	hpa := &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Name: "worker", Namespace: "chain", Labels: map[string]string{labelRun: "r"}},
		Spec:       autoscalingv2.HorizontalPodAutoscalerSpec{MaxReplicas: 3},
	}
	desire := func(replicas int32) {
		hpa.Status = autoscalingv2.HorizontalPodAutoscalerStatus{DesiredReplicas: replicas, LastScaleTime: new(metav1.NewTime(*p.now))}
		if err := p.client.Tracker().Update(autoscalingv2.SchemeGroupVersion.WithResource("horizontalpodautoscalers"), hpa, hpa.Namespace); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.client.Tracker().Add(hpa); err != nil {
		t.Fatal(err)
	}
	repair := p.fault(t, "bound-elsewhere")
	names := func() []string {
		list, err := p.client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{LabelSelector: labelSpareNode})
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, n := range list.Items {
			out = append(out, n.Name)
			if n.Labels[labelPool] != "mine" || n.Labels[labelRun] != "" || !n.Status.Allocatable[gpuResource].Equal(n.Status.Capacity[gpuResource]) {
				t.Errorf("node %s: %+v", n.Name, n)
			}
		}
		return out
	}
	if got := names(); len(got) != 0 {
		t.Errorf("nodes %v for a pool's first claim", got)
	}
	// A spare node for b before c exists took the pod of b, so Karpenter nominated the pod of c for
	// the node of b: the chain failed at an earlier hop.
	for i, name := range []string{"b", "c"} {
		desire(int32(2 + i))
		p.look(t)
		if got := names(); len(got) != 0 {
			t.Errorf("nodes %v at a step of the HPA, before its claim", got)
		}
		c := claim(name, "mine", "")
		c.SetCreationTimestamp(metav1.NewTime(*p.now))
		if _, err := p.dyn.Resource(nodeClaims()).Create(t.Context(), c, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		p.look(t)
		*p.now = p.now.Add(spareDelay - time.Second)
		p.look(t)
		if got := names(); len(got) != 0 {
			t.Errorf("nodes %v before the HPA's last step", got)
		}
		if i == 0 { // the steps may be far apart
			*p.now = p.now.Add(time.Minute)
			p.look(t)
			if got := names(); len(got) != 0 {
				t.Errorf("nodes %v with the HPA below its maximum", got)
			}
		}
	}
	*p.now = p.now.Add(time.Second)
	p.look(t)
	p.look(t)
	if diff := cmp.Diff([]string{"spare-b", "spare-c"}, names()); diff != "" {
		t.Error(diff)
	}
	// The claim's node appears late: the spare node stays with its pods.
	if _, err := p.dyn.Resource(nodeClaims()).Update(t.Context(), claim("b", "mine", "node-b"), metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	p.look(t)
	if len(names()) != 2 {
		t.Errorf("nodes are %v", names())
	}
	repair()
	if got := names(); len(got) != 0 || p.spareNodes {
		t.Errorf("nodes %v remain", got)
	}
}

func TestBlockerPods(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	repair := p.fault(t, "do-not-disrupt")
	p.makeNode(t, "first", map[string]string{labelPool: "x", labelRun: "r"})
	p.makeNode(t, "somebodys", map[string]string{labelPool: "x"})
	p.look(t)
	p.look(t)
	pods, err := p.client.CoreV1().Pods(blockersNamespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(pods.Items) != 1 || pods.Items[0].Spec.NodeName != "first" || pods.Items[0].Annotations["karpenter.sh/do-not-disrupt"] != "true" {
		t.Errorf("blocker pods are %+v", pods.Items)
	}
	repair()
	if list, err := p.client.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{}); err != nil || len(list.Items) != 0 || p.blockerPods {
		t.Errorf("remaining: %v, %v", list.Items, err)
	}
}
