package embedded

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firstlight/firstlight/internal/lab/policy"
	"github.com/firstlight/firstlight/internal/poll/polltest"
	"github.com/firstlight/firstlight/internal/world"
)

var (
	nodePools  = schema.GroupVersionResource{Group: "karpenter.sh", Version: "v1", Resource: "nodepools"}
	nodeClaims = schema.GroupVersionResource{Group: "karpenter.sh", Version: "v1", Resource: "nodeclaims"}
)

// hpaOf is an HPA of a run, or of another user if run is empty.
func hpaOf(run string, metric autoscalingv2.MetricSpec) *autoscalingv2.HorizontalPodAutoscaler {
	least := int32(1)
	return &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Name: "workers", Namespace: "default", Labels: ofRun(run, "worker")},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "workers"},
			MinReplicas:    &least, MaxReplicas: 3, Metrics: []autoscalingv2.MetricSpec{metric},
		},
	}
}

func externalMetric() autoscalingv2.MetricSpec {
	target := resource.MustParse("350")
	return autoscalingv2.MetricSpec{Type: autoscalingv2.ExternalMetricSourceType, External: &autoscalingv2.ExternalMetricSource{
		Metric: autoscalingv2.MetricIdentifier{Name: "dcgm_gpu_power_usage"},
		Target: autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType, AverageValue: &target},
	}}
}

func objectMetric() autoscalingv2.MetricSpec {
	target := resource.MustParse("350")
	return autoscalingv2.MetricSpec{Type: autoscalingv2.ObjectMetricSourceType, Object: &autoscalingv2.ObjectMetricSource{
		DescribedObject: autoscalingv2.CrossVersionObjectReference{APIVersion: "v1", Kind: "Namespace", Name: "default"},
		Metric:          autoscalingv2.MetricIdentifier{Name: "gpu_power_usage"},
		Target:          autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType, AverageValue: &target},
	}}
}

func ofRun(run, role string) map[string]string {
	if run == "" {
		return map[string]string{"app": "workers"}
	}
	return map[string]string{"app": "workers", "firstlight.dev/run": run, "firstlight.dev/role": role}
}

// pool is a NodePool of a run that creates nodes with one GPU.
func pool(name, run string) *unstructured.Unstructured {
	labels := map[string]any{}
	for k, v := range ofRun(run, "") {
		if v != "" {
			labels[k] = v
		}
	}
	in := func(key string, values ...any) map[string]any {
		return map[string]any{"key": key, "operator": "In", "values": values}
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": map[string]any{"name": name, "labels": labels},
		"spec": map[string]any{
			"limits":     map[string]any{"nvidia.com/gpu": "8"},
			"disruption": map[string]any{"consolidationPolicy": "WhenEmptyOrUnderutilized", "consolidateAfter": "1s"},
			"template": map[string]any{"metadata": map[string]any{"labels": labels}, "spec": map[string]any{
				"nodeClassRef":           map[string]any{"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"},
				"taints":                 []any{map[string]any{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}},
				"terminationGracePeriod": "5s",
				"requirements":           []any{in("node.kubernetes.io/instance-type", "g5.xlarge"), in("kubernetes.io/arch", "amd64")},
			}},
		},
	}}
}

// workers is a Deployment of a run with one pod per node.
func workers(run, nodePool string, replicas int32) *appsv1.Deployment {
	labels := ofRun(run, "worker")
	grace := int64(0)
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "workers", Namespace: "default", Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "workers"}},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{
				TerminationGracePeriodSeconds: &grace,
				NodeSelector:                  map[string]string{"karpenter.sh/nodepool": nodePool},
				Tolerations:                   []corev1.Toleration{{Key: "nvidia.com/gpu", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}},
				Affinity: &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
					LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "workers"}}, TopologyKey: corev1.LabelHostname,
				}}}},
				Containers: []corev1.Container{{
					Name: "worker", Image: "registry.k8s.io/pause:3.10",
					Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("1")}},
				}},
			}},
		},
	}
}

// changes dry-runs objects of a run and returns which policies change them, by policy name.
func (b *bench) changes(t *testing.T, run string) map[string]bool {
	t.Helper()
	try := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}
	out := map[string]bool{}
	for _, metric := range []autoscalingv2.MetricSpec{externalMetric(), objectMetric()} {
		h, err := b.Client.AutoscalingV2().HorizontalPodAutoscalers("default").Create(t.Context(), hpaOf(run, metric), try)
		if err != nil {
			t.Fatal(err)
		}
		var value string
		if m := h.Spec.Metrics[0]; m.External != nil {
			value = m.External.Target.AverageValue.String()
		} else {
			value = m.Object.Target.AverageValue.String()
		}
		out["hpa-max-reached"] = h.Spec.MaxReplicas == 1
		out["hpa-target-unreachable "+string(metric.Type)] = value == "1M"
	}
	spec := workers(run, "x", 1).Spec.Template.Spec
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "worker", Labels: ofRun(run, "worker")}, Spec: spec}
	pod.Labels["kai.scheduler/queue"] = "q"
	pod, err := b.Client.CoreV1().Pods("default").Create(t.Context(), pod, try)
	if err != nil {
		t.Fatal(err)
	}
	out["taint-not-tolerated"] = !slices.ContainsFunc(pod.Spec.Tolerations, func(t corev1.Toleration) bool { return t.Key == "nvidia.com/gpu" })
	out["kai-queue-missing"] = pod.Labels["kai.scheduler/queue"] != "q"
	np, err := b.Dynamic.Resource(nodePools).Create(t.Context(), pool("try", run), try)
	if err != nil {
		t.Fatal(err)
	}
	limit, _, _ := unstructured.NestedString(np.Object, "spec", "limits", "nvidia.com/gpu")
	after, _, _ := unstructured.NestedString(np.Object, "spec", "disruption", "consolidateAfter")
	requirements, _, _ := unstructured.NestedSlice(np.Object, "spec", "template", "spec", "requirements")
	out["pool-limit-zero"], out["consolidation-disabled"], out["no-instance-type"] = limit == "0", after == "Never", len(requirements) == 3
	b.requireZeroSpared(t, run)
	return out
}

// requireZeroSpared: no policy changes the NodePool of the limit check. Regression: it was once
// refused because of its instance types when the fault preceded its pod.
func (b *bench) requireZeroSpared(t *testing.T, run string) {
	t.Helper()
	zero := pool("try-zero", run)
	zero.SetLabels(ofRun(run, "zero"))
	zero, err := b.Dynamic.Resource(nodePools).Create(t.Context(), zero, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if err != nil {
		t.Fatal(err)
	}
	if requirements, _, _ := unstructured.NestedSlice(zero.Object, "spec", "template", "spec", "requirements"); len(requirements) != 2 {
		t.Errorf("the NodePool with limit 0 has requirements %v", requirements)
	}
}

func requireChanges(t *testing.T, when string, got map[string]bool, want func(name string) bool) {
	t.Helper()
	for name, is := range got {
		if is != want(name) {
			t.Errorf("%s: %s changes objects: %v", when, name, is)
		}
	}
}

func testPolicies(t *testing.T, b *bench) {
	all := func(string) bool { return true }
	none := func(string) bool { return false }
	files, err := filepath.Glob("../policy/data/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("policies %v, %v", files, err)
	}
	var names []string
	var wanted []policy.Wanted
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".yaml")
		names, wanted = append(names, name), append(wanted, policy.Wanted{Name: name})
	}
	engine, err := policy.New(b.Config, slog.New(slog.NewTextHandler(t.Output(), nil)))
	if err != nil {
		t.Fatal(err)
	}
	requireChanges(t, "before", b.changes(t, "r"), none)
	if err := engine.Set(t.Context(), wanted); err != nil {
		t.Fatal(err)
	}
	requireChanges(t, "with all", b.changes(t, "r"), all)
	requireChanges(t, "of another user", b.changes(t, ""), none)
	if err := engine.Set(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	requireChanges(t, "after", b.changes(t, "r"), none)

	// The catalogue has a fault for each policy.
	for _, k := range world.Catalogue() {
		if !slices.Contains(names, k.Kind) || k.Needs == "kai" {
			continue
		}
		names = slices.DeleteFunc(names, func(n string) bool { return n == k.Kind })
		options := map[string]string{}
		if len(k.Options) > 0 {
			options["spare"] = "none"
		}
		repair := b.fault(t, world.Fault{Kind: k.Kind, Options: options})
		requireChanges(t, "with "+k.Kind, b.changes(t, "r"), func(n string) bool {
			return n == k.Kind || n == k.Kind+" External" || n == k.Kind+" Object"
		})
		repair()
		requireChanges(t, "without "+k.Kind, b.changes(t, "r"), none)
	}
	if !slices.Equal(names, []string{"kai-queue-missing"}) {
		t.Errorf("no fault for policies %v", names)
	}
}

// testKarpenter creates nodes as a run does, with and without faults.
func testKarpenter(t *testing.T, b *bench) {
	if _, err := b.Dynamic.Resource(nodePools).Create(t.Context(), pool("mine", "r"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Client.AppsV1().Deployments("default").Create(t.Context(), workers("r", "mine", 1), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	// A pod on a node that is not the world's runs too.
	first := b.awaitWorkers(t, 1)[0]
	if n, err := b.Client.CoreV1().Nodes().Get(t.Context(), first.Spec.NodeName, metav1.GetOptions{}); err != nil || n.Labels["karpenter.sh/nodepool"] != "mine" {
		t.Fatalf("the first worker is on %v, %v", n, err)
	}

	// Existing objects are changed too, once a first worker is spared.
	repair := b.fault(t, world.Fault{Kind: "pool-limit-zero"})
	polltest.UntilNil(t, "the pool's limit to be 0", func() error {
		np, err := b.Dynamic.Resource(nodePools).Get(t.Context(), "mine", metav1.GetOptions{})
		if err != nil {
			return err
		}
		if limit, _, _ := unstructured.NestedString(np.Object, "spec", "limits", "nvidia.com/gpu"); limit != "0" {
			return fmt.Errorf("the limit is %q", limit)
		}
		return nil
	})
	repair()
	np, err := b.Dynamic.Resource(nodePools).Get(t.Context(), "mine", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_ = unstructured.SetNestedField(np.Object, "8", "spec", "limits", "nvidia.com/gpu") // cannot fail: a map
	if _, err := b.Dynamic.Resource(nodePools).Update(t.Context(), np, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}

	repair = b.fault(t, world.Fault{Kind: "bound-elsewhere"})
	b.scale(t, 3)
	for _, p := range b.awaitWorkers(t, 3) {
		if p.UID != first.UID && len(p.Spec.NodeName) > 5 && p.Spec.NodeName[:6] != "spare-" {
			t.Errorf("worker %s is on %s", p.Name, p.Spec.NodeName)
		}
	}
	// Their nodes appear later. Deleting a claim earlier would leave a node, because the KWOK
	// provider creates every promised node.
	polltest.UntilNil(t, "the nodes that were made for them", func() error {
		list, err := b.Dynamic.Resource(nodeClaims).List(t.Context(), metav1.ListOptions{LabelSelector: "karpenter.sh/nodepool=mine"})
		if err != nil {
			return err
		}
		for _, c := range list.Items {
			if node, _, _ := unstructured.NestedString(c.Object, "status", "nodeName"); node == "" {
				return fmt.Errorf("%s has no node", c.GetName())
			}
		}
		return nil
	})
	repair()
	b.scale(t, 1)

	repair = b.fault(t, world.Fault{Kind: "do-not-disrupt"})
	polltest.UntilNil(t, "a keeper on the first node", func() error {
		pods, err := b.Client.CoreV1().Pods("blockers").List(t.Context(), metav1.ListOptions{FieldSelector: "spec.nodeName=" + first.Spec.NodeName})
		if err == nil && (len(pods.Items) != 1 || !isReady(pods.Items[0])) {
			err = fmt.Errorf("%d blocker pods", len(pods.Items))
		}
		return err
	})
	repair()

	repair = b.fault(t, world.Fault{Kind: "node-never-registers"})
	b.scale(t, 4) // more than the existing nodes, including empty ones
	polltest.UntilNil(t, "an instance that does not register", func() error {
		list, err := b.Dynamic.Resource(nodeClaims).List(t.Context(), metav1.ListOptions{LabelSelector: "karpenter.sh/nodepool=mine"})
		if err != nil {
			return err
		}
		for _, c := range list.Items {
			if node, _, _ := unstructured.NestedString(c.Object, "status", "nodeName"); node == "" && launched(c) {
				return nil
			}
		}
		return fmt.Errorf("%d claims", len(list.Items))
	})
	repair()
	class, err := b.Dynamic.Resource(schema.GroupVersionResource{Group: "karpenter.kwok.sh", Version: "v1alpha1", Resource: "kwoknodeclasses"}).Get(t.Context(), "default", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if delay, there, _ := unstructured.NestedString(class.Object, "spec", "nodeRegistrationDelay"); there {
		t.Errorf("the node class still has a delay of %q", delay)
	}

	if err := b.Client.AppsV1().Deployments("default").Delete(t.Context(), "workers", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := b.Dynamic.Resource(nodePools).Delete(t.Context(), "mine", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	polltest.UntilNil(t, "the pool and its nodes to be gone", func() error {
		if _, err := b.Dynamic.Resource(nodePools).Get(t.Context(), "mine", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return fmt.Errorf("the pool exists (%w)", err)
		}
		nodes, err := b.Client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{LabelSelector: "karpenter.sh/nodepool"})
		if err == nil && len(nodes.Items) > 0 {
			err = fmt.Errorf("%d nodes", len(nodes.Items))
		}
		return err
	})
}

func launched(c unstructured.Unstructured) bool {
	conditions, _, _ := unstructured.NestedSlice(c.Object, "status", "conditions")
	return slices.ContainsFunc(conditions, func(c any) bool {
		m, ok := c.(map[string]any)
		return ok && m["type"] == "Launched" && m["status"] == "True"
	})
}

func (b *bench) scale(t *testing.T, replicas int32) {
	t.Helper()
	s, err := b.Client.AppsV1().Deployments("default").GetScale(t.Context(), "workers", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s.Spec.Replicas = replicas
	if _, err := b.Client.AppsV1().Deployments("default").UpdateScale(t.Context(), "workers", s, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// awaitWorkers waits until n workers are ready.
func (b *bench) awaitWorkers(t *testing.T, n int) []corev1.Pod {
	t.Helper()
	var pods *corev1.PodList
	polltest.UntilNil(t, fmt.Sprintf("%d workers", n), func() (err error) {
		if pods, err = b.Client.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{LabelSelector: "app=workers"}); err != nil {
			return err
		}
		up := 0
		for _, p := range pods.Items {
			if isReady(p) {
				up++
			}
		}
		if up != n || len(pods.Items) != n {
			return fmt.Errorf("%d pods, %d ready", len(pods.Items), up)
		}
		return nil
	})
	return pods.Items
}
