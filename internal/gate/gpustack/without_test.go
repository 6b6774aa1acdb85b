package gpustack

import (
	"maps"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// placed are a DaemonSet of the operator, the nodes of the inventory and the pods of the nodes whose labels it selects.
func placed(g *Gate, set, key string, labels map[string]map[string]string) []runtime.Object {
	d := &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: g.stack.Namespace, Name: set, UID: types.UID(set), Generation: 1},
		Spec:       appsv1.DaemonSetSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{NodeSelector: map[string]string{key: "true"}}}},
		Status:     appsv1.DaemonSetStatus{ObservedGeneration: 1},
	}
	out := []runtime.Object{d}
	for _, name := range g.nodes {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{key: "true", labelMIGCapable: "true"}}}
		for label, value := range labels[name] {
			if n.Labels[label] = value; value == "" {
				delete(n.Labels, label)
			}
		}
		out = append(out, n)
		if n.Labels[key] != "true" {
			continue
		}
		d.Status.DesiredNumberScheduled++
		out = append(out, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: g.stack.Namespace, Name: set + "-" + name, OwnerReferences: []metav1.OwnerReference{{Kind: "DaemonSet", Name: set, UID: d.UID, Controller: new(true)}}},
			Spec:       corev1.PodSpec{NodeName: name},
			Status: corev1.PodStatus{
				Conditions:        []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
				ContainerStatuses: []corev1.ContainerStatus{{Name: "main", ImageID: "nvcr.io/nvidia/x@" + digest('a')}},
			},
		})
	}
	d.Status.NumberReady, d.Status.UpdatedNumberScheduled = d.Status.DesiredNumberScheduled, d.Status.DesiredNumberScheduled
	return out
}

// The GPU Operator runs no driver pod on a host with its own driver and no MIG manager on GPUs without MIG, and leaves a label with
// which an administrator has turned an operand off: DaemonSets that site detect lists failed for it. A node that has no label at
// all, or is paused, is a defect as before.
func TestNodesWithoutAPod(t *testing.T) {
	t.Parallel()
	const driver, plugin, mig, exporter = labelDriver, deployLabel + "device-plugin", labelMIGManager, deployLabel + "dcgm-exporter"
	const driverSet, pluginSet, pattern, rhcos = "nvidia-driver-daemonset", "nvidia-device-plugin-daemonset", "nvidia-driver-daemonset-*", "nvidia-driver-daemonset-rhcos4.18"
	on := func(node, key, value string) map[string]map[string]string {
		return map[string]map[string]string{node: {key: value}}
	}
	everywhere := func(g *Gate, labels map[string]string) map[string]map[string]string {
		out := map[string]map[string]string{}
		for _, n := range g.nodes {
			out[n] = maps.Clone(labels)
		}
		return out
	}
	incapable := map[string]string{mig: "", labelMIGCapable: "false"}
	g := gate(t)
	for name, c := range map[string]struct {
		operand, set, key string
		labels            map[string]map[string]string
		want              check.Verdict
		says              string
	}{
		"everywhere":                       {driverSet, driverSet, driver, nil, check.Passed, ""},
		"a driver of the host":             {driverSet, driverSet, driver, on("gpu-03", driver, "pre-installed"), check.Passed, "has no pod on gpu-03, by the label nvidia.com/gpu.deploy.driver=pre-installed"},
		"a driver of the host, pattern":    {pattern, rhcos, driver, on("gpu-03", driver, "pre-installed"), check.Passed, "has no pod on gpu-03, by the label"},
		"a driver of every host":           {driverSet, driverSet, driver, everywhere(g, map[string]string{driver: "pre-installed"}), check.Passed, "has no pod on gpu-01, gpu-02, gpu-03, gpu-04"},
		"another DaemonSet, pre-installed": {pluginSet, pluginSet, plugin, on("gpu-03", plugin, "pre-installed"), check.Failed, "gpu-03 has no pod of DaemonSet"},
		"turned off":                       {"nvidia-dcgm-exporter", "nvidia-dcgm-exporter", exporter, on("gpu-02", exporter, "false"), check.Passed, "has no pod on gpu-02, by the label nvidia.com/gpu.deploy.dcgm-exporter=false"},
		"paused for an upgrade":            {pluginSet, pluginSet, plugin, on("gpu-02", plugin, "paused-for-driver-upgrade"), check.Failed, "gpu-02 has no pod of DaemonSet"},
		"not labelled":                     {pluginSet, pluginSet, plugin, on("gpu-02", plugin, ""), check.Failed, "gpu-02 has no pod of DaemonSet"},
		"not labelled, pattern":            {pattern, rhcos, driver, on("gpu-02", driver, ""), check.Failed, "gpu-02 has no pod of DaemonSet"},
		"no node is labelled":              {pluginSet, pluginSet, plugin, everywhere(g, map[string]string{plugin: ""}), check.Failed, "has no pod on any of the inventory's 4 nodes"},
		"GPUs without MIG":                 {"nvidia-mig-manager", "nvidia-mig-manager", mig, everywhere(g, incapable), check.Passed, "by the label nvidia.com/mig.capable=false"},
		"GPUs with MIG, not labelled":      {"nvidia-mig-manager", "nvidia-mig-manager", mig, on("gpu-01", mig, ""), check.Failed, "gpu-01 has no pod of DaemonSet"},
		"another selector":                 {"other", "other", "example.com/pool", on("gpu-01", "example.com/pool", "false"), check.Failed, "gpu-01 has no pod of DaemonSet"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, m := gate(t), &memory{}
			g.stack.Operands = []string{c.operand}
			f := healthy(g)
			if err := g.observeOperands(t.Context(), &kube.Cluster{Client: fake.NewClientset(placed(g, c.set, c.key, c.labels)...)}, m); err != nil {
				t.Fatal(err)
			}
			var err error
			if f.operands, err = check.Decode[[]operandFigures](m.obs[0]); err != nil {
				t.Fatal(err)
			}
			j := plan.Judge(g, f.observations(t))
			text := said(j)
			if j.Verdict != c.want || !strings.Contains(text, c.says) {
				t.Errorf("%s, want %s with %q: %s", j.Verdict, c.want, c.says, text)
			}
		})
	}
}
