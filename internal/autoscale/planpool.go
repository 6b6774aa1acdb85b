package autoscale

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/autoscale/render"
	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/podpatch"
	"github.com/firstlight/firstlight/internal/site"
)

// groupName is what a node group is called: its labels' values.
func groupName(labels map[string]string) string {
	values := make([]string, 0, len(labels))
	for _, k := range slices.Sorted(maps.Keys(labels)) {
		values = append(values, labels[k])
	}
	return strings.Join(values, "/")
}

// planPool decides where nodes come from.
func (d *drive) planPool() error {
	a, o := d.chain.site.Autoscale, d.chain.opts
	p := snapshot.PoolPlan{Autoscaler: a.Autoscaler, Managed: a.Controller == site.Managed, GPULimit: -1}
	v := &d.values
	v.Run, v.Namespace, v.Queue = d.setup.Run, d.setup.Namespace, d.setup.Queue
	taint, tainted, err := site.ParseTaint(a.Taint)
	if err != nil {
		return fmt.Errorf("read site autoscale.taint: %w", err)
	}
	v.Taint, v.Tainted = taint, tainted
	v.NodeClass, v.InstanceTypes, v.WorkerImage, v.LoadImage = a.NodeClass, a.InstanceTypes, a.WorkerImage, d.chain.site.Telemetry.LoadImage
	v.GPUs, v.Min, v.Max, v.NodeGPUs = a.GPUsPerReplica, a.MinReplicas, a.MaxReplicas, int(d.chain.profile.Node.GPUs.Value)
	v.Stabilization, v.LoadFor, v.Patches = stabilization, loadFor, d.chain.site.PodPatches("")
	if d.cluster.Namespace == "" { // the run creates its own
		v.Patches = podpatch.Alone(v.Patches...)
	}
	switch {
	case o.Stay && o.Pool != "":
		return fmt.Errorf("pool %s: replicas that stay on existing nodes have no pool", o.Pool)
	case o.Stay:
		p.Autoscaler, p.Managed, p.Stay, v.Stay = "", false, true, true
	case a.Autoscaler == site.ClusterAutoscaler && o.Pool != "":
		return fmt.Errorf("--pool %s: the site's autoscaler is %s, whose node group is site autoscale.nodeGroup", o.Pool, a.Autoscaler)
	case a.Autoscaler == site.ClusterAutoscaler:
		p.Name, v.Select = groupName(a.NodeGroup), a.NodeGroup
	case o.Pool != "":
		p.Name, v.Select = o.Pool, map[string]string{render.PoolLabel: o.Pool}
	case a.NodeClass == (site.NodeClass{}):
		return fmt.Errorf("site autoscale.nodeClass is missing: a NodePool of the run's own needs it (or name one with --pool)")
	default:
		v.Pool, v.Zero, v.Short = render.PoolNames(d.setup.Run, d.setup.Queue != "")
		v.ConsolidateAfter, v.Gang = consolidateAfter, a.Gang
		p.Name, p.Own, p.Zero, p.InstanceTypes = v.Pool, true, v.Zero, a.InstanceTypes
		p.GPULimit, v.Select = render.PoolLimit(*v), map[string]string{render.PoolLabel: v.Pool}
	}
	d.setup.Pool = p
	return nil
}
