package gpustack_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firstlight/firstlight/internal/e2e/binary"
	"github.com/firstlight/firstlight/internal/gate/gpustack"
	"github.com/firstlight/firstlight/internal/poll/polltest"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// toolsInPods accepts gate node on hosts without nvidia-smi and dcgmi: it runs them in the pods of the
// DaemonSets that the operator creates. Without DCGM's pods, which the chart leaves out by default, the gate is
// unobserved; a GPU that is off the bus fails it.
func toolsInPods(t *testing.T) {
	file := filepath.Join(t.TempDir(), "site.yaml")
	if err := os.WriteFile(file, []byte("reach: {gpuTools: pod}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	node := func() (binary.Acceptance, binary.Result) {
		t.Helper()
		return program.Accept(t, lab, "--site", file, "--only", "node")
	}
	program.Must(t, "lab", "fault", "add", "driver-in-pods", "--name", lab)
	defer program.Must(t, "lab", "fault", "clear", "--all", "--name", lab)

	if _, r := node(); r.Code != 3 || !strings.Contains(r.Stdout, "set dcgm.enabled: true in the ClusterPolicy") {
		t.Errorf("without DCGM's pods: exit %d: %s", r.Code, r.Stdout)
	}
	cluster := program.Cluster(t, lab)
	enable := []byte(`{"spec":{"dcgm":{"enabled":true}}}`)
	if _, err := cluster.Dynamic.Resource(gpustack.ClusterPolicies()).Patch(t.Context(), "cluster-policy", types.MergePatchType, enable, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	dcgm := operandPods(t, cluster, "nvidia-dcgm")
	driver := operandPods(t, cluster, "nvidia-driver-daemonset")
	a, r := node()
	if r.Code != 0 || a.Verdict != "passed" {
		t.Fatalf("exit %d: %s", r.Code, r.Stdout)
	}
	for kind, pods := range map[string][]string{"nvidia-smi": driver, "nvidia-smi-load": driver, "dcgmi-diag": dcgm} {
		origins := strings.Join(binary.Origins(t, a.Evidence, kind), "\n")
		for _, pod := range pods {
			if strings.Count(origins, "pod gpu-operator/"+pod+", container ") != 1 {
				t.Errorf("%s has not one observation of pod %s, but %s", kind, pod, origins)
			}
		}
	}

	program.Must(t, "lab", "fault", "add", "gpu-off-bus", "gpu-03/gpu5", "--name", lab)
	a, r = node()
	if r.Code != 1 {
		t.Errorf("a GPU off the bus: exit %d, want 1", r.Code)
	}
	judge(t, a, "node", regexp.MustCompile("^gpu-03/gpu5$"), "Unable to determine the device handle")
}

// operandPods waits until each GPU node has a ready pod of a DaemonSet that the operator has created for its
// ClusterPolicy, and returns the pods' names.
func operandPods(t *testing.T, cluster *kube.Cluster, name string) []string {
	t.Helper()
	var names []string
	polltest.UntilNil(t, "the pods of "+name, func() error {
		set, err := cluster.Client.AppsV1().DaemonSets("gpu-operator").Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if owner := metav1.GetControllerOf(set); owner == nil || owner.Kind != "ClusterPolicy" {
			return fmt.Errorf("DaemonSet %s is of %+v", name, owner)
		}
		pods, err := cluster.Client.CoreV1().Pods("gpu-operator").List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return err
		}
		names = nil
		for i := range pods.Items {
			p := &pods.Items[i]
			for _, c := range p.Status.Conditions {
				if metav1.IsControlledBy(p, set) && c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
					names = append(names, p.Name)
				}
			}
		}
		if len(names) != 4 {
			return fmt.Errorf("ready pods of DaemonSet %s: %v", name, names)
		}
		return nil
	})
	return names
}
