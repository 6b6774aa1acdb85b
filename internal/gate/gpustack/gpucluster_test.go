package gpustack

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/site"
)

// reconciledBy is an object of nvidia.com/v1alpha1 with the status that the operator's controllers write (api/nvidia/v1alpha1,
// internal/conditions of GPU Operator v26.7).
func reconciledBy(kind, name, state, reason string, spec map[string]any) *unstructured.Unstructured {
	ready, failed := "True", "False"
	if state != "ready" {
		ready, failed = "False", "True"
	}
	condition := func(kind, status, reason string) any {
		return map[string]any{"type": kind, "status": status, "reason": reason, "message": "states not ready: [state-dra-driver]"}
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "nvidia.com/v1alpha1", "kind": kind, "metadata": map[string]any{"name": name, "generation": int64(1)}, "spec": spec,
		"status": map[string]any{"state": state, "namespace": "gpu-operator", "conditions": []any{condition("Ready", ready, reason), condition("Error", failed, reason)}},
	}}
}

// A GPU Operator that offers GPUs by DRA has a GPUCluster in place of the ClusterPolicy: the gate failed for lack of the latter, and
// as a provider's stack it passed while the operator and its drivers were not observed.
func TestGPUCluster(t *testing.T) {
	t.Parallel()
	cluster := reconciledBy("GPUCluster", "gpu-cluster", "ready", "Reconciled", nil)
	driver := func(state, reason string) *unstructured.Unstructured {
		return reconciledBy("NVIDIADriver", "default", state, reason, map[string]any{"default": true})
	}
	for name, c := range map[string]struct {
		objects []runtime.Object
		want    check.Verdict
		says    string
	}{
		"drivers of the hosts":        {[]runtime.Object{cluster}, check.Passed, "GPUCluster reconciled; gpu.nvidia.com of 4 nodes"},
		"drivers of the hosts, says":  {[]runtime.Object{cluster}, check.Passed, "; there is no NVIDIADriver: the driver is that of the hosts"},
		"a driver that is ready":      {[]runtime.Object{cluster, driver("ready", "Reconciled")}, check.Passed, "GPUCluster reconciled"},
		"a driver that is not ready":  {[]runtime.Object{cluster, driver("notReady", "DriverNotReady")}, check.Failed, "NVIDIADriver default: state is \"notReady\""},
		"operands that are not ready": {[]runtime.Object{reconciledBy("GPUCluster", "gpu-cluster", "notReady", "OperandNotReady", nil)}, check.Failed, "GPUCluster gpu-cluster: state is \"notReady\", Ready=False with reason OperandNotReady"},
		"a second GPUCluster":         {[]runtime.Object{reconciledBy("GPUCluster", "gpu-cluster", "ignored", "Ignored", nil)}, check.Failed, "GPUCluster gpu-cluster: state is \"ignored\""},
		"none":                        {nil, check.Failed, "GPUCluster gpu-cluster: does not exist"},
		"one of another name":         {[]runtime.Object{reconciledBy("GPUCluster", "other", "ready", "Reconciled", nil)}, check.Failed, "GPUCluster gpu-cluster: does not exist"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole, m := gate(t), &memory{}
			s := *whole.site
			s.GPUStack.ClusterPolicy, s.GPUStack.GPUCluster, s.GPUStack.DeviceClass = "", "gpu-cluster", site.DRADeviceClass
			s.Fabric = site.Fabric{}
			g := New(&s, whole.hardware, Deps{})
			var nodes []runtime.Object
			for _, n := range g.nodes {
				labels := map[string]string{"nvidia.com/gpu.present": "true", labelDriver: driverPreInstalled}
				nodes = append(nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n, Labels: labels}})
			}
			kinds := map[schema.GroupVersionResource]string{{Group: "nvidia.com", Version: "v1alpha1", Resource: "gpuclusters"}: "GPUClusterList", nvidiaDrivers(): "NVIDIADriverList"}
			api := &kube.Cluster{
				Client:  fake.NewClientset(nodes...),
				Dynamic: dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), kinds, c.objects...),
			}
			if err := g.observePolicy(t.Context(), api, m); err != nil {
				t.Fatal(err)
			}
			f := healthy(g)
			f.policy, f.class = nil, &classFigures{Found: true}
			var found []sliceFigures
			for i, n := range g.nodes {
				f.nodes[i].Resources = map[string]resourceFigures{kube.GPUResource: {}}
				found = append(found, sliceFigures{Node: n, GPUs: 8, Slices: 1})
			}
			o, err := check.Observation{ID: "id-slices", Kind: kindSlices, Target: "cluster"}.WithFigures(found)
			if err != nil {
				t.Fatal(err)
			}
			j := plan.Judge(g, append(append(f.observations(t), o), m.obs...))
			text := said(j)
			if j.Verdict != c.want || !strings.Contains(text, c.says) {
				t.Errorf("%s, want %s with %q: %s", j.Verdict, c.want, c.says, text)
			}
			if j := plan.Judge(g, append(f.observations(t), o)); j.Verdict == check.Passed {
				t.Error("passes without the GPUCluster")
			}
		})
	}
}

// said are the reason and the findings of a judgement, a line each.
func said(j check.Judgement) string {
	lines := []string{j.Reason}
	for _, f := range j.Findings {
		lines = append(lines, f.Suspect+": "+f.Message)
	}
	return strings.Join(lines, "\n")
}
