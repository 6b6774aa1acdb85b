package autoscale

import (
	"cmp"
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	"github.com/firstlight/firstlight/internal/autoscale/render"
	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// begin reads the initial objects, plans the run, and starts the watches. It creates nothing.
func (c *Chain) begin(ctx context.Context, cluster *kube.Cluster, rec check.Recorder) (*drive, error) {
	d := &drive{chain: c, rec: rec, cluster: cluster, clock: clock.RealClock{}, marks: map[string]time.Time{}}
	d.setup = snapshot.Setup{
		Run: c.deps.RunID, Namespace: cluster.NamespaceFor(c.deps.RunID), Began: d.now(),
		Scheduler: cmp.Or(c.opts.Scheduler, "default"), Keep: c.opts.Keep, GPUs: map[string]int{},
	}
	if d.setup.Scheduler == kaiScheduler {
		d.setup.Queue = render.QueueName(c.deps.RunID)
	}
	for _, n := range c.site.Inventory.Nodes {
		d.setup.GPUs[n.Name] = int(c.profile.Node.GPUs.Value)
	}
	if err := d.planPool(); err != nil {
		return nil, err
	}
	rec.Progress("looking for settings that cost time")
	d.connect()
	if err := d.planLoad(ctx); err != nil {
		d.stop()
		return nil, err
	}
	d.planMetric(ctx)
	d.planGang(ctx)
	d.deadlines()
	if err := d.watch(ctx); err != nil {
		d.stop()
		return nil, err
	}
	return d, nil
}

const kaiScheduler = "kai"

// deadlines are generous: a hop that never happens is still reported at its deadline.
func (d *drive) deadlines() {
	const factor = 3
	margin := cmp.Or(d.chain.opts.HopTimeout, 2*time.Minute)
	d.setup.Deadlines = map[string]metav1.Duration{}
	for _, p := range snapshot.Chain() {
		for _, hop := range p.Hops {
			d.setup.Deadlines[hop] = metav1.Duration{Duration: margin + factor*budgetOf(hop, d.setup)}
		}
	}
	// A change that the window did not show is not expected afterwards. The pod for which a node of the window was made shows
	// when the node has registered.
	d.setup.Deadlines[snapshot.HopFlat] = metav1.Duration{Duration: margin + factor*d.setup.Setting(snapshot.SettingRegistration).Value.Duration}
	d.setup.Deadlines[snapshot.HopBystanders] = metav1.Duration{Duration: settleWithin}
	d.setup.Deadlines[snapshot.HopClean] = metav1.Duration{Duration: cleanWithin + factor*d.setup.Setting(snapshot.SettingTermination).Value.Duration}
}

const (
	// settleWithin is the timeout for facts that already exist when the watches are synced. A read that
	// a busy API server answered too late (10 s, package metric) is repeated several times in it.
	settleWithin = time.Minute
	// cleanWithin bounds the removal of everything, in addition to the termination of nodes.
	cleanWithin = 5 * time.Minute
)
