package gpustack_test

import (
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/gpustack"
	chart "github.com/firstlight/firstlight/internal/lab/gpustack"
	"github.com/firstlight/firstlight/internal/lab/labtest"
	"github.com/firstlight/firstlight/internal/poll/polltest"
	"github.com/firstlight/firstlight/internal/suite"
	"github.com/firstlight/firstlight/internal/world"
)

var (
	definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	drivers     = schema.GroupVersionResource{Group: "nvidia.com", Version: "v1alpha1", Resource: "nvidiadrivers"}
)

// TestLiveNVIDIADrivers judges NVIDIADrivers of the definition in the GPU Operator's chart, with the
// pods of their DaemonSets, in a lab's API server. The operator's part, their status, is written as
// its controller does (controllers/nvidiadriver_controller.go). The gate fails for a node without an
// NVIDIADriver, for one with two, and for an NVIDIADriver whose state is notReady.
func TestLiveNVIDIADrivers(t *testing.T) {
	suite.Live(t)
	suite.Require(t, suite.All)
	l := labtest.Start(t, world.DefaultSpec(2))
	l.Retire() // its policy, definition and drivers stay
	b := bench{T: t, Lab: l}
	judge := func(name string, want check.Verdict, says string) {
		t.Helper()
		rec := &labtest.Recorder{T: t}
		g := gpustack.New(l.Site, l.Profile, gpustack.Deps{Cluster: l.Open, RunID: "live-drivers"})
		if err := g.Observe(t.Context(), rec); err != nil {
			t.Fatal(err)
		}
		j := g.Judge(rec.Observations())
		lines := []string{j.Reason}
		for _, f := range j.Findings {
			lines = append(lines, f.Suspect+": "+f.Message)
		}
		text := strings.Join(lines, "\n")
		if j.Verdict != want || !strings.Contains(text, says) {
			t.Errorf("%s: %s, want %s with %q: %s", name, j.Verdict, want, says, text)
		}
	}
	b.useDrivers()
	judge("no definition", check.Failed, "does not serve nvidiadrivers.nvidia.com")
	b.define()
	judge("no driver", check.Failed, "NVIDIADriver: the cluster has no NVIDIADriver")
	b.driver("first", "gpu-01")
	judge("one node", check.Failed, "gpu-02/nvidia driver: no NVIDIADriver selects node gpu-02")
	b.driver("second", "gpu-02")
	judge("every node", check.Passed, "")
	b.status("second", "notReady", "Error", "DriverNotReady", "Waiting for driver pod to be ready")
	judge("not ready", check.Failed, "NVIDIADriver second: state is \"notReady\"")
	b.status("second", "ready", "Ready", "Reconciled", "All resources have been successfully reconciled")
	b.driver("third", "gpu-01")
	judge("two on a node", check.Failed, "gpu-01/nvidia driver: NVIDIADrivers first and third select node gpu-01")
}

type bench struct {
	*testing.T
	*labtest.Lab
}

func (b bench) useDrivers() {
	patch := []byte(`{"spec":{"driver":{"useNvidiaDriverCRD":true}}}`)
	if _, err := b.Cluster.Dynamic.Resource(gpustack.ClusterPolicies()).Patch(b.Context(), b.Site.GPUStack.ClusterPolicy, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		b.Fatal(err)
	}
}

// define creates the definition of the chart.
func (b bench) define() {
	r, err := chart.Render(b.Context(), nil)
	if err != nil {
		b.Fatal(err)
	}
	for _, d := range r.Definitions {
		if d.GetName() == "nvidiadrivers.nvidia.com" {
			if _, err := b.Cluster.Dynamic.Resource(definitions).Create(b.Context(), d, metav1.CreateOptions{}); err != nil {
				b.Fatal(err)
			}
		}
	}
	polltest.UntilNil(b.T, "nvidiadrivers to be served", func() error {
		_, err := b.Cluster.Dynamic.Resource(drivers).List(b.Context(), metav1.ListOptions{})
		return err
	})
}

// driver creates an NVIDIADriver of a node, and waits for the pod of its DaemonSet there.
func (b bench) driver(name, node string) {
	made, err := b.Cluster.Dynamic.Resource(drivers).Create(b.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "nvidia.com/v1alpha1", "kind": "NVIDIADriver", "metadata": map[string]any{"name": name},
		"spec": map[string]any{
			"driverType": "gpu", "image": "driver", "repository": "nvcr.io/nvidia", "version": "580.105.08", "nodeSelector": map[string]any{corev1.LabelHostname: node},
		},
	}}, metav1.CreateOptions{})
	if err != nil {
		b.Fatal(err)
	}
	b.status(name, "ready", "Ready", "Reconciled", "All resources have been successfully reconciled")
	app := map[string]string{"app": "nvidia-gpu-driver-ubuntu22.04-" + name}
	labels := map[string]string{"app": app["app"], "app.kubernetes.io/component": "nvidia-driver"}
	namespace, yes := b.Site.GPUStack.Namespace, true
	if _, err := b.Cluster.Client.AppsV1().DaemonSets(namespace).Create(b.Context(), &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Name: app["app"], Labels: labels, OwnerReferences: []metav1.OwnerReference{{
			APIVersion: "nvidia.com/v1alpha1", Kind: "NVIDIADriver", Name: name, UID: made.GetUID(), Controller: &yes,
		}}},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: app},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{
				NodeSelector: map[string]string{corev1.LabelHostname: node},
				Tolerations:  []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
				Containers:   []corev1.Container{{Name: "nvidia-driver-ctr", Image: "nvcr.io/nvidia/driver:580.105.08-ubuntu22.04"}},
			}},
		},
	}, metav1.CreateOptions{}); err != nil {
		b.Fatal(err)
	}
	polltest.UntilNil(b.T, "the driver pod of "+name, func() error {
		set, err := b.Cluster.Client.AppsV1().DaemonSets(namespace).Get(b.Context(), app["app"], metav1.GetOptions{})
		if err == nil && (set.Status.NumberReady != 1 || set.Status.DesiredNumberScheduled != 1) {
			err = fmt.Errorf("%d of %d pods are ready", set.Status.NumberReady, set.Status.DesiredNumberScheduled)
		}
		return err
	})
}

// status writes an NVIDIADriver's status as the operator does: its condition is Ready or Error.
func (b bench) status(name, state, condition, reason, message string) {
	api := b.Cluster.Dynamic.Resource(drivers)
	o, err := api.Get(b.Context(), name, metav1.GetOptions{})
	if err != nil {
		b.Fatal(err)
	}
	at := metav1.Now().UTC().Format("2006-01-02T15:04:05Z")
	one := func(kind, status, reason, message string) any {
		return map[string]any{"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": at}
	}
	conditions := []any{one("Ready", "True", reason, message), one("Error", "False", "Ready", "")}
	if condition == "Error" {
		conditions = []any{one("Ready", "False", "Error", ""), one("Error", "True", reason, message)}
	}
	o.Object["status"] = map[string]any{"state": state, "conditions": conditions}
	if _, err := api.UpdateStatus(b.Context(), o, metav1.UpdateOptions{}); err != nil {
		b.Fatal(err)
	}
}
