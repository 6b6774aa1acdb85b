// Package gang is the requirement gang_scheduling: a gang is placed whole or not at
// all. One that fits is bound whole; of one that does not fit nothing is bound, though
// a smaller workload, asked for at the same time on the same nodes, is.
package gang

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/calls"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/workload"
)

// Name is the requirement's.
const Name = "gang_scheduling"

// Deps is what the check needs to observe; judging needs none of it.
type Deps struct {
	Cluster func(ctx context.Context) (*kube.Cluster, error)
	RunID   string
	// Clock is the real one when nil.
	Clock clock.PassiveClock
}

// Check is the check.
type Check struct {
	deps      Deps
	nodes     []string
	gpus      int
	scheduler string
	queue     string
	image     string
	deadline  time.Duration
	settle    time.Duration
}

var _ check.Check = (*Check)(nil)

// New makes the check for a site and the profile of its hardware.
func New(s *site.Site, p *profile.Profile, deps Deps) *Check {
	c := &Check{
		deps: deps, gpus: int(p.Node.GPUs.Value), scheduler: s.GPUStack.GangScheduler, queue: s.GPUStack.Queue,
		image:    s.Telemetry.LoadImage,
		deadline: seconds(p.GPUStack.GangDeadline), settle: seconds(p.GPUStack.GangSettle),
	}
	for _, n := range s.Inventory.Nodes {
		c.nodes = append(c.nodes, n.Name)
	}
	if c.deps.Clock == nil {
		c.deps.Clock = clock.RealClock{}
	}
	return c
}

func seconds(f profile.Figure) time.Duration { return time.Duration(f.Value * float64(time.Second)) }

// Name implements check.Check.
func (*Check) Name() string { return Name }

// Claims is how many GPUs the check holds at most: all that are free.
func (c *Check) Claims() int { return c.gpus * len(c.nodes) }

// Describe says what the check would do.
func (c *Check) Describe() []string {
	return []string{
		fmt.Sprintf("detect the gang scheduler (%s)", c.scheduler),
		"start a gang that is one pod too large for the free GPUs: nothing of it may be bound",
		"while it waits, start a workload that fits on the same nodes: it must be bound",
		"start a gang that fits: all of it must be bound",
	}
}

// removeWithin bounds the removal of a gang when the check itself is ended.
const removeWithin = 2 * time.Minute

// Observe implements check.Check.
func (c *Check) Observe(ctx context.Context, rec check.Recorder) error {
	if c.deps.Cluster == nil {
		return errors.New("observe gang scheduling: no cluster is given")
	}
	cluster, err := c.deps.Cluster(ctx)
	if err != nil {
		return fmt.Errorf("observe gang scheduling: %w", err)
	}
	log := calls.NewLog(c.deps.Clock)
	if cluster, err = kube.New(log.Record(cluster.Config)); err != nil {
		return fmt.Errorf("observe gang scheduling: %w", err)
	}
	return errors.Join(c.observe(ctx, cluster, rec), log.Keep(rec, "cluster"))
}

func (c *Check) observe(ctx context.Context, cluster *kube.Cluster, rec check.Recorder) error {
	began := c.deps.Clock.Now()
	found, err := workload.DetectGang(ctx, cluster, c.scheduler)
	if err != nil || len(found) == 0 {
		return c.keep(rec, kindScheduler, began, []workload.Detected{}, err)
	}
	scheduler, err := found[0].Scheduler(c.queue)
	if err := c.keep(rec, kindScheduler, began, found, err); err != nil || scheduler == nil {
		return err
	}
	began = c.deps.Clock.Now()
	usage, err := cluster.Usage(ctx, c.nodes, kube.GPUResource)
	room := c.roomOn(usage)
	if err := c.keep(rec, kindRoom, began, room, err); err != nil || room.Fits == 0 {
		return err
	}
	launcher := &workload.Launcher{Cluster: cluster, RunID: c.deps.RunID, Gang: scheduler}
	rec.Progress("gang of %d pods on room for %d: none may be bound, and one pod beside it must be", room.Fits+1, room.Fits)
	if held, err := c.tooLarge(ctx, launcher, rec, room); err != nil || !held {
		return err
	}
	pods, gpus := room.fitting()
	rec.Progress("gang of %d pods with %d GPUs each: all must be bound", pods, gpus)
	return c.fits(ctx, launcher, rec, room)
}

func (c *Check) spec(name string, pods, gpus int, r Room) workload.Spec {
	return workload.Spec{
		Name: name, Gate: Name, Pods: pods, GPUs: gpus, Image: c.image, Container: "gang-probe", Script: "sleep infinity", Nodes: r.Nodes,
	}
}

// tooLarge starts a gang that does not fit, and one pod beside it that does. held is
// false when some of the gang was bound: there is no room then, and nothing left to prove.
func (c *Check) tooLarge(ctx context.Context, l *workload.Launcher, rec check.Recorder, r Room) (held bool, err error) {
	began := c.deps.Clock.Now()
	var p Proof
	err = c.with(ctx, l, c.spec("gang-too-large", r.Fits+1, r.GPUsPerPod, r), func(large *workload.Gang) error {
		watch, cancel := context.WithTimeout(ctx, c.deadline)
		defer cancel()
		var undecided error
		if p.Large, undecided = large.Placement(watch, c.settle); undecided != nil {
			p.Undecided = undecided.Error()
		}
		if p.Large.Bound > 0 {
			p.LargeAfter = p.Large
			return nil
		}
		return c.with(ctx, l, c.spec("beside", 1, r.GPUsPerPod, r), func(small *workload.Gang) error {
			if bound := c.await(ctx, small); bound != nil {
				p.Undecided += bound.Error()
			}
			return errors.Join(c.now(ctx, small, &p.Beside), c.now(ctx, large, &p.LargeAfter))
		})
	})
	return most(p) == 0, c.result(ctx, rec, kindTooLarge, began, p, err)
}

// fits starts a gang that fits.
func (c *Check) fits(ctx context.Context, l *workload.Launcher, rec check.Recorder, r Room) error {
	began := c.deps.Clock.Now()
	var p Proof
	pods, gpus := r.fitting()
	err := c.with(ctx, l, c.spec("gang-fits", pods, gpus, r), func(g *workload.Gang) error {
		if bound := c.await(ctx, g); bound != nil {
			p.Undecided = bound.Error()
		}
		return c.now(ctx, g, &p.Large)
	})
	return c.result(ctx, rec, kindFits, began, p, err)
}

// with starts a gang, has a look at it taken, and removes it.
func (c *Check) with(ctx context.Context, l *workload.Launcher, s workload.Spec, look func(*workload.Gang) error) error {
	g, err := l.Start(ctx, s)
	if err != nil {
		return fmt.Errorf("start %s: %w", s.Name, err)
	}
	err = look(g)
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeWithin)
	defer cancel()
	return errors.Join(err, g.Delete(end))
}

func (c *Check) await(ctx context.Context, g *workload.Gang) error {
	watch, cancel := context.WithTimeout(ctx, c.deadline)
	defer cancel()
	return g.WaitBound(watch) //nolint:wrapcheck // names the gang
}

func (c *Check) now(ctx context.Context, g *workload.Gang, to *workload.Placement) (err error) {
	*to, err = g.PlacementNow(ctx)
	return err //nolint:wrapcheck // names the gang
}

// result records a proof, unless the check was ended.
func (c *Check) result(ctx context.Context, rec check.Recorder, kind string, began time.Time, p Proof, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("prove gang scheduling: %w", context.Cause(ctx))
	}
	return c.keep(rec, kind, began, p, err)
}

func (c *Check) keep(rec check.Recorder, kind string, began time.Time, figures any, seen error) error {
	o := check.Observation{Kind: kind, Target: "cluster", At: began, Took: metav1.Duration{Duration: c.deps.Clock.Since(began)}}
	if seen != nil {
		o.Err = seen.Error()
	} else {
		var err error
		if o, err = o.WithFigures(figures); err != nil {
			return fmt.Errorf("record %s: %w", kind, err)
		}
	}
	if _, err := rec.Record(o); err != nil {
		return fmt.Errorf("record %s: %w", kind, err)
	}
	return nil
}
