package training

import (
	"slices"

	"github.com/firstlight/firstlight/internal/gate/gangjob"
)

// claims requires the GPUs of a job that claims them, and that its pods compute on these GPUs.
func (r *review) claims() {
	claims := r.job.Outcome.Claims
	gangjob.JudgeClaims(&r.Builder, r.jobID, r.gate.site, claims, r.gate.pods(), r.gate.gpus())
	if claims == nil {
		return
	}
	for _, p := range r.pods {
		claimed := claims.UUIDs(p.Pod)
		for _, g := range p.GPUs {
			if len(claimed) > 0 && g.UUID != "" && !slices.Contains(claimed, g.UUID) {
				r.Fail(p.id, p.Node+"/DRA driver", "see the log of the DRA driver's kubelet plugin on the node, and its CDI specifications (/var/run/cdi)",
					"pod %s on %s computes on GPU %s (device %d), which its claim does not allocate", p.Pod, p.Node, g.UUID, g.Device)
			}
		}
	}
}
