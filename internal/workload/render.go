package workload

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/firstlight/firstlight/internal/podpatch"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// hostVolume is the name of the volume of a HostDirectory.
const hostVolume = "host"

// graceSeconds is the time between SIGTERM and SIGKILL: the programs save no state.
const graceSeconds = 5

// Manifests are the objects of a gang, in the order of creation.
type Manifests struct {
	Groups []*unstructured.Unstructured
	// Claim is the template of each pod's GPU claim; nil if the pods request the device
	// plugin's resource.
	Claim *resourcev1.ResourceClaimTemplate
	// Service is nil for a Kind whose controller creates it.
	Service *corev1.Service
	// Job has the pods of the gang. It is not created if Jobs are.
	Job *batchv1.Job
	// Jobs are the objects of a Kind; the last one is the job.
	Jobs []*unstructured.Unstructured
}

// Render returns the objects of a gang as a Kubernetes Job. It does no I/O. The error is that of a
// patch which changes or removes what the gang needs.
func Render(namespace, runID string, gang Scheduler, spec Spec) (Manifests, error) {
	return RenderKind(namespace, runID, gang, nil, spec)
}

// RenderKind is Render for another kind; nil is a Kubernetes Job.
func RenderKind(namespace, runID string, gang Scheduler, kind Kind, spec Spec) (Manifests, error) {
	labels := kube.Labels(runID, spec.Gate)
	meta := metav1.ObjectMeta{Name: spec.Name, Namespace: namespace, Labels: labels}
	m := Manifests{
		Service: &corev1.Service{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
			ObjectMeta: meta,
			Spec: corev1.ServiceSpec{
				ClusterIP:                corev1.ClusterIPNone,
				PublishNotReadyAddresses: true,
				Selector:                 map[string]string{batchv1.JobNameLabel: spec.Name},
			},
		},
		Job: &batchv1.Job{
			TypeMeta:   metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"},
			ObjectMeta: *meta.DeepCopy(),
			Spec: batchv1.JobSpec{
				Parallelism:    new(int32(spec.Pods)), //nolint:gosec // validated, small
				Completions:    new(int32(spec.Pods)), //nolint:gosec // validated, small
				CompletionMode: new(batchv1.IndexedCompletion),
				BackoffLimit:   new(spec.Restarts),
				Template: corev1.PodTemplateSpec{
					ObjectMeta: metav1.ObjectMeta{Labels: maps.Clone(labels)},
					Spec:       podSpec(runID, kind, spec),
				},
			},
		},
	}
	m.Claim = spec.request().ClaimTemplate(namespace, maps.Clone(labels))
	if gang != nil {
		m.Groups = gang.Decorate(Group{Namespace: namespace, Labels: labels, MinCount: spec.minCount(), Priority: kube.PriorityClassOf(runID), Spec: spec}, m.Job)
	}
	template, err := podpatch.Apply(m.Job.Spec.Template, spec.Patches...)
	if err != nil {
		return Manifests{}, fmt.Errorf("patch the pods of %s: %w", spec.Gate, err)
	}
	m.Job.Spec.Template = template
	if kind == nil {
		return m, nil
	}
	prepare(kind, &m, spec)
	if err := kind.Convert(&m, spec); err != nil {
		return Manifests{}, fmt.Errorf("make a %s of %s: %w", kind.Name(), spec.Name, err)
	}
	return m, nil
}

func podSpec(runID string, kind Kind, spec Spec) corev1.PodSpec {
	restart := corev1.RestartPolicyNever
	if spec.Restarts > 0 {
		restart = corev1.RestartPolicyOnFailure
	}
	pod := corev1.PodSpec{
		RestartPolicy:                 restart,
		Subdomain:                     spec.Name,
		PriorityClassName:             kube.PriorityClassOf(runID),
		AutomountServiceAccountToken:  new(false),
		EnableServiceLinks:            new(false),
		TerminationGracePeriodSeconds: new(int64(graceSeconds)),
		Tolerations: []corev1.Toleration{{
			Key: kube.GPUResource, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule,
		}},
		Affinity:   affinity(kind, spec),
		Containers: []corev1.Container{container(spec)},
		Volumes: []corev1.Volume{{
			Name:         "shm",
			VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory}},
		}},
	}
	if spec.HostDirectory != "" {
		pod.Volumes = append(pod.Volumes, corev1.Volume{
			Name: hostVolume,
			VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{
				Path: spec.HostDirectory, Type: new(corev1.HostPathDirectory), // must exist: the kubelet creates none
			}},
		})
	}
	if spec.Cordoned {
		pod.Tolerations = append(pod.Tolerations, corev1.Toleration{
			Key: corev1.TaintNodeUnschedulable, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule,
		})
	}
	spec.request().Set(&pod)
	return pod
}

func container(spec Spec) corev1.Container {
	c := corev1.Container{
		Name:         spec.Container,
		Image:        spec.Image,
		Command:      []string{"/bin/bash", "-ec", spec.Script},
		Env:          environment(spec.Env),
		VolumeMounts: []corev1.VolumeMount{{Name: "shm", MountPath: "/dev/shm"}},
	}
	if len(spec.Command) > 0 {
		c.Command = spec.Command
	}
	if spec.CPU != "" {
		c.Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(spec.CPU)} // validated
	}
	if spec.HostDirectory != "" {
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: hostVolume, MountPath: HostMount})
	}
	for _, p := range spec.Ports {
		c.Ports = append(c.Ports, corev1.ContainerPort{ContainerPort: p})
	}
	if spec.locksMemory() {
		c.Resources.Limits = corev1.ResourceList{corev1.ResourceName(spec.NetworkResource): *resource.NewQuantity(int64(spec.NetworkCount), resource.DecimalSI)}
		// RDMA requires locked memory.
		c.SecurityContext = &corev1.SecurityContext{Capabilities: &corev1.Capabilities{Add: []corev1.Capability{"IPC_LOCK"}}}
	}
	return c
}

func environment(env map[string]string) []corev1.EnvVar {
	out := make([]corev1.EnvVar, 0, len(env))
	for name, value := range env {
		out = append(out, corev1.EnvVar{Name: name, Value: value})
	}
	slices.SortFunc(out, func(a, b corev1.EnvVar) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

func affinity(kind Kind, spec Spec) *corev1.Affinity {
	var a corev1.Affinity
	if len(spec.Nodes) > 0 {
		a.NodeAffinity = &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
			NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{
				Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: spec.hostnames(),
			}}}},
		}}
	}
	if spec.OnePerNode {
		a.PodAntiAffinity = &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{podLabel(kind): spec.Name}},
			TopologyKey:   corev1.LabelHostname,
		}}}
	}
	if a.NodeAffinity == nil && a.PodAntiAffinity == nil {
		return nil
	}
	return &a
}
