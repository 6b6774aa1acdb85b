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
	"github.com/firstlight/firstlight/internal/conformance/calls"
	"github.com/firstlight/firstlight/internal/conformance/dra/record"
	"github.com/firstlight/firstlight/internal/conformance/dra/trial"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// between two looks at the API server, or two requests of a gateway that settles.
const between = 250 * time.Millisecond

// classWithin is how long a class that is there may take to be accepted.
const classWithin = time.Minute

// mostNodes bounds how many nodes the servers may choose from.
const mostNodes = 16

// Observe implements check.Check. What it created is gone when it returns, but for
// the run's PriorityClass.
func (c *Check) Observe(ctx context.Context, rec check.Recorder) error {
	if c.unreadable != nil {
		return c.unreadable
	}
	if c.deps.Cluster == nil {
		return errors.New("observe inference gateways: no cluster is given")
	}
	rec.Progress("waiting for the cluster")
	given, err := c.deps.Cluster(ctx)
	if err != nil {
		return fmt.Errorf("reach the cluster: %w", err)
	}
	log := calls.NewLog(c.deps.Clock)
	cluster, err := kube.New(log.Record(given.Config))
	if err != nil {
		return fmt.Errorf("reach the cluster: %w", err)
	}
	err = c.observe(ctx, cluster, record.Notes{Recorder: rec, Clock: c.deps.Clock})
	return errors.Join(err, log.Keep(rec, "cluster"))
}

// trying is one observation under way.
type trying struct {
	*Check
	cluster   *kube.Cluster
	rec       record.Notes
	namespace string
	class     class
}

func (c *Check) observe(ctx context.Context, cluster *kube.Cluster, rec record.Notes) error {
	rec.Progress("reading gateway classes")
	n := rec.Begin(kindClasses, "cluster", "GET /apis/"+group+"/"+version+"/gatewayclasses until one is Accepted, if there are any")
	found, err := await(ctx, min(classWithin, c.deps.Patience), func(ctx context.Context) (classes, error) { return readClasses(ctx, cluster) },
		func(k classes) bool { return k.Used != "" || len(k.Classes) == 0 })
	if kept := n.Keep(found, err); kept != nil || err != nil || found.Used == "" {
		return errors.Join(kept, ctx.Err())
	}
	t := &trying{Check: c, cluster: cluster, rec: rec}
	i := slices.IndexFunc(found.Classes, func(k class) bool { return k.Name == found.Used })
	t.class = found.Classes[i]
	n = rec.Begin(kindRoom, "cluster", "GET nodes, pods: GPUs of the inventory that nobody holds")
	usage, err := cluster.Usage(ctx, c.nodes, kube.GPUResource)
	where := roomIn(c.nodes, usage)
	if kept := n.Keep(where, err); kept != nil || err != nil {
		return errors.Join(kept, ctx.Err())
	}
	return t.within(ctx, where)
}

// within tries the class in a namespace of the run's own, which is gone at the end.
func (t *trying) within(ctx context.Context, where room) (err error) {
	own, err := trial.Open(ctx, t.cluster, t.deps.RunID, "inference", t.deps.Clock)
	if err != nil {
		return err //nolint:wrapcheck // says what it opens
	}
	defer func() { err = errors.Join(err, own.Close(ctx)) }()
	t.namespace = own.Namespace
	t.rec.Progress("two servers, a gateway of class %s (%s), and routes", t.class.Name, t.class.Controller)
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
	return t.ask(ctx, gw)
}

func readClasses(ctx context.Context, cluster *kube.Cluster) (classes, error) {
	out := classes{Classes: []class{}}
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
		if out.Used == "" && k.accepted() {
			out.Used = k.Name
		}
	}
	return out, nil
}

func (k class) accepted() bool {
	return k.Conditions.of("Accepted").is(metav1.ConditionTrue, k.Generation)
}

// roomIn says whether the servers may have GPUs, and on which nodes they are to be.
func roomIn(nodes []string, usage map[string]kube.Usage) room {
	r := room{Nodes: []string{}, Usage: usage}
	free := 0
	for _, n := range nodes {
		if f := usage[n].Free(); f > 0 && len(r.Nodes) < mostNodes {
			free += f
			r.Nodes = append(r.Nodes, n)
		}
	}
	if free < servers {
		r.StandIns = true
		r.Why = fmt.Sprintf("free GPUs of the inventory: %d, needed: %d", free, servers)
		r.Nodes = slices.Clone(nodes[:min(len(nodes), mostNodes)])
	}
	return r
}
