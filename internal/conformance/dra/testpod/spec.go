package testpod

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/conformance/dra/inventory"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// Sleep is the last line of a script: the pod keeps running while other pods are read, but
// ends by itself.
const Sleep = "sleep 3600"

// lifetime limits a pod that is not removed, in seconds.
const lifetime = 3900

// claimEntry names the claim in a pod, request the one device of the claim.
const (
	claimEntry = "gpu"
	request    = "gpu"
)

// Spec describes one pod.
type Spec struct {
	// Name is the pod's, and its ResourceClaimTemplate's.
	Name string
	// Check is the name of the check that it belongs to.
	Check string
	Image string
	// Nodes that it may be placed on; empty: any.
	Nodes      []string
	Containers []Container
	// Claim, if set, requests one device.
	Claim *Claim
	// Shared names an existing ResourceClaim that other pods may use as well; Claim is nil
	// then.
	Shared string
	// Limits of the first container: the count of each extended resource.
	Limits map[string]int64
	// RuntimeClass of the pod; empty: the nodes' default.
	RuntimeClass string
	// HostFiles are files of the node, by their absolute paths. The first container has each of
	// them read-only at HostFile(path); the namespace must be at the level Privileged.
	HostFiles []string
}

// HostFile is the path in the container of a file of the node.
func HostFile(path string) string { return "/host" + path }

// Container describes a container of a pod.
type Container struct {
	Name string
	// Script is run by /bin/sh.
	Script string
	Env    []corev1.EnvVar
	// Claims: it names the pod's claim.
	Claims bool
}

// Claim requests one device of a class (default: the GPU driver's) that a CEL expression, if
// set, selects.
type Claim struct {
	CEL   string
	Class string
}

func (c Claim) spec() resourcev1.ResourceClaimSpec {
	exactly := &resourcev1.ExactDeviceRequest{DeviceClassName: cmp.Or(c.Class, inventory.Driver), AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1}
	if c.CEL != "" {
		exactly.Selectors = []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: c.CEL}}}
	}
	return resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{{Name: request, Exactly: exactly}}}}
}

// Template renders the template of the claim; nil for a pod without a claim.
func (s Spec) Template(runID, namespace string) *resourcev1.ResourceClaimTemplate {
	if s.Claim == nil {
		return nil
	}
	labels := kube.Labels(runID, s.Check)
	return &resourcev1.ResourceClaimTemplate{
		ObjectMeta: metav1.ObjectMeta{Name: s.Name, Namespace: namespace, Labels: labels},
		Spec: resourcev1.ResourceClaimTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec:       s.Claim.spec(),
		},
	}
}

// Pod renders the pod.
func (s Spec) Pod(runID, namespace string) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: s.Name, Namespace: namespace, Labels: kube.Labels(runID, s.Check)},
		Spec: corev1.PodSpec{
			RestartPolicy:                 corev1.RestartPolicyNever,
			PriorityClassName:             kube.PriorityClassOf(runID),
			AutomountServiceAccountToken:  new(false),
			EnableServiceLinks:            new(false),
			TerminationGracePeriodSeconds: new(int64(1)),
			ActiveDeadlineSeconds:         new(int64(lifetime)),
			Tolerations: []corev1.Toleration{{
				Key: kube.GPUResource, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule,
			}},
			Affinity: kube.OnNodes(s.Nodes),
		},
	}
	switch {
	case s.Claim != nil:
		pod.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: claimEntry, ResourceClaimTemplateName: new(s.Name)}}
	case s.Shared != "":
		pod.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: claimEntry, ResourceClaimName: new(s.Shared)}}
	}
	if s.RuntimeClass != "" {
		pod.Spec.RuntimeClassName = new(s.RuntimeClass)
	}
	for _, c := range s.Containers {
		pod.Spec.Containers = append(pod.Spec.Containers, s.container(c))
	}
	if len(s.Limits) > 0 && len(pod.Spec.Containers) > 0 {
		limits := corev1.ResourceList{}
		for name, n := range s.Limits {
			limits[corev1.ResourceName(name)] = *resource.NewQuantity(n, resource.DecimalSI)
		}
		pod.Spec.Containers[0].Resources.Limits = limits
	}
	for i, path := range s.HostFiles {
		name := fmt.Sprintf("host-%d", i)
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
			HostPath: &corev1.HostPathVolumeSource{Path: path, Type: new(corev1.HostPathFile)},
		}})
		first := &pod.Spec.Containers[0]
		first.VolumeMounts = append(first.VolumeMounts, corev1.VolumeMount{Name: name, MountPath: HostFile(path), ReadOnly: true})
	}
	return pod
}

func (s Spec) container(c Container) corev1.Container {
	out := corev1.Container{
		Name: c.Name, Image: s.Image, Command: []string{"/bin/sh", "-c", c.Script}, Env: slices.Clone(c.Env),
		// No access to devices except by the claim or resource under test.
		SecurityContext: &corev1.SecurityContext{
			Privileged: new(false), AllowPrivilegeEscalation: new(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		},
	}
	if c.Claims {
		out.Resources.Claims = []corev1.ResourceClaim{{Name: claimEntry}}
	}
	return out
}
