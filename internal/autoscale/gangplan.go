package autoscale

import (
	"cmp"
	"context"

	"github.com/firstlight/firstlight/internal/workload"
)

// planGang decides whether there is a gang, and who keeps it together.
func (d *drive) planGang(ctx context.Context) {
	why := ""
	switch a := d.chain.site.Autoscale; {
	case !d.setup.Pool.Own:
		why = "a gang needs NodePools of the run's own, whose limits it may set"
	case a.Gang < 2:
		why = "site autoscale.gang asks for none"
	default:
		scheduler, err := d.gangScheduler(ctx)
		if err != nil {
			why = "no gang scheduler: " + err.Error()
		}
		d.scheduler = scheduler
	}
	if why != "" {
		d.setup.Gang, d.setup.GangWhy, d.values.Gang = 0, why, 0
		return
	}
	d.setup.Gang = d.values.Gang
}

// gangScheduler is KAI where the run goes through it, what the site says, or
// Kubernetes' own.
func (d *drive) gangScheduler(ctx context.Context) (workload.Scheduler, error) {
	if d.setup.Scheduler == kaiScheduler {
		return workload.KAI{Queue: d.setup.Queue}, nil
	}
	stack := d.chain.site.GPUStack
	want := cmp.Or(stack.GangScheduler, workload.Auto)
	if want == workload.Auto || want == kaiScheduler {
		// KAI takes only pods that it schedules itself, and the run's are not.
		want = workload.Native{}.Name()
	}
	return workload.Select(ctx, d.cluster, want, stack.Queue) //nolint:wrapcheck // says what it looked for
}
