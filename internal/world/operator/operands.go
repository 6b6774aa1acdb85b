package operator

import (
	"bytes"
	_ "embed"
	"fmt"
	"strconv"

	"go.yaml.in/yaml/v3"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/world/exporter"
)

//go:embed operands.yaml
var operandsYAML []byte

// daemonSet is one DaemonSet of the operator.
type daemonSet struct {
	Name      string `yaml:"name"`
	State     string `yaml:"state"`
	Label     string `yaml:"label"`
	Container string `yaml:"container"`
	Image     string `yaml:"image"`
	Scrape    bool   `yaml:"scrape"`
	Tools     bool   `yaml:"tools"`
	// Mounts is a directory of the host; empty: none.
	Mounts string `yaml:"mounts"`
}

func loadOperands() ([]daemonSet, error) {
	var all []daemonSet
	dec := yaml.NewDecoder(bytes.NewReader(operandsYAML))
	dec.KnownFields(true)
	if err := dec.Decode(&all); err != nil {
		return nil, fmt.Errorf("decode operands: %w", err)
	}
	return all, nil
}

// render returns the API object. The exporter is in the host network, where the world's exporters
// listen.
func (o daemonSet) render(exporterPort int) *appsv1.DaemonSet {
	labels := map[string]string{"app": o.Name}
	template := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": o.Name, "app.kubernetes.io/managed-by": "gpu-operator"}},
		Spec: corev1.PodSpec{
			NodeSelector:      map[string]string{o.Label: "true"},
			PriorityClassName: "system-node-critical",
			Tolerations: []corev1.Toleration{
				{Key: "nvidia.com/gpu", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule},
			},
			Containers: []corev1.Container{{Name: o.Container, Image: o.Image}},
		},
	}
	if o.Mounts != "" {
		template.Spec.Volumes = []corev1.Volume{{Name: "device-plugin", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: o.Mounts}}}}
		template.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "device-plugin", MountPath: o.Mounts}}
	}
	if o.Scrape {
		template.Annotations = map[string]string{"prometheus.io/scrape": "true", "prometheus.io/port": strconv.Itoa(exporterPort)}
		template.Spec.HostNetwork = true
		template.Spec.Containers[0].Env = []corev1.EnvVar{
			{Name: "DCGM_EXPORTER_LISTEN", Value: ":" + strconv.Itoa(exporterPort)},
			{Name: "DCGM_EXPORTER_KUBERNETES", Value: "true"},
			{Name: "DCGM_EXPORTER_INTERVAL", Value: strconv.Itoa(int(exporter.Interval.Milliseconds()))},
		}
		template.Spec.Containers[0].Ports = []corev1.ContainerPort{{Name: "metrics", ContainerPort: int32(exporterPort)}} //nolint:gosec // a port
	}
	return &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{
			Name: o.Name, Namespace: Namespace,
			Labels: map[string]string{"app": o.Name, "app.kubernetes.io/managed-by": "gpu-operator"},
		},
		Spec: appsv1.DaemonSetSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: template},
	}
}
