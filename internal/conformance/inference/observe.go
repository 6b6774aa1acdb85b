package inference

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/dra/inventory"
	"github.com/firstlight/firstlight/internal/conformance/dra/testpod"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

const pollInterval = 250 * time.Millisecond

// classTimeout is how long an existing class may take to be accepted.
const classTimeout = time.Minute

// maxNodes limits how many nodes the servers may be placed on.
const maxNodes = 16

// trial is an observation in progress.
type trial struct {
	*Check
	cluster   *kube.Cluster
	rec       check.Observer
	namespace string
	class     class
}

func (c *Check) observe(ctx context.Context, cluster *kube.Cluster, rec check.Observer) error {
	rec.Progress("reading gateway classes")
	attempt := rec.Begin(kindClasses, "cluster", "GET /apis/"+group+"/"+version+"/gatewayclasses until one is Accepted, if there are any")
	found, failed := await(ctx, min(classTimeout, c.deps.Timeout), func(ctx context.Context) (classes, error) { return readClasses(ctx, cluster, c.gatewayClass) },
		func(k classes) bool {
			return k.Used != "" || len(k.Classes) == 0 || k.Wanted == "" && len(k.accepted()) > 0
		})
	if err := attempt.Record(found, failed); err != nil || failed != nil || found.Used == "" {
		return errors.Join(err, ctx.Err())
	}
	t := &trial{Check: c, cluster: cluster, rec: rec}
	i := slices.IndexFunc(found.Classes, func(k class) bool { return k.Name == found.Used })
	t.class = found.Classes[i]
	attempt = rec.Begin(kindFree, "cluster", inventory.UsageCommand(c.class))
	usage, failed := inventory.UsageBy(ctx, cluster, c.class, c.nodes)
	where := placementOn(c.nodes, usage)
	if err := attempt.Record(where, failed); err != nil || failed != nil {
		return errors.Join(err, ctx.Err())
	}
	return t.run(ctx, where)
}

// run tests the class in a namespace of the run, which it removes at the end.
func (t *trial) run(ctx context.Context, where placement) (err error) {
	r, err := testpod.Open(ctx, t.cluster, t.deps.RunID, "inference", t.deps.PodPatches, t.deps.Clock)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close(ctx)) }()
	t.namespace = r.Namespace
	t.rec.Progress("creating two servers, a gateway of class %s (%s), and routes", t.class.Name, t.class.Controller)
	servers, err := t.startServers(ctx, where)
	if err != nil {
		return err
	}
	up, gw, err := t.startGateway(ctx)
	if err != nil {
		return err
	}
	if err := t.startRoutes(ctx); err != nil {
		return err
	}
	all, err := servers(ctx)
	if err != nil || !up || slices.ContainsFunc(all, func(s server) bool { return !s.up() }) {
		return errors.Join(err, ctx.Err())
	}
	return t.sendRequests(ctx, gw)
}

// readClasses chooses the class that the site names, or the only one that is accepted. Among several it chooses none: one may
// have a public load balancer, before servers without authentication, another may not serve a gateway of any name.
func readClasses(ctx context.Context, cluster *kube.Cluster, wanted string) (classes, error) {
	out := classes{Classes: []class{}, Wanted: wanted}
	list, err := cluster.Dynamic.Resource(resourceOf("gatewayclasses")).List(ctx, metav1.ListOptions{})
	if apierrors.IsNotFound(err) {
		return out, nil
	}
	if err != nil {
		return out, fmt.Errorf("list gateway classes: %w", err)
	}
	out.Served = true
	for i := range list.Items {
		var k class
		if k, err = classOf(&list.Items[i]); err != nil {
			return out, err
		}
		out.Classes = append(out.Classes, k)
	}
	accepted := out.accepted()
	switch {
	case slices.Contains(accepted, wanted):
		out.Used = wanted
	case wanted == "" && len(accepted) == 1:
		out.Used = accepted[0]
	}
	return out, nil
}

// accepted are the names of the classes that their controllers accept.
func (c classes) accepted() []string {
	var out []string
	for _, k := range c.Classes {
		if k.accepted() {
			out = append(out, k.Name)
		}
	}
	return out
}

func (k class) accepted() bool {
	return k.Conditions.of("Accepted").is(metav1.ConditionTrue, k.Generation)
}

// placementOn decides whether the servers get GPUs, and on which nodes they run.
func placementOn(nodes []string, usage map[string]kube.Usage) placement {
	r := placement{Nodes: []string{}, Usage: usage}
	free := 0
	for _, n := range nodes {
		if f := usage[n].Free(); f > 0 && len(r.Nodes) < maxNodes {
			free += f
			r.Nodes = append(r.Nodes, n)
		}
	}
	if free < servers {
		r.Scripts = true
		r.Why = fmt.Sprintf("free GPUs of the inventory: %d, needed: %d", free, servers)
		r.Nodes = slices.Clone(nodes[:min(len(nodes), maxNodes)])
	}
	return r
}
