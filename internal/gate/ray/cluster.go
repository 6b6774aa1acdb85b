package ray

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/guard"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// Labels of KubeRay on the pods of a RayCluster.
const (
	labelCluster = "ray.io/cluster"
	labelType    = "ray.io/node-type"
	typeHead     = "head"
)

// rayCluster are the fields that the gate reads (ray.io/v1, apis/ray/v1/raycluster_types.go).
type rayCluster struct {
	Spec struct {
		Suspend bool          `json:"suspend"`
		Scales  bool          `json:"enableInTreeAutoscaling"`
		Workers []workerGroup `json:"workerGroupSpecs"`
	} `json:"spec"`
	Status struct {
		State      string      `json:"state"`
		Reason     string      `json:"reason"`
		Observed   int64       `json:"observedGeneration"`
		Conditions []condition `json:"conditions"`
	} `json:"status"`
}

type workerGroup struct {
	Name     string `json:"groupName"`
	Replicas *int   `json:"replicas"`
	Min      *int   `json:"minReplicas"`
	Max      *int   `json:"maxReplicas"`
	Hosts    int    `json:"numOfHosts"`
	Suspend  bool   `json:"suspend"`
	// Start are the parameters of ray start. Resources replace those of them, since KubeRay 1.5.
	Start     map[string]string `json:"rayStartParams"`
	Resources map[string]string `json:"resources"`
	Template  struct {
		Spec corev1.PodSpec `json:"spec"`
	} `json:"template"`
}

// hasGPUs reports whether Ray may get GPUs with the group's pods: they request some, or ray start adds some.
func (w *workerGroup) hasGPUs() bool {
	if kube.PodRequest(&w.Template.Spec, kube.GPUResource) > 0 {
		return true
	}
	if given, ok := w.Start["num-gpus"]; ok && quantity(given) {
		return true
	}
	for name, given := range w.Resources {
		// KubeRay: a name with this end is num-gpus, in any case (IsGPUResourceKey).
		if strings.HasSuffix(strings.ToLower(name), "gpu") && quantity(given) {
			return true
		}
	}
	return false
}

// quantity reports whether a number of GPUs is above 0, or cannot be read.
func quantity(text string) bool {
	q, err := resource.ParseQuantity(text)
	return err != nil || q.Sign() > 0
}

// scales reports whether the autoscaler may change its number of pods. KubeRay: no minReplicas means 0, no maxReplicas
// means no limit.
func (w *workerGroup) scales() bool {
	return !w.Suspend && (w.Replicas == nil || w.Min == nil || *w.Min < *w.Replicas || w.Max == nil || *w.Max > *w.Replicas)
}

// observeCluster records the RayCluster.
func (g *Gate) observeCluster(ctx context.Context, cluster *kube.Cluster, rec check.Recorder) error {
	attempt := g.begin(rec, kindCluster, g.ref(), "GET raycluster.ray.io "+g.ref())
	found, err := cluster.Dynamic.Resource(kube.RayClusters()).Namespace(g.site.Ray.Namespace).Get(ctx, g.site.Ray.Cluster, metav1.GetOptions{})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return attempt.Record(nil, err)
	}
	raw, err := json.MarshalIndent(found.Object, "", " ")
	if err != nil {
		return attempt.Record(nil, err)
	}
	figures, err := parseCluster(raw, found)
	if err != nil {
		return attempt.Raw(raw).Record(nil, err)
	}
	return attempt.Raw(raw).Record(figures, nil)
}

// parseCluster reads a RayCluster.
func parseCluster(raw []byte, found *unstructured.Unstructured) (clusterFigures, error) {
	var c rayCluster
	if err := guard.JSON(raw, &c); err != nil {
		return clusterFigures{}, fmt.Errorf("not a RayCluster: %w", err)
	}
	f := clusterFigures{
		UID:   string(found.GetUID()),
		Spec:  specDigest(found, c.Spec.Scales),
		State: c.Status.State, Reason: c.Status.Reason, Suspended: c.Spec.Suspend, Generation: found.GetGeneration(), Observed: c.Status.Observed,
		Conditions: c.Status.Conditions, Groups: []group{},
	}
	for i := range c.Spec.Workers {
		w := &c.Spec.Workers[i]
		one := group{Name: w.Name, Suspended: w.Suspend, GPUs: w.hasGPUs(), Scales: c.Spec.Scales && w.scales()}
		if w.Replicas != nil {
			one.Pods = *w.Replicas * max(1, w.Hosts)
		}
		f.Scales = f.Scales || one.Scales && one.GPUs
		f.Groups = append(f.Groups, one)
	}
	return f, nil
}

// observePods records the pods of the RayCluster.
func (g *Gate) observePods(ctx context.Context, cluster *kube.Cluster, rec check.Recorder, kind string) ([]podFigures, error) {
	selector := labelCluster + "=" + g.site.Ray.Cluster
	attempt := g.begin(rec, kind, g.ref(), fmt.Sprintf("GET pods of %s with %s", g.site.Ray.Namespace, selector))
	list, err := cluster.Client.CoreV1().Pods(g.site.Ray.Namespace).List(ctx, metav1.ListOptions{LabelSelector: selector})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, attempt.Record(nil, err)
	}
	out := []podFigures{}
	for i := range list.Items {
		out = append(out, podOf(&list.Items[i]))
	}
	slices.SortFunc(out, func(a, b podFigures) int { return strings.Compare(a.Name, b.Name) })
	return out, attempt.Record(out, nil)
}

func podOf(p *corev1.Pod) podFigures {
	f := podFigures{
		Name: p.Name, UID: string(p.UID), Head: p.Labels[labelType] == typeHead, Node: p.Spec.NodeName, Address: p.Status.PodIP,
		GPUs: kube.PodRequest(&p.Spec, kube.GPUResource), Reason: p.Status.Reason, Terminating: p.DeletionTimestamp != nil,
	}
	for _, c := range p.Status.Conditions {
		switch {
		case c.Type == corev1.PodReady:
			f.Ready = c.Status == corev1.ConditionTrue && p.Status.Phase == corev1.PodRunning
		case c.Type == corev1.PodScheduled && c.Status != corev1.ConditionTrue:
			f.Reason = c.Reason + ": " + c.Message
		}
	}
	for _, c := range p.Status.ContainerStatuses {
		// KubeRay: the first container of the spec runs Ray. The kubelet sorts the statuses by name.
		if len(p.Spec.Containers) > 0 && c.Name == p.Spec.Containers[0].Name {
			f.Restarts = int(c.RestartCount)
			if c.State.Running != nil {
				f.Started = timeOf(c.State.Running.StartedAt)
			}
			if c.LastTerminationState.Terminated != nil {
				f.Ended = timeOf(c.LastTerminationState.Terminated.FinishedAt)
			}
		}
		if c.State.Waiting != nil {
			f.Reason = c.State.Waiting.Reason
		}
	}
	if f.Ready {
		f.Reason = ""
	} else if f.Reason == "" {
		f.Reason = string(p.Status.Phase)
	}
	return f
}

// timeOf is a time of the API; nil if it is zero.
func timeOf(at metav1.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	return new(at.UTC())
}

// live are the pods that are not being deleted.
func live(pods []podFigures) []podFigures {
	return slices.DeleteFunc(slices.Clone(pods), func(p podFigures) bool { return p.Terminating })
}

// headOf is the head's pod; nil unless there is exactly one.
func headOf(pods []podFigures) *podFigures {
	var out *podFigures
	for i := range pods {
		if !pods[i].Head {
			continue
		}
		if out != nil {
			return nil
		}
		out = &pods[i]
	}
	return out
}
