package training

import (
	"slices"

	"github.com/firstlight/firstlight/internal/gate/gangjob"
)

const (
	remedyDevices = "see the log of the DRA driver's kubelet plugin on the node, and its CDI specifications (/var/run/cdi)"
	remedyUUID    = "use a trainer image whose PyTorch reports the UUID of a GPU (torch.cuda.get_device_properties)"
)

// claims requires the GPUs of a job that claims them, and that its pods compute on these GPUs and on no others.
func (r *review) claims() {
	claims := r.job.Outcome.Claims
	gangjob.JudgeClaims(&r.Builder, r.jobID, r.gate.site, claims, r.gate.pods(), r.gate.gpus())
	if claims == nil {
		return
	}
	for _, p := range r.pods {
		r.claimed(p, claims.UUIDs(p.Pod))
	}
}

// claimed compares the measured GPUs of a pod with those of its claim, whose number is judged elsewhere.
func (r *review) claimed(p podLog, claimed []string) {
	if len(claimed) == 0 || slices.Contains(claimed, "") {
		return // not observed, or a finding already
	}
	measured := map[string]bool{}
	unnamed := 0
	for _, g := range p.GPUs {
		if g.UUID == "" {
			unnamed++
			continue
		}
		measured[g.UUID] = true
		if !slices.Contains(claimed, g.UUID) {
			r.Fail(p.id, p.Node+"/DRA driver", remedyDevices, "pod %s on %s computes on GPU %s (device %d), which its claim does not allocate", p.Pod, p.Node, g.UUID, g.Device)
		}
	}
	if unnamed > 0 {
		r.Unobserved(p.id, p.Node, remedyUUID, "%d of %d GPUs of pod %s were measured without a UUID: whether they are those of its claim is unknown", unnamed, len(p.GPUs), p.Pod)
		return
	}
	if len(p.GPUs) < len(claimed) {
		return // too few measurements are unobserved
	}
	for _, uuid := range claimed {
		if !measured[uuid] {
			r.Fail(p.id, p.Node+"/DRA driver", remedyDevices, "pod %s on %s does not compute on GPU %s, which its claim allocates", p.Pod, p.Node, uuid)
		}
	}
}
