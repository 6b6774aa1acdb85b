package autoscale

import (
	"cmp"
	"fmt"

	"github.com/firstlight/firstlight/internal/autoscale/metric"
	"github.com/firstlight/firstlight/internal/autoscale/render"
	"github.com/firstlight/firstlight/internal/site"
)

// Describe lists the chain's steps, one per line.
func (c *Chain) Describe() []string {
	if c.opts.Stay {
		return c.describeStay()
	}
	a := c.site.Autoscale
	pool := "a NodePool of the run's own, and one with limit 0"
	switch {
	case c.opts.Pool != "":
		pool = "NodePool " + c.opts.Pool
	case a.Autoscaler == site.ClusterAutoscaler:
		pool = "the node group " + groupName(a.NodeGroup)
	}
	api := cmp.Or(c.opts.Metric, metric.External)
	lines := []string{
		fmt.Sprintf("see Deployments %s and %s, the APIService of %s, and %s on every GPU of %d nodes", a.Adapter, a.Controller, metric.Group(api), series, len(c.site.Inventory.Nodes)),
		fmt.Sprintf("scale a Deployment of %d to %d replicas with %d GPUs each on %s, on %s", a.MinReplicas, a.MaxReplicas, a.GPUsPerReplica, metricName(api, metric.Plain), pool),
		fmt.Sprintf("control: nothing may scale for %s without load", a.Window.D()),
		fmt.Sprintf("up: load %d GPUs of the inventory with dcgmproftester and follow sample, value, HPA, pods, claims and nodes", a.LoadGPUs),
		"down: end the load; those pods, nodes and claims are gone, the initial ones exist",
	}
	if a.Gang > 1 && c.opts.Pool == "" && a.Autoscaler == site.Karpenter {
		lines = append(lines, fmt.Sprintf("gang of %d: all are bound on nodes that come for it; with one node less, none", a.Gang))
	}
	return append(lines, "remove everything that carries the run's label in gate "+render.Gate+", except new nodes on which pods of others run")
}

// describeStay is Describe where no nodes come.
func (c *Chain) describeStay() []string {
	a := c.site.Autoscale
	api := cmp.Or(c.opts.Metric, metric.External)
	return []string{
		fmt.Sprintf("see Deployment %s, the APIService of %s, and %s on every GPU of %d nodes", a.Adapter, metric.Group(api), series, len(c.site.Inventory.Nodes)),
		fmt.Sprintf("scale a Deployment of %d to %d replicas with %d GPUs each on %s, on free GPUs of the inventory", a.MinReplicas, a.MaxReplicas, a.GPUsPerReplica, metricName(api, metric.Plain)),
		fmt.Sprintf("control: nothing may scale for %s without load", a.Window.D()),
		fmt.Sprintf("up: load at most %d GPUs of the inventory with dcgmproftester and follow sample, value, HPA and pods", a.LoadGPUs),
		"down: end the load; those pods are gone, the initial ones exist",
		"remove everything that carries the run's label in gate " + render.Gate,
	}
}

// Claims is how many GPUs of the inventory the chain holds at most: the load's, the
// holder's, and those of replicas that stay.
func (c *Chain) Claims() int {
	a := c.site.Autoscale
	claims := a.LoadGPUs + 1
	if c.opts.Stay {
		claims += a.MaxReplicas * a.GPUsPerReplica
	}
	return min(claims, len(c.site.Inventory.Nodes)*int(c.profile.Node.GPUs.Value))
}
