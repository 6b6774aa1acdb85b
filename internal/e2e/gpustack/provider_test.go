package gpustack_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/suite"
)

// providerPlugin is a DaemonSet like GKE's own device plugin
// (github.com/GoogleCloudPlatform/container-engine-accelerators, cmd/nvidia_gpu/device-plugin.yaml).
func providerPlugin() *appsv1.DaemonSet {
	labels := map[string]string{"k8s-app": "nvidia-gpu-device-plugin"}
	return &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Name: "nvidia-gpu-device-plugin-large-cos", Namespace: metav1.NamespaceSystem, Labels: labels},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
						MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{"gpu-01", "gpu-02", "gpu-03", "gpu-04"}}},
					}}}}},
					Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
					Containers: []corev1.Container{{
						Name: "nvidia-gpu-device-plugin", Image: "gke.gcr.io/nvidia-gpu-device-plugin@sha256:" + strings.Repeat("a", 64),
						VolumeMounts: []corev1.VolumeMount{{Name: "device-plugin", MountPath: "/device-plugin"}},
					}},
					Volumes: []corev1.Volume{{Name: "device-plugin", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/var/lib/kubelet/device-plugins"}}}},
				},
			},
		},
	}
}

// providedSite has the keys that the lab's site differs in.
const providedSite = `reach: {gpuTools: host}
gpustack:
  managedBy: provider
  clusterPolicy: ""
  namespace: kube-system
  operands: ["nvidia-gpu-device-plugin-*"]
`

// TestProvider accepts gate gpustack of a cluster without the GPU Operator, whose provider installs the
// device plugin; without its DaemonSet the gate fails.
func TestProvider(t *testing.T) {
	suite.Require(t, suite.All)
	suite.Admit(t)
	const lab = "provider"
	if r := program.Run(t.Context(), "lab", "up", "--name", lab, "--stack", "none"); r.Code != 0 {
		t.Fatalf("lab up exited %d:\n%s", r.Code, r.Stderr)
	}
	t.Cleanup(func() {
		if r := program.Run(context.WithoutCancel(t.Context()), "lab", "down", "--name", lab); r.Code != 0 {
			t.Errorf("lab down exited %d: %s", r.Code, r.Stderr)
		}
	})
	file := filepath.Join(t.TempDir(), "site.yaml")
	if err := os.WriteFile(file, []byte(providedSite), 0o600); err != nil {
		t.Fatal(err)
	}
	gate := func() (verdict, out string) {
		r := program.Run(t.Context(), "accept", "-o", "json", "--only", "gpustack", "--lab", lab, "--site", file, "--evidence", t.TempDir())
		var doc struct {
			Verdict string `json:"verdict"`
		}
		if err := json.Unmarshal([]byte(r.Stdout), &doc); err != nil {
			t.Fatalf("accept exited %d, and its output is not JSON: %v\n%s%s", r.Code, err, r.Stdout, r.Stderr)
		}
		return doc.Verdict, r.Stdout
	}
	if verdict, out := gate(); verdict != "failed" || !strings.Contains(out, "DaemonSet kube-system/nvidia-gpu-device-plugin-*") {
		t.Errorf("without a device plugin: %s\n%s", verdict, out)
	}
	client := program.Cluster(t, lab).Client
	if _, err := client.AppsV1().DaemonSets(metav1.NamespaceSystem).Create(t.Context(), providerPlugin(), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, 5*time.Minute, true, func(ctx context.Context) (bool, error) {
		nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		with := 0
		for i := range nodes.Items {
			if kube.Count(nodes.Items[i].Status.Allocatable, kube.GPUResource) == 8 {
				with++
			}
		}
		return with == 4, nil
	})
	if err != nil {
		t.Fatalf("the nodes offer no GPUs: %v", err)
	}
	if verdict, out := gate(); verdict != "passed" {
		t.Errorf("%s\n%s", verdict, out)
	}
}
