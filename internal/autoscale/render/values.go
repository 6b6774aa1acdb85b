package render

import (
	"errors"
	"fmt"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/podpatch"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/site"
)

// Gate is the label's value that objects of the chain carry.
const Gate = "autoscale"

// PoolLabel is the label of nodes that names their NodePool.
const PoolLabel = "karpenter.sh/nodepool"

// Values is everything that the objects of a run are made of.
type Values struct {
	Run       string
	Namespace string
	// Pool, Zero and Short are the NodePools of the run: that of the replicas, one
	// with limit 0, one that is a node short for the gang. With an existing pool or
	// node groups, Zero and Short are empty.
	Pool, Zero, Short string
	// Select are the labels of nodes that replicas go to.
	Select        map[string]string
	NodeClass     site.NodeClass
	InstanceTypes []string
	// Taint of the GPU nodes; Tainted: there is one.
	Taint   site.Taint
	Tainted bool
	// Stay: replicas go to Nodes, as many to one as fit; there are no pools.
	Stay bool
	// GPUs a replica, and what a node of the pool may have at most.
	GPUs, NodeGPUs int
	LoadGPUs       int
	// DeviceClass of the GPUs that pods claim; empty: they request the device plugin's resource.
	DeviceClass string
	Min, Max    int
	Gang        int
	// ShortGPUs is the GPU limit of the pool that is a node short.
	ShortGPUs int
	// Nodes are those of the inventory that the holder and the load may use.
	Nodes []string
	// Metric, Target (its unit, a replica) and Stabilization are the HPA's.
	Metric        snapshot.Metric
	Target        float64
	Stabilization time.Duration
	// ConsolidateAfter is how long a node must be quiet before it may go.
	ConsolidateAfter time.Duration
	WorkerImage      string
	LoadImage        string
	// LoadFor bounds the load.
	LoadFor time.Duration
	// Patches are the site's of the pods of all gates; only their tolerations in a namespace that the run creates.
	Patches []map[string]any
	// Queue is KAI's; empty for the default scheduler.
	Queue string
}

// The names of a run's objects in its namespace.
const (
	Worker    = "worker"
	Holder    = "holder"
	Load      = "load"
	ZeroPod   = "zero"
	GangJob   = "gang"
	ShortJob  = "gang-short"
	container = "load" // of the holder and the load; the metric's selector names it
)

// graceSeconds is how long a container has to end: nothing here has anything to save.
const graceSeconds = 5

// Validate reports missing values.
func (v Values) Validate() error {
	var problems []error
	for name, missing := range map[string]bool{
		"run": v.Run == "", "namespace": v.Namespace == "", "selector of nodes": len(v.Select) == 0 && !v.Stay, "worker image": v.WorkerImage == "",
		"load image": v.LoadImage == "", "metric": v.Metric.Name == "" || len(v.Metric.Selector) == 0, "nodes for the load": len(v.Nodes) == 0,
		"target": v.Target <= 0, "GPUs a replica": v.GPUs < 1 && !v.Stay, "GPUs of the load": v.LoadGPUs < 1, "room to scale": v.Min < 1 || v.Max <= v.Min,
	} {
		if missing {
			problems = append(problems, fmt.Errorf("cannot render the chain's objects: %s missing", name))
		}
	}
	bare := v
	bare.Patches = nil
	_, err := v.patched(bare.pod(Worker, v.WorkerImage, v.GPUs, nil))
	return errors.Join(append(problems, err)...)
}

func (v Values) labels(role string) map[string]string {
	l := kube.Labels(v.Run, Gate)
	if role != "" {
		l[kube.LabelRole] = role
	}
	return l
}

// ownTaint is on the nodes of the run's pools: Karpenter creates a node there for a pod of others only if
// no other NodePool has one for it (pkg/controllers/provisioning/scheduling/preferences.go). The clean-up keeps
// a node that has such a pod. PreferNoSchedule keeps no DaemonSet of the GPU stack off.
func (v Values) ownTaint() site.Taint {
	return site.Taint{Key: kube.LabelRun, Value: v.Run, Effect: string(corev1.TaintEffectPreferNoSchedule)}
}

// tolerations of pods for the GPU nodes of the pools.
func (v Values) tolerations() []corev1.Toleration {
	var out []corev1.Toleration
	add := func(t site.Taint) {
		out = append(out, corev1.Toleration{Key: t.Key, Operator: corev1.TolerationOpEqual, Value: t.Value, Effect: corev1.TaintEffect(t.Effect)})
	}
	if v.Tainted {
		add(v.Taint)
	}
	if v.Zero != "" {
		add(v.ownTaint())
	}
	return out
}

// pod is what all pods of the run have in common.
func (v Values) pod(name, image string, gpus int, tolerations []corev1.Toleration) corev1.PodSpec {
	pod := corev1.PodSpec{
		PriorityClassName:             kube.PriorityClassOf(v.Run),
		AutomountServiceAccountToken:  new(false),
		EnableServiceLinks:            new(false),
		TerminationGracePeriodSeconds: new(int64(graceSeconds)),
		Tolerations:                   tolerations,
		Containers: []corev1.Container{{
			Name: name, Image: image,
			Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10m"), corev1.ResourceMemory: resource.MustParse("32Mi")},
			},
			SecurityContext: &corev1.SecurityContext{
				AllowPrivilegeEscalation: new(false),
				Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
				SeccompProfile:           &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
		}},
	}
	v.request(gpus).Set(&pod)
	if patched, err := v.patched(pod); err == nil { // Validate reports the error
		pod = patched
	}
	return pod
}

func (v Values) patched(pod corev1.PodSpec) (corev1.PodSpec, error) {
	template, err := podpatch.Apply(corev1.PodTemplateSpec{Spec: pod}, v.Patches...)
	if err != nil {
		return pod, fmt.Errorf("patch the chain's pods: %w", err)
	}
	return template.Spec, nil
}

// scheduled hands a pod to KAI where the run has a queue.
func (v Values) scheduled(labels map[string]string, pod *corev1.PodSpec) map[string]string {
	if v.Queue == "" {
		return labels
	}
	pod.SchedulerName = kaiScheduler
	labels = maps.Clone(labels)
	labels[queueLabel] = v.Queue
	return labels
}
