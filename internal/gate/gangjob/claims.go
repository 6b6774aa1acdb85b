package gangjob

import (
	"context"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/dra/allocation"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/workload"
)

// Claims reads what claims allocate to the pods of a placed gang; nil if they claim no GPUs. Call it
// before the pods end: the claim of an ended pod is released.
func Claims(ctx context.Context, gang *workload.Gang) *allocation.Figures {
	if gang.Spec.DeviceClass == "" || gang.Spec.GPUs == 0 {
		return nil
	}
	placement, err := gang.PlacementNow(ctx)
	if err != nil {
		return &allocation.Figures{Class: gang.Spec.DeviceClass, Unread: err.Error()}
	}
	f := allocation.Read(ctx, gang.Cluster(), gang.Spec.DeviceClass, gang.Namespace, placement.Nodes, placement.UIDs)
	return &f
}

// JudgeClaims judges what claims allocate to a job's number of pods with a number of GPUs each. Where the site declares a
// DeviceClass, pods that claim nothing are not those of this site.
func JudgeClaims(b *check.Builder, id string, s *site.Site, claims *allocation.Figures, pods, gpus int) {
	switch {
	case claims != nil:
		claims.Judge(b, id, pods, gpus)
	case Undeclared(s):
	default:
		b.Unobserved(id, "gpustack.deviceClass", "run the gate again with this site", "the pods claimed no GPUs, and the site declares that DeviceClass %s offers them", s.GPUStack.DeviceClass)
	}
}

// Undeclared reports whether a site's pods may request GPUs without claims.
func Undeclared(s *site.Site) bool { return s.GPUStack.DeviceClass == "" || !s.Kubernetes() }
