package track

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/firstlight/firstlight/internal/autoscale/render"
	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// queueLabel names a pod's KAI queue.
const queueLabel = "kai.scheduler/queue"

func (t *Tracker) podSource() source {
	return source{
		problem: snapshot.ProblemPods, like: &corev1.Pod{},
		lw: chosen(t.o.Cluster.Client.CoreV1().RESTClient(), "pods", metav1.NamespaceAll, kube.LabelRun+"="+t.o.Run, ""),
		put: func(o runtime.Object, now time.Time) {
			if p, ok := o.(*corev1.Pod); ok {
				t.pods.put(p.UID, func(row *snapshot.Pod) { readPod(row, p, now) })
			}
		},
		gone: func(o metav1.Object, now time.Time) { t.pods.gone(o.GetUID(), now) },
	}
}

// readPod updates a pod's row.
func readPod(row *snapshot.Pod, p *corev1.Pod, now time.Time) {
	row.Ref = named("Pod", p)
	lives(&row.Life, p, now)
	row.Role, row.Queue = p.Labels[kube.LabelRole], p.Labels[queueLabel]
	row.Phase, row.Node, row.Scheduler = string(p.Status.Phase), p.Spec.NodeName, p.Spec.SchedulerName
	row.GPUs = kube.PodRequest(&p.Spec, kube.GPUResource) + render.ClaimedGPUs(&p.Spec)
	row.Selector = p.Spec.NodeSelector
	row.Tolerates = nil
	for _, tol := range p.Spec.Tolerations {
		row.Tolerates = append(row.Tolerates, tolerates(tol))
	}
	var have []snapshot.Condition
	for _, c := range p.Status.Conditions {
		have = append(have, snapshot.Condition{Type: string(c.Type), Status: string(c.Status), Reason: c.Reason, Message: c.Message, At: c.LastTransitionTime.Time})
	}
	row.Conditions = held(row.Conditions, have, now)
	if row.Node != "" && row.BoundAt.IsZero() {
		row.BoundAt = now
	}
	if _, ready := snapshot.Is(row.Conditions, string(corev1.PodReady)); ready && row.ReadyAt.IsZero() {
		row.ReadyAt = now
	}
	row.Why = whyPod(p)
}

// tolerates formats a toleration as key=value:effect.
func tolerates(t corev1.Toleration) string {
	text := t.Key
	if text == "" {
		return "*"
	}
	if t.Operator != corev1.TolerationOpExists && t.Value != "" {
		text += "=" + t.Value
	}
	if t.Effect != "" {
		text += ":" + string(t.Effect)
	}
	return text
}

// whyPod is why a container waits or failed.
func whyPod(p *corev1.Pod) string {
	for _, c := range append(append([]corev1.ContainerStatus{}, p.Status.InitContainerStatuses...), p.Status.ContainerStatuses...) {
		if w := c.State.Waiting; w != nil && w.Reason != "ContainerCreating" && w.Reason != "PodInitializing" {
			return join(c.Name, w.Reason, w.Message)
		}
		if e := c.State.Terminated; e != nil && e.ExitCode != 0 {
			return join(c.Name, e.Reason, e.Message)
		}
	}
	return join("", p.Status.Reason, p.Status.Message)
}

func join(parts ...string) string {
	text := ""
	for _, p := range parts {
		switch {
		case p == "":
		case text == "":
			text = p
		default:
			text += ": " + p
		}
	}
	return text
}
