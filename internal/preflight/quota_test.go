package preflight

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/workload"
)

func TestJudgeQuotas(t *testing.T) {
	t.Parallel()
	quota := func(scopes []corev1.ResourceQuotaScope, pairs ...string) quotaFacts {
		q := corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "team"}, Spec: corev1.ResourceQuotaSpec{Scopes: scopes, Hard: corev1.ResourceList{}}, Status: corev1.ResourceQuotaStatus{Used: corev1.ResourceList{}}}
		for i := 0; i+2 < len(pairs); i += 3 {
			q.Spec.Hard[corev1.ResourceName(pairs[i])], q.Status.Used[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1]), resource.MustParse(pairs[i+2])
		}
		return quotaFacts{quotas: []corev1.ResourceQuota{q}}
	}
	defaulted := quota(nil, "requests.cpu", "4", "0")
	defaulted.limits = []corev1.LimitRange{{Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{Type: corev1.LimitTypeContainer, DefaultRequest: corev1.ResourceList{"cpu": resource.MustParse("2")}}}}}}
	tooMuch := defaulted
	tooMuch.quotas = quota(nil, "requests.cpu", "4", "1").quotas
	limit := func(kind corev1.LimitType, most string) quotaFacts {
		return quotaFacts{limits: []corev1.LimitRange{{ObjectMeta: metav1.ObjectMeta{Name: "small"}, Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{Type: kind, Max: corev1.ResourceList{kube.GPUResource: resource.MustParse(most)}}}}}}}
	}
	byClass := quota(nil, "pods", "0", "0")
	byClass.quotas[0].Spec.ScopeSelector = &corev1.ScopeSelector{MatchExpressions: []corev1.ScopedResourceSelectorRequirement{{ScopeName: corev1.ResourceQuotaScopePriorityClass, Operator: corev1.ScopeSelectorOpIn, Values: []string{"high"}}}}
	for name, tt := range map[string]struct {
		f    quotaFacts
		err  error
		want []string
	}{
		"none":                {quotaFacts{}, nil, nil},
		"unread":              {quotaFacts{}, errors.New("down"), []string{"unobserved quota x: down"}},
		"enough GPUs":         {quota(nil, "requests.nvidia.com/gpu", "16", "0"), nil, nil},
		"used GPUs":           {quota(nil, "requests.nvidia.com/gpu", "16", "1"), nil, []string{"would-stop quota x: ResourceQuota team: gate telemetry needs 16 of requests.nvidia.com/gpu, 15 of 16 are left"}},
		"pods":                {quota(nil, "pods", "1", "0", "count/jobs.batch", "0", "0"), nil, []string{"would-stop quota x: needs 1 of count/jobs.batch, 0 of 0 are left; needs 2 of pods, 1 of 1 are left"}},
		"services":            {quota(nil, "services", "3", "3"), nil, []string{"would-stop quota x: needs 1 of services"}},
		"other resources":     {quota(nil, "persistentvolumeclaims", "0", "0"), nil, nil},
		"CPU not set":         {quota(nil, "limits.memory", "1Gi", "0"), nil, []string{"would-stop quota x: must set limits.memory"}},
		"CPU by default":      {defaulted, nil, nil},
		"CPU, too little":     {tooMuch, nil, []string{"would-stop quota x: needs 4 of requests.cpu, 3 of 4 are left"}},
		"with a deadline":     {quota([]corev1.ResourceQuotaScope{corev1.ResourceQuotaScopeTerminating}, "pods", "0", "0"), nil, nil},
		"without a deadline":  {quota([]corev1.ResourceQuotaScope{corev1.ResourceQuotaScopeNotTerminating}, "pods", "0", "0"), nil, []string{"would-stop quota x: needs 2 of pods"}},
		"best effort":         {quota([]corev1.ResourceQuotaScope{corev1.ResourceQuotaScopeBestEffort}, "pods", "0", "0"), nil, []string{"would-stop quota x: needs 2 of pods"}},
		"of another class":    {byClass, nil, nil},
		"limit of containers": {limit(corev1.LimitTypeContainer, "4"), nil, []string{"would-stop quota x: LimitRange small allows 4 of nvidia.com/gpu for each container, its pods have 8"}},
		"limit of pods":       {limit(corev1.LimitTypePod, "7"), nil, []string{"would-stop quota x: for each pod, its pods have 8"}},
		"limit that fits":     {limit(corev1.LimitTypePod, "8"), nil, nil},
	} {
		require(t, name, judgeQuotas("x", tt.f, tt.err, pods("telemetry")), tt.want...)
	}
	claiming := pods("telemetry")
	claiming[0].spec.DeviceClass = "gpu.nvidia.com"
	claiming = mustRender([]workload.Spec{claiming[0].spec})
	const devices = "gpu.nvidia.com.deviceclass.resource.k8s.io/devices"
	for name, tt := range map[string]struct {
		f    quotaFacts
		want []string
	}{
		"enough devices":       {quota(nil, devices, "16", "0", "requests.nvidia.com/gpu", "0", "0"), nil},
		"used devices":         {quota(nil, devices, "16", "8"), []string{"would-stop quota x: needs 16 of " + devices + ", 8 of 16 are left"}},
		"claims":               {quota(nil, "count/resourceclaims.resource.k8s.io", "1", "0"), []string{"would-stop quota x: needs 2 of count/resourceclaims.resource.k8s.io"}},
		"devices of the other": {quota(nil, "mig.nvidia.com.deviceclass.resource.k8s.io/devices", "0", "0"), nil},
	} {
		require(t, name, judgeQuotas("x", tt.f, nil, claiming), tt.want...)
	}
}
