package gpustack_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firstlight/firstlight/internal/poll/polltest"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/suite"
)

var nvidiaDrivers = schema.GroupVersionResource{Group: "nvidia.com", Version: "v1alpha1", Resource: "nvidiadrivers"}

// TestNVIDIADrivers accepts gate gpustack on a lab where NVIDIA's operator installs the driver for
// NVIDIADrivers: its chart with driver.nvidiaDriverCRD.enabled. A node that no NVIDIADriver selects
// fails the gate, and so do two NVIDIADrivers of one node: the operator leaves state ready in the
// status of the one that it refuses.
func TestNVIDIADrivers(t *testing.T) {
	suite.Require(t, suite.All)
	suite.Admit(t)
	const name = "driver-crd"
	ctx, cancel := context.WithTimeout(t.Context(), 75*time.Minute) // upstream programs may have to be built
	defer cancel()
	t.Cleanup(func() {
		if r := program.Run(context.WithoutCancel(t.Context()), "lab", "down", "--name", name); r.Code != 0 {
			t.Errorf("lab down exited %d: %s", r.Code, r.Stderr)
		}
	})
	if r := program.Run(ctx, "lab", "up", "--name", name, "--stack", "none", "--nodes", "2"); r.Code != 0 {
		t.Fatalf("lab up exited %d:\n%s", r.Code, r.Stderr)
	}
	data, err := os.ReadFile(example)
	if err != nil {
		t.Fatal(err)
	}
	const key, operands = "        rdma: {enabled: true}\n", "gpustack: {operands: [nvidia-container-toolkit-daemonset, nvidia-device-plugin-daemonset, nvidia-dcgm-exporter, gpu-feature-discovery, nvidia-operator-validator]}\n"
	if strings.Count(string(data), key) != 1 {
		t.Fatalf("the example has no line %q", key)
	}
	dir := t.TempDir()
	installs, installed := filepath.Join(dir, "install.yaml"), filepath.Join(dir, "installed.yaml")
	for path, text := range map[string]string{
		installs: strings.Replace(string(data), key, key+"        nvidiaDriverCRD: {enabled: true}\n", 1) + operands, installed: operands,
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	accept := func(file string, code int, suspect, says string) {
		t.Helper()
		a, r := program.Accept(t, name, "--site", file, "--only", "gpustack")
		found := suspect == ""
		for _, g := range a.Gates {
			for _, f := range g.Findings {
				found = found || f.Suspect == suspect && strings.Contains(f.Message, says)
			}
		}
		if r.Code != code || !found {
			t.Errorf("exit %d, want %d with %s: %q: %s", r.Code, code, suspect, says, r.Stdout)
		}
	}
	accept(installs, 0, "", "")
	cluster := program.Cluster(t, name)
	selectNode(t, cluster, "default", "gpu-01")
	awaitPods(t, cluster, "gpu-01")
	accept(installed, 1, "gpu-02/nvidia driver", "no NVIDIADriver selects node gpu-02")
	second, err := cluster.Dynamic.Resource(nvidiaDrivers).Get(t.Context(), "default", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	second.Object["metadata"] = map[string]any{"name": "second"}
	second.Object["spec"].(map[string]any)["nodeSelector"] = map[string]any{corev1.LabelHostname: "gpu-02"}
	delete(second.Object, "status")
	if _, err := cluster.Dynamic.Resource(nvidiaDrivers).Create(t.Context(), second, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	awaitPods(t, cluster, "gpu-01", "gpu-02")
	accept(installed, 0, "", "")
	selectNode(t, cluster, "second", "gpu-01")
	polltest.UntilNil(t, "the operator to refuse the second NVIDIADriver", func() error {
		d, err := cluster.Dynamic.Resource(nvidiaDrivers).Get(t.Context(), "second", metav1.GetOptions{})
		if err == nil && !strings.Contains(fmt.Sprint(d.Object["status"]), "ConflictingNodeSelector") {
			err = fmt.Errorf("%v", d.Object["status"])
		}
		return err
	})
	accept(installed, 1, "NVIDIADriver second", "conflicting NVIDIADriver NodeSelectors found")
	accept(installed, 1, "gpu-01/nvidia driver", "NVIDIADrivers default and second select node gpu-01")
}

// selectNode lets an NVIDIADriver select one node.
func selectNode(t *testing.T, cluster *kube.Cluster, driver, node string) {
	t.Helper()
	patch := fmt.Appendf(nil, `{"spec":{"nodeSelector":{%q:%q}}}`, corev1.LabelHostname, node)
	if _, err := cluster.Dynamic.Resource(nvidiaDrivers).Patch(t.Context(), driver, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
}

// awaitPods waits until these nodes, and no others, have a ready driver pod, and the operator's upgrade
// controller, which cordons nodes, has ended on them.
func awaitPods(t *testing.T, cluster *kube.Cluster, nodes ...string) {
	t.Helper()
	polltest.UntilNil(t, "the driver pods", func() error {
		list, err := cluster.Client.CoreV1().Pods("gpu-operator").List(t.Context(), metav1.ListOptions{LabelSelector: "app.kubernetes.io/component=nvidia-driver"})
		if err != nil {
			return err
		}
		ready := map[string]bool{}
		for _, p := range list.Items {
			for _, c := range p.Status.Conditions {
				if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue && p.DeletionTimestamp == nil {
					ready[p.Spec.NodeName] = true
				}
			}
		}
		for _, node := range nodes {
			if !ready[node] {
				return fmt.Errorf("%s has no ready driver pod", node)
			}
		}
		if len(ready) != len(nodes) {
			return fmt.Errorf("driver pods are on %v, want %v", ready, nodes)
		}
		for _, name := range nodes {
			node, err := cluster.Client.CoreV1().Nodes().Get(t.Context(), name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			if state := node.Labels["nvidia.com/gpu-driver-upgrade-state"]; node.Spec.Unschedulable || state != "upgrade-done" {
				return fmt.Errorf("%s: cordoned %t, driver upgrade %q", name, node.Spec.Unschedulable, state)
			}
		}
		return nil
	})
}
