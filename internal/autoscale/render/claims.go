package render

import (
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/firstlight/firstlight/internal/workload"
)

// claimPrefix of a template's name; the number of GPUs follows.
const claimPrefix = "gpus-"

// request is the request of a pod for a number of GPUs.
func (v Values) request(gpus int) workload.GPURequest {
	return workload.GPURequest{GPUs: gpus, DeviceClass: v.DeviceClass, Template: claimPrefix + strconv.Itoa(gpus)}
}

// ClaimTemplates are those of the run's pods, one for each number of GPUs; none without a DeviceClass.
func ClaimTemplates(v Values) []*resourcev1.ResourceClaimTemplate {
	if v.DeviceClass == "" {
		return nil
	}
	out := []*resourcev1.ResourceClaimTemplate{v.request(1).ClaimTemplate(v.Namespace, v.labels(""))} // of the holder and the load
	if v.GPUs > 1 {
		out = append(out, v.request(v.GPUs).ClaimTemplate(v.Namespace, v.labels("")))
	}
	return out
}

// ClaimedGPUs is the number of GPUs of a pod's claims of the run.
func ClaimedGPUs(pod *corev1.PodSpec) int {
	total := 0
	for _, c := range pod.ResourceClaims {
		if c.ResourceClaimTemplateName == nil {
			continue
		}
		if text, ok := strings.CutPrefix(*c.ResourceClaimTemplateName, claimPrefix); ok {
			if n, err := strconv.Atoi(text); err == nil && n > 0 {
				total += n
			}
		}
	}
	return total
}
