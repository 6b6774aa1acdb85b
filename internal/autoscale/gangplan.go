package autoscale

import (
	"cmp"
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/autoscale/render"
	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/workload"
)

// planGang decides whether there is a gang, and its scheduler. A missing scheduler does not
// leave the gang out: the site asks for it.
func (d *drive) planGang(ctx context.Context) {
	why := ""
	switch a := d.chain.site.Autoscale; {
	case d.setup.Pool.Stay:
		why = "replicas stay on existing nodes"
	case !d.setup.Pool.Own:
		why = "a gang needs NodePools of the run's own, whose limits it may set"
	case a.Gang < 2:
		why = "site autoscale.gang asks for none"
	default:
		d.scheduler, d.unscheduled = d.gangScheduler(ctx)
	}
	if why != "" {
		d.setup.Gang, d.setup.GangWhy, d.values.Gang = 0, why, 0
		return
	}
	d.setup.Gang = d.values.Gang
}

// gangScheduler returns KAI if the run uses it, else the scheduler of the site, else
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
	return workload.Select(ctx, d.cluster, want, stack.Queue)
}

func (d *drive) createGang(ctx context.Context, m render.Members) error {
	for _, g := range m.Groups {
		if err := d.create(ctx, g); err != nil {
			return err
		}
	}
	if m.Job != nil {
		return d.createJob(ctx, m.Job)
	}
	for _, p := range m.Pods {
		if _, err := d.cluster.Client.CoreV1().Pods(p.Namespace).Create(ctx, p, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("create pod %s: %w", p.Name, err)
		}
	}
	return nil
}

// deleteGang ends the gang that fits, so that its nodes can go.
func (d *drive) deleteGang(ctx context.Context) error {
	if err := d.deleteJob(ctx, render.GangJob); err != nil {
		return err
	}
	selector := fmt.Sprintf("%s=%s,%s=%s", kube.LabelRun, d.setup.Run, kube.LabelRole, snapshot.RoleGang)
	err := d.cluster.Client.CoreV1().Pods(d.setup.Namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		return fmt.Errorf("delete the pods of the gang: %w", err)
	}
	return nil
}
