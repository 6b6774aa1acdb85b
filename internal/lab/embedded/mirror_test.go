package embedded

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/poll/polltest"
	"github.com/firstlight/firstlight/internal/world"
)

// ready returns nil if a Deployment of one replica has want ready pods.
func (b *bench) ready(t *testing.T, namespace, name string, want int32) error {
	t.Helper()
	d, err := b.Client.AppsV1().Deployments(namespace).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if d.Status.Replicas != 1 || d.Status.ReadyReplicas != want {
		return fmt.Errorf("%s has %d pods, %d ready", name, d.Status.Replicas, d.Status.ReadyReplicas)
	}
	return nil
}

func testMirror(t *testing.T, b *bench) {
	for namespace, name := range map[string]string{"monitoring": "prometheus-adapter", "kube-system": "karpenter"} {
		polltest.UntilNil(t, name+" to be ready", func() error { return b.ready(t, namespace, name, 1) })
	}
	adapter, err := b.Client.AppsV1().Deployments("monitoring").Get(t.Context(), "prometheus-adapter", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c := adapter.Spec.Template.Spec.Containers[0]
	if !slices.Contains(c.Args, "--metrics-relist-interval=2s") {
		t.Errorf("the adapter's arguments are %v", c.Args)
	}
	volume := adapter.Spec.Template.Spec.Volumes[0]
	config, err := b.Client.CoreV1().ConfigMaps("monitoring").Get(t.Context(), volume.ConfigMap.Name, metav1.GetOptions{})
	if err != nil || !strings.Contains(config.Data["adapter.yaml"], "as: dcgm_gpu_power_usage") ||
		!slices.Contains(c.Args, "--config="+c.VolumeMounts[0].MountPath+"/adapter.yaml") {
		t.Errorf("the adapter's rules are not at the path of its arguments: %v, %v", config, err)
	}
	karpenter, err := b.Client.AppsV1().Deployments("kube-system").Get(t.Context(), "karpenter", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if env := karpenter.Spec.Template.Spec.Containers[0].Env; !slices.Contains(env, corev1.EnvVar{Name: "BATCH_IDLE_DURATION", Value: "200ms"}) {
		t.Errorf("Karpenter's environment is %v", env)
	}
	polltest.UntilNil(t, "the controller manager's pod", func() error {
		pods, err := b.Client.CoreV1().Pods("kube-system").List(t.Context(), metav1.ListOptions{LabelSelector: "component=kube-controller-manager,tier=control-plane"})
		if err != nil {
			return err
		}
		if len(pods.Items) != 1 || pods.Items[0].Name != "kube-controller-manager-system-01" || !isReady(pods.Items[0]) {
			return fmt.Errorf("pods %d", len(pods.Items))
		}
		if command := pods.Items[0].Spec.Containers[0].Command; command[0] != "kube-controller-manager" || !slices.Contains(command, "--horizontal-pod-autoscaler-sync-period=1s") {
			t.Errorf("the command is %v", command)
		}
		return nil
	})
	exporter, err := b.Client.AppsV1().DaemonSets("gpu-operator").Get(t.Context(), "nvidia-dcgm-exporter", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if env := exporter.Spec.Template.Spec.Containers[0].Env; !slices.Contains(env, corev1.EnvVar{Name: "DCGM_EXPORTER_INTERVAL", Value: "1000"}) {
		t.Errorf("the exporter's environment is %v", env)
	}
}

func isReady(p corev1.Pod) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// powerOf returns the power in W of a pod's GPUs in an exposition.
func powerOf(text, pod string) []float64 {
	var out []float64
	for _, m := range regexp.MustCompile(`(?m)^DCGM_FI_DEV_POWER_USAGE\{[^}]*pod="`+pod+`"\} (\S+)$`).FindAllStringSubmatch(text, -1) {
		v, err := strconv.ParseFloat(m[1], 64)
		if err == nil {
			out = append(out, v)
		}
	}
	return out
}

// A load shows in the exporter while its pod runs.
func testForward(t *testing.T, b *bench) {
	b.namespace(t, "forward")
	pod, end := b.run(t, gpuPod{namespace: "forward", name: "load", container: "load", node: "gpu-02", gpus: 4, busy: true})
	idle, endIdle := b.run(t, gpuPod{namespace: "forward", name: "idle", container: "load", node: "gpu-02", gpus: 1})
	polltest.UntilNil(t, "the load to draw power", func() error {
		text := b.exporterOf(t, "gpu-02")
		watts, resting := powerOf(text, pod), powerOf(text, idle)
		if len(watts) != 4 || slices.Min(watts) < 650 || len(resting) != 1 || resting[0] > 75 {
			return fmt.Errorf("load %v W, idle %v W", watts, resting)
		}
		return nil
	})
	end()
	text := b.exporterOf(t, "gpu-02")
	if watts := powerOf(text, pod); len(watts) != 0 {
		t.Errorf("the ended load draws %v W", watts)
	}
	for _, line := range regexp.MustCompile(`(?m)^DCGM_FI_DEV_POWER_USAGE\{.*\} \S+$`).FindAllString(text, -1) {
		if v, err := strconv.ParseFloat(line[strings.LastIndex(line, " ")+1:], 64); err != nil || v > 75 {
			t.Errorf("without a load: %s", line)
		}
	}
	endIdle()
	repair := b.fault(t, world.Fault{Kind: "exporter-down", Target: "gpu-02"})
	if err := b.scraped(t, "gpu-02"); err == nil {
		t.Error("port forwarding to a stopped exporter works")
	}
	repair()
	polltest.UntilNil(t, "the exporter to be back", func() error { return b.scraped(t, "gpu-02") })
}

// scraped reads an exporter's metrics through the API server once.
func (b *bench) scraped(t *testing.T, node string) error {
	t.Helper()
	text, err := b.scrape(t, node)
	if err == nil && !strings.Contains(text, "DCGM_FI_DEV_POWER_USAGE{") {
		err = errors.New("no metrics")
	}
	return err
}
