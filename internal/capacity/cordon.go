package capacity

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/workload"
)

// CordonStep is the name of the check of the cordon.
const CordonStep = "cordon"

// The kinds of its observations, and their target.
const (
	kindNodes     = "nodes"
	kindGang      = "gang-scheduler"
	targetCluster = "cluster"
)

// cordon requires that new nodes are in the cluster behind a cordon, and accepted ones are in service.
type cordon struct {
	site     *site.Site
	addition Addition
	cluster  func(context.Context) (*kube.Cluster, error)
	clock    clock.PassiveClock
}

var (
	_ plan.Localising = cordon{}
	_ plan.Lowers     = cordon{}
)

// nodeFigures is one node of the cluster.
type nodeFigures struct {
	Ready    bool `json:"ready"`
	Cordoned bool `json:"cordoned"`
}

// gangFigures is the gang scheduler of the jobs of the addition; empty without one.
type gangFigures struct {
	Name string `json:"name"`
}

// Name implements check.Check.
func (c cordon) Name() string { return CordonStep }

// Nodes implements plan.Localising.
func (c cordon) Nodes() []string { return newOf(c.site, c.addition) }

// Excluding implements plan.Excluding.
func (c cordon) Excluding(nodes []string) check.Check {
	c.site = c.site.Without(nodes)
	return c
}

// Lowered implements plan.Lowers.
func (c cordon) Lowered() []string {
	if c.addition.NotCordoned == "" {
		return nil
	}
	return []string{"new nodes need no cordon: " + c.addition.NotCordoned}
}

// Describe lists the actions of Observe.
func (c cordon) Describe() []string {
	return []string{
		fmt.Sprintf("GET nodes: %d new nodes Ready and cordoned, %d accepted nodes in service", len(c.Nodes()), len(c.addition.To.Nodes)),
		"discover the gang scheduler: it must place pods on cordoned nodes",
	}
}

// Observe implements check.Check.
func (c cordon) Observe(ctx context.Context, rec check.Recorder) error {
	if c.cluster == nil {
		return errors.New("observe the cordon: cluster must be set")
	}
	observer := check.Observer{Recorder: rec, Clock: cmp.Or[clock.PassiveClock](c.clock, clock.RealClock{})}
	attempt := observer.Begin(kindNodes, targetCluster, "GET nodes")
	cluster, err := c.cluster(ctx)
	if err != nil {
		return attempt.Record(nil, err)
	}
	list, err := cluster.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return attempt.Record(nil, fmt.Errorf("list nodes: %w", err))
	}
	found := map[string]nodeFigures{}
	for i := range list.Items {
		n := &list.Items[i]
		n.ManagedFields = nil
		found[n.Name] = nodeFigures{Ready: kube.Ready(n), Cordoned: n.Spec.Unschedulable}
	}
	raw, err := json.MarshalIndent(list, "", " ")
	if err != nil {
		return fmt.Errorf("encode the nodes: %w", err)
	}
	if err := attempt.Raw(raw).Record(found, nil); err != nil {
		return err
	}
	attempt = observer.Begin(kindGang, targetCluster, "discover the gang scheduler of the site")
	schedulers, err := workload.DetectGang(ctx, cluster, c.site.GPUStack.GangScheduler)
	var used gangFigures
	if len(schedulers) > 0 {
		used.Name = schedulers[0].Name
	}
	return attempt.Record(used, err)
}
