package track

import (
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// mostDesired bounds the history of the HPA's status.
const mostDesired = 2000

func (t *Tracker) hpaSource() source {
	return source{
		problem: snapshot.ProblemHPA, like: &autoscalingv2.HorizontalPodAutoscaler{},
		lw: chosen(t.o.Cluster.Client.AutoscalingV2().RESTClient(), "horizontalpodautoscalers", metav1.NamespaceAll, kube.LabelRun+"="+t.o.Run, ""),
		put: func(o runtime.Object, now time.Time) {
			if h, ok := o.(*autoscalingv2.HorizontalPodAutoscaler); ok {
				t.hpas.put(h.UID, func(row *snapshot.HPA) { readHPA(row, h, now) })
				t.putDesired(h, now)
			}
		},
		gone: func(o metav1.Object, now time.Time) { t.hpas.gone(o.GetUID(), now) },
	}
}

func readHPA(row *snapshot.HPA, h *autoscalingv2.HorizontalPodAutoscaler, now time.Time) {
	row.Ref = named("HorizontalPodAutoscaler", h)
	lives(&row.Life, h, now)
	row.Min, row.Max = 1, int(h.Spec.MaxReplicas)
	if h.Spec.MinReplicas != nil {
		row.Min = int(*h.Spec.MinReplicas)
	}
	row.Target = target(h.Spec.Metrics)
	var have []snapshot.Condition
	for _, c := range h.Status.Conditions {
		have = append(have, snapshot.Condition{Type: string(c.Type), Status: string(c.Status), Reason: c.Reason, Message: c.Message, At: c.LastTransitionTime.Time})
	}
	row.Conditions = held(row.Conditions, have, now)
}

// target is the HPA's average value per replica; 0 without one.
func target(metrics []autoscalingv2.MetricSpec) float64 {
	for _, m := range metrics {
		switch {
		case m.External != nil && m.External.Target.AverageValue != nil:
			return m.External.Target.AverageValue.AsApproximateFloat64()
		case m.Object != nil && m.Object.Target.AverageValue != nil:
			return m.Object.Target.AverageValue.AsApproximateFloat64()
		}
	}
	return 0
}

// putDesired appends a changed status to the history. A status without conditions was not
// written by the controller yet.
func (t *Tracker) putDesired(h *autoscalingv2.HorizontalPodAutoscaler, now time.Time) {
	if len(h.Status.Conditions) == 0 {
		return
	}
	d := snapshot.Desired{At: now, Current: int(h.Status.CurrentReplicas), Desired: int(h.Status.DesiredReplicas), Value: value(h)}
	if n := len(t.desired); n > 0 && same(t.desired[n-1], d) {
		return
	}
	if len(t.desired) == mostDesired {
		t.desired = t.desired[1:]
	}
	t.desired = append(t.desired, d)
}

func same(a, b snapshot.Desired) bool {
	values := a.Value == nil && b.Value == nil || a.Value != nil && b.Value != nil && *a.Value == *b.Value
	return a.Current == b.Current && a.Desired == b.Desired && values
}

// value is the metric in the HPA's status, which has the average over current replicas.
func value(h *autoscalingv2.HorizontalPodAutoscaler) *float64 {
	for _, m := range h.Status.CurrentMetrics {
		var average *resource.Quantity
		switch {
		case m.External != nil:
			average = m.External.Current.AverageValue
		case m.Object != nil:
			average = m.Object.Current.AverageValue
		}
		if average != nil {
			return new(average.AsApproximateFloat64() * float64(h.Status.CurrentReplicas))
		}
	}
	return nil
}
