package podpatch

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// pod is what a gate needs.
func pod() corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"firstlight.dev/run": "r1"}},
		Spec: corev1.PodSpec{
			RestartPolicy:     corev1.RestartPolicyNever,
			PriorityClassName: "firstlight-r1",
			Tolerations:       []corev1.Toleration{{Key: "nvidia.com/gpu", Operator: corev1.TolerationOpExists}},
			Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
				NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "h", Operator: "In", Values: []string{"gpu-01"}}}}},
			}}},
			Containers: []corev1.Container{{
				Name: "vllm", Image: "vllm:1", Command: []string{"/bin/bash", "-ec", "serve"},
				Env:       []corev1.EnvVar{{Name: "MODEL", Value: "llama"}},
				Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("8")}},
				SecurityContext: &corev1.SecurityContext{Capabilities: &corev1.Capabilities{
					Add: []corev1.Capability{"IPC_LOCK"},
				}},
				VolumeMounts: []corev1.VolumeMount{{Name: "shm", MountPath: "/dev/shm"}},
			}},
			Volumes: []corev1.Volume{{Name: "shm", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{Medium: "Memory"}}}},
		},
	}
}

func TestApplyAdds(t *testing.T) {
	t.Parallel()
	common := parse(t, "spec: {tolerations: [{key: maintenance, operator: Exists}]}")
	got, err := Apply(pod(), common, parse(t, usual))
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, toleration := range got.Spec.Tolerations {
		keys = append(keys, toleration.Key)
	}
	if text := strings.Join(keys, " "); text != "nvidia.com/gpu maintenance dedicated" {
		t.Errorf("tolerations %s", text)
	}
	c := got.Spec.Containers[0]
	if len(got.Spec.Containers) != 1 || len(c.Env) != 3 || len(c.VolumeMounts) != 2 || len(got.Spec.Volumes) != 2 || len(got.Spec.InitContainers) != 1 {
		t.Errorf("%+v", got.Spec)
	}
	if gpus := c.Resources.Limits["nvidia.com/gpu"]; gpus.Value() != 8 || c.Resources.Requests.Memory().String() != "64Gi" {
		t.Errorf("resources %+v", c.Resources)
	}
	if got.Annotations["k8s.v1.cni.cncf.io/networks"] != "rdma-net" || got.Labels["firstlight.dev/run"] != "r1" {
		t.Errorf("metadata %+v", got.ObjectMeta)
	}
}

// A patch once could remove the label by which the clean-up finds the pods, or the limit by
// which a gate counts its GPUs.
func TestApplyKeepsWhatTheGateNeeds(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ patch, path string }{
		"label":        {"metadata: {labels: {firstlight.dev/run: other}}", "metadata.labels.firstlight.dev/run"},
		"limit":        {`spec: {containers: [{name: vllm, resources: {limits: {nvidia.com/gpu: "1"}}}]}`, "nvidia.com/gpu"},
		"image":        {"spec: {containers: [{name: vllm, image: other}]}", "spec.containers.0.image"},
		"command":      {"spec: {containers: [{name: vllm, command: [sleep]}]}", "spec.containers.0.command.0"},
		"environment":  {"spec: {containers: [{name: vllm, env: [{name: MODEL, value: small}]}]}", "spec.containers.0.env.0.value"},
		"capability":   {"spec: {containers: [{name: vllm, securityContext: {capabilities: {add: [SYS_PTRACE]}}}]}", "capabilities.add.0"},
		"node":         {"spec: {affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: h, operator: Exists}]}]}}}}", "nodeSelectorTerms.0"},
		"priority":     {"spec: {priorityClassName: system-node-critical}", "spec.priorityClassName"},
		"restart":      {"spec: {restartPolicy: Always}", "spec.restartPolicy"},
		"shared mount": {"spec: {volumes: [{name: shm, emptyDir: {medium: \"\"}}]}", "spec.volumes.0.emptyDir"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Apply(pod(), parse(t, tt.patch))
			if err == nil || !strings.Contains(err.Error(), tt.path) || !strings.HasSuffix(err.Error(), remedy) {
				t.Errorf("%v, want an error at %s, with the remedy", err, tt.path)
			}
		})
	}
}
