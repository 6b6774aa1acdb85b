package health_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/lab"
	"github.com/firstlight/firstlight/internal/poll/polltest"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/suite"
	"github.com/firstlight/firstlight/internal/validate/health"
	"github.com/firstlight/firstlight/internal/validate/resources"
)

// readyTimeout is enough for a loaded machine.
const readyTimeout = 3 * time.Minute

// plane is a control plane: a real API server, scheduler, and controllers of
// DaemonSets and StatefulSets. The test is the kubelet.
func plane(t *testing.T) *kube.Cluster {
	t.Helper()
	suite.Live(t)
	t.Setenv("FIRSTLIGHT_HOME", t.TempDir())
	l, end, err := lab.StartThrowaway(t.Context(), lab.Options{
		Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := end(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	c, err := kube.New(l.RestConfig())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// bench is a cluster with two components on it.
type bench struct {
	*testing.T
	*kube.Cluster
}

func (b bench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// fill makes a node and two components: one with a DaemonSet and a Deployment, one
// with a StatefulSet.
func (b bench) fill() {
	room := corev1.ResourceList{corev1.ResourcePods: resource.MustParse("10"), corev1.ResourceCPU: resource.MustParse("10")}
	n, err := b.Client.CoreV1().Nodes().Create(b.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node"}}, metav1.CreateOptions{})
	b.must(err)
	n.Status = corev1.NodeStatus{Capacity: room, Allocatable: room, Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}}
	_, err = b.Client.CoreV1().Nodes().UpdateStatus(b.Context(), n, metav1.UpdateOptions{})
	b.must(err)
	for _, ns := range []string{"one", "two"} {
		_, err := b.Client.CoreV1().Namespaces().Create(b.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}, metav1.CreateOptions{})
		b.must(err)
	}
	pods := func(name string) (*metav1.LabelSelector, corev1.PodTemplateSpec) {
		labels := map[string]string{"app": name}
		return &metav1.LabelSelector{MatchLabels: labels}, corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "image"}}},
		}
	}
	selector, template := pods("agent")
	_, err = b.Client.AppsV1().DaemonSets("one").Create(b.Context(), &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Name: "agent"}, Spec: appsv1.DaemonSetSpec{Selector: selector, Template: template},
	}, metav1.CreateOptions{})
	b.must(err)
	replicas := int32(2)
	selector, template = pods("store")
	_, err = b.Client.AppsV1().StatefulSets("two").Create(b.Context(), &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: "store"},
		Spec:       appsv1.StatefulSetSpec{Replicas: &replicas, ServiceName: "store", Selector: selector, Template: template, PodManagementPolicy: appsv1.ParallelPodManagement},
	}, metav1.CreateOptions{})
	b.must(err)
	selector, template = pods("operator")
	d, err := b.Client.AppsV1().Deployments("one").Create(b.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "operator"}, Spec: appsv1.DeploymentSpec{Replicas: &replicas, Selector: selector, Template: template},
	}, metav1.CreateOptions{})
	b.must(err)
	d.Status = appsv1.DeploymentStatus{ObservedGeneration: d.Generation, Replicas: 2, UpdatedReplicas: 2, ReadyReplicas: 2, AvailableReplicas: 2}
	_, err = b.Client.AppsV1().Deployments("one").UpdateStatus(b.Context(), d, metav1.UpdateOptions{})
	b.must(err)
}

// ready makes the pods with a label ready, or not, once there are that many.
func (b bench) ready(app string, want int, status corev1.ConditionStatus) {
	polltest.Until(b, "pods of "+app, func() bool {
		list, err := b.Client.CoreV1().Pods("").List(b.Context(), metav1.ListOptions{LabelSelector: "app=" + app})
		b.must(err)
		if len(list.Items) != want {
			return false
		}
		for i := range list.Items {
			p := &list.Items[i]
			if p.Spec.NodeName == "" {
				return false
			}
			p.Status.Phase = corev1.PodRunning
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: status}}
			if _, err := b.Client.CoreV1().Pods(p.Namespace).UpdateStatus(b.Context(), p, metav1.UpdateOptions{}); err != nil {
				return false
			}
		}
		return true
	})
}

const liveOne = `apiVersion: chainsaw.kyverno.io/v1alpha1
kind: Test
metadata: {name: one}
spec:
  namespace: one
  bindings:
  - {name: nodes, value: "(length(x_k8s_list($client, 'v1', 'Node').items))"}
  steps:
  - name: agent
    try:
    - assert:
        resource:
          apiVersion: apps/v1
          kind: DaemonSet
          metadata: {name: agent}
          status: {numberReady: ($nodes)}
          (status.observedGeneration == metadata.generation): true
    - assert: {resource: {apiVersion: v1, kind: Pod, metadata: {labels: {app: agent}}, status: {phase: Running}}}
  - name: operator
    try:
    - assert: {resource: {apiVersion: apps/v1, kind: Deployment, metadata: {name: operator}, (status.availableReplicas == spec.replicas): true}}
`

const liveTwo = `apiVersion: chainsaw.kyverno.io/v1alpha1
kind: Test
metadata: {name: two}
spec:
  steps:
  - name: pods
    try:
    - assert: {resource: {apiVersion: v1, kind: Pod, metadata: {namespace: two, labels: {app: store}}, "(status.conditions[?type == 'Ready'].status)": ["True"]}}
    - error: {resource: {apiVersion: v1, kind: Pod, metadata: {namespace: two}, status: {phase: Failed}}}
`

const liveThree = `apiVersion: chainsaw.kyverno.io/v1alpha1
kind: Test
metadata: {name: three}
spec:
  steps:
  - try:
    - assert: {resource: {apiVersion: example.com/v1, kind: Widget, metadata: {name: w}, spec: {size: 3}}}
`

// On a real API server: two components are well; then one of one's objects is gone,
// and one pod of the other is not ready: both steps say so, and of nothing else.
func TestOnAnAPIServer(t *testing.T) {
	b := bench{t, plane(t)}
	b.fill()
	b.ready("agent", 1, corev1.ConditionTrue)
	b.ready("store", 2, corev1.ConditionTrue)
	components := []health.Component{{Name: "one", File: "one.yaml", Asserts: liveOne}, {Name: "two", File: "two.yaml", Asserts: liveTwo}}
	expected := []resources.Object{
		{Kind: "DaemonSet", Namespace: "one", Name: "agent", Component: "one"}, {Kind: "Deployment", Namespace: "one", Name: "operator", Component: "one"},
		{Kind: "StatefulSet", Namespace: "two", Name: "store", Component: "two"}, {Kind: "Namespace", Name: "two", Component: "two"},
	}
	b.verdict(health.New(components, given(b.Cluster), health.Options{Timeout: readyTimeout}), check.Passed)
	b.verdict(resources.New(expected, given2(b.Cluster), resources.Options{Timeout: readyTimeout}), check.Passed)

	b.must(b.Client.AppsV1().Deployments("one").Delete(b.Context(), "operator", metav1.DeleteOptions{}))
	began := time.Now()
	b.verdict(resources.New(expected, given2(b.Cluster), resources.Options{}), check.Failed, "Deployment one/operator: component one: not found")
	if took := time.Since(began); took > time.Minute {
		t.Errorf("it took %s to fail", took)
	}
	b.verdict(health.New(components, given(b.Cluster), health.Options{Timeout: 2 * time.Second}), check.Failed, "Deployment one/operator: component one, step operator (one.yaml:21:7): not found")

	b.ready("store", 2, corev1.ConditionFalse)
	polltest.Until(b, "the StatefulSet not to be ready", func() bool {
		s, err := b.Client.AppsV1().StatefulSets("two").Get(b.Context(), "store", metav1.GetOptions{})
		b.must(err)
		return s.Status.ReadyReplicas == 0
	})
	b.verdict(resources.New(expected, given2(b.Cluster), resources.Options{Timeout: 2 * time.Second}), check.Failed,
		"Deployment one/operator: component one: not found", "StatefulSet two/store: component two: 0 of 2 pods are ready; pod store-0: phase Running")
	b.verdict(health.New(components[1:], given(b.Cluster), health.Options{Timeout: 2 * time.Second}), check.Failed,
		"Pod two/store-0: component two, step pods (two.yaml:8:7): (status.conditions[?type == 'Ready'].status)[0]: Invalid value: \"False\": Expected value: \"True\"", "Pod two/store-1: ")
	b.late()
}

// late: a kind that appears while it is waited for is found.
func (b bench) late() {
	group := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	crd := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": "widgets.example.com"},
		"spec": map[string]any{
			"group": "example.com", "scope": "Cluster", "names": map[string]any{"plural": "widgets", "kind": "Widget"},
			"versions": []any{map[string]any{"name": "v1", "served": true, "storage": true, "schema": map[string]any{
				"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true},
			}}},
		},
	}}
	three := []health.Component{{Name: "three", File: "three.yaml", Asserts: liveThree}}
	b.verdict(health.New(three, given(b.Cluster), health.Options{Timeout: time.Second}), check.Failed, "Widget w: component three, step step-1 (three.yaml:7:7): the API server does not serve Widget of example.com/v1")
	done := make(chan check.Judgement, 1)
	waiting := health.New(three, given(b.Cluster), health.Options{Timeout: readyTimeout})
	go func() {
		var n notebook
		if err := waiting.Observe(b.Context(), &n); err != nil {
			b.Error(err)
		}
		done <- waiting.Judge(n.obs)
	}()
	_, err := b.Dynamic.Resource(group).Create(b.Context(), crd, metav1.CreateOptions{})
	b.must(err)
	widget := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": "w"}, "spec": map[string]any{"size": int64(3)}}}
	polltest.Until(b, "the kind to be served", func() bool {
		_, err := b.Dynamic.Resource(schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}).Create(b.Context(), widget, metav1.CreateOptions{})
		return err == nil
	})
	if j := <-done; j.Verdict != check.Passed {
		b.Errorf("%+v", j)
	}
}

func given2(c *kube.Cluster) resources.Deps {
	return resources.Deps{Cluster: func(context.Context) (*kube.Cluster, error) { return c, nil }}
}

// verdict observes and judges, and wants exactly these findings.
func (b bench) verdict(c check.Check, want check.Verdict, says ...string) {
	b.Helper()
	var n notebook
	b.must(c.Observe(b.Context(), &n))
	j := c.Judge(n.obs)
	if j.Verdict != want || len(j.Findings) != len(says) {
		b.Errorf("%s: %s: %s\n%+v", c.Name(), j.Verdict, j.Reason, j.Findings)
		return
	}
	for i, text := range says {
		if got := j.Findings[i].Suspect + ": " + j.Findings[i].Message; !strings.HasPrefix(got, text) {
			b.Errorf("%s: got %q, want %q", c.Name(), got, text)
		}
	}
}
