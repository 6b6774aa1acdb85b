package render

import (
	"math"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
)

// scalingPeriod is the period of the HPA's policies, in which it may go all the way.
const scalingPeriod = 15

// HPA scales the Deployment on the metric.
func HPA(v Values) *autoscalingv2.HorizontalPodAutoscaler {
	return &autoscalingv2.HorizontalPodAutoscaler{
		TypeMeta:   metav1.TypeMeta{APIVersion: "autoscaling/v2", Kind: "HorizontalPodAutoscaler"},
		ObjectMeta: metav1.ObjectMeta{Name: Worker, Namespace: v.Namespace, Labels: v.labels(snapshot.RoleWorker)},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: Worker},
			MinReplicas:    new(int32(v.Min)), //nolint:gosec // validated by the site, small
			MaxReplicas:    int32(v.Max),      //nolint:gosec // validated by the site, small
			Metrics:        []autoscalingv2.MetricSpec{metricSpec(v)},
			Behavior: &autoscalingv2.HorizontalPodAutoscalerBehavior{
				ScaleUp: &autoscalingv2.HPAScalingRules{
					StabilizationWindowSeconds: new(int32(0)),
					Policies:                   []autoscalingv2.HPAScalingPolicy{{Type: autoscalingv2.PodsScalingPolicy, Value: int32(v.Max), PeriodSeconds: scalingPeriod}}, //nolint:gosec // small
				},
				ScaleDown: &autoscalingv2.HPAScalingRules{
					StabilizationWindowSeconds: new(int32(v.Stabilization.Seconds())),
					Policies:                   []autoscalingv2.HPAScalingPolicy{{Type: autoscalingv2.PercentScalingPolicy, Value: 100, PeriodSeconds: scalingPeriod}},
				},
			},
		},
	}
}

func metricSpec(v Values) autoscalingv2.MetricSpec {
	metric := autoscalingv2.MetricIdentifier{Name: v.Metric.Name, Selector: &metav1.LabelSelector{MatchLabels: v.Metric.Selector}}
	target := autoscalingv2.MetricTarget{
		Type:         autoscalingv2.AverageValueMetricType,
		AverageValue: resource.NewMilliQuantity(int64(math.Round(v.Target*1000)), resource.DecimalSI),
	}
	if v.Metric.API == "custom" {
		return autoscalingv2.MetricSpec{Type: autoscalingv2.ObjectMetricSourceType, Object: &autoscalingv2.ObjectMetricSource{
			DescribedObject: autoscalingv2.CrossVersionObjectReference{APIVersion: "v1", Kind: "Namespace", Name: v.Namespace},
			Metric:          metric, Target: target,
		}}
	}
	return autoscalingv2.MetricSpec{Type: autoscalingv2.ExternalMetricSourceType, External: &autoscalingv2.ExternalMetricSource{Metric: metric, Target: target}}
}
