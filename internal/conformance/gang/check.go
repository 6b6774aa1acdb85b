// Package gang is the requirement gang_scheduling: a gang is placed whole or not at all.
// Nothing of a gang that does not fit is bound, although a smaller workload, created at the
// same time on the same nodes, is; a gang that fits is bound whole.
package gang

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance"
	"github.com/firstlight/firstlight/internal/conformance/dra/inventory"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/workload"
	"github.com/firstlight/firstlight/internal/workload/gangproof"
)

// Name of the requirement.
const Name = "gang_scheduling"

// removeTimeout limits the removal of a gang, also after the check was interrupted.
const removeTimeout = 2 * time.Minute

// Kinds of observations, and what their figures are.
const (
	kindScheduler = "gang-scheduler" // []workload.Detected
	kindCapacity  = "room"           // Capacity
	kindTooLarge  = "gang-too-large" // Proof
	kindFits      = "gang-fits"      // Proof
)

// Capacity is what of the inventory is free for the proofs.
type Capacity struct {
	gangproof.Room
	// Usage of every node of the inventory.
	Usage map[string]kube.Usage `json:"usage"`
}

// Proof is the placement of the gang under test.
type Proof struct {
	Large workload.Placement `json:"large"`
	// LargeAfter is the same gang after the small pod was bound; Small is that pod. Both are
	// only set for the gang that does not fit.
	LargeAfter workload.Placement `json:"largeAfter,omitzero"`
	Small      workload.Placement `json:"small,omitzero"`
	// Undecided is why no decision was observed.
	Undecided string `json:"undecided,omitempty"`
}

// Check is the check.
type Check struct {
	deps  conformance.Deps
	nodes []string
	// class of devices offers the GPUs; empty: the device plugin does.
	class     string
	gpus      int
	scheduler string
	queue     string
	image     string
	deadline  time.Duration
	settle    time.Duration
}

// New returns the check for a site and the profile of its hardware.
func New(s *site.Site, p *profile.Profile, deps conformance.Deps) *Check {
	return &Check{
		deps: deps.WithDefaults(0), nodes: conformance.NodeNames(s), class: s.GPUStack.DeviceClass, gpus: int(p.Node.GPUs.Value),
		scheduler: s.GPUStack.GangScheduler, queue: s.GPUStack.Queue, image: s.Telemetry.LoadImage,
		deadline: p.GPUStack.GangDeadline.Duration(), settle: p.GPUStack.GangSettle.Duration(),
	}
}

// Name implements check.Check.
func (*Check) Name() string { return Name }

// Claims is how many GPUs the check holds at most: all that are free.
func (c *Check) Claims() int { return c.gpus * len(c.nodes) }

// Describe lists what the check does.
func (c *Check) Describe() []string {
	return []string{
		fmt.Sprintf("detect the gang scheduler (%s)", c.scheduler),
		"start a gang that is one pod too large for the free GPUs: no pod of it may be bound",
		"while it is pending, start a workload that fits on the same nodes: it must be bound",
		"start a gang that fits: all of its pods must be bound",
	}
}

// Observe implements check.Check.
func (c *Check) Observe(ctx context.Context, rec check.Recorder) error {
	return c.deps.Observe(ctx, rec, Name, c.observe)
}

func (c *Check) observe(ctx context.Context, cluster *kube.Cluster, rec check.Observer) error {
	attempt := rec.Begin(kindScheduler, "cluster", "GET the APIs of gang schedulers")
	found, failed := workload.DetectGang(ctx, cluster, c.scheduler)
	if failed != nil || len(found) == 0 {
		return attempt.Record([]workload.Detected{}, failed)
	}
	scheduler, failed := found[0].Scheduler(c.queue)
	if err := attempt.Record(found, failed); err != nil || scheduler == nil {
		return err
	}
	attempt = rec.Begin(kindCapacity, "cluster", inventory.UsageCommand(c.class))
	usage, failed := inventory.UsageBy(ctx, cluster, c.class, c.nodes)
	free := Capacity{gangproof.RoomIn(c.nodes, c.gpus, usage), usage}
	if err := attempt.Record(free, failed); err != nil || free.Fits == 0 {
		return err
	}
	launcher := &workload.Launcher{Cluster: cluster, RunID: c.deps.RunID, Gang: scheduler}
	rec.Progress("gang of %d pods on capacity for %d: none may be bound, and one smaller pod must be", free.TooLarge(), free.Fits)
	if pending, err := c.tooLarge(ctx, launcher, rec, free); err != nil || !pending {
		return err
	}
	pods, gpus := free.Fitting()
	rec.Progress("gang of %d pods with %d GPUs each: all must be bound", pods, gpus)
	return c.fits(ctx, launcher, rec, free)
}

func (c *Check) spec(name string, pods, gpus int, free Capacity) workload.Spec {
	return workload.Spec{
		Name: name, Gate: Name, Pods: pods, GPUs: gpus, DeviceClass: c.class, Image: c.image, Container: "gang-probe", Script: "sleep infinity", Nodes: free.Nodes, Patches: c.deps.PodPatches,
	}
}

// tooLarge starts a gang that does not fit, and one smaller pod that does. pending is false
// where a pod of the gang was bound: then the GPUs are taken and the proof has failed.
func (c *Check) tooLarge(ctx context.Context, l *workload.Launcher, rec check.Observer, free Capacity) (pending bool, err error) {
	attempt := rec.Begin(kindTooLarge, "cluster", "create a gang that does not fit, and one smaller pod; read which pods are bound")
	var p Proof
	failed := c.with(ctx, l, c.spec("gang-too-large", free.TooLarge(), free.GPUsPerPod, free), func(large *workload.Gang) error {
		watch, cancel := context.WithTimeout(ctx, c.deadline)
		defer cancel()
		var undecided error
		if p.Large, undecided = large.Placement(watch, c.settle); undecided != nil {
			p.Undecided = undecided.Error()
		}
		if p.maxBound() > 0 {
			p.LargeAfter = p.Large
			return nil
		}
		return c.with(ctx, l, c.spec("small", 1, free.GPUsPerPod, free), func(small *workload.Gang) error {
			p.Undecided += c.waitBound(ctx, small)
			var err, afterErr error
			p.Small, err = small.PlacementNow(ctx)
			p.LargeAfter, afterErr = large.PlacementNow(ctx)
			return errors.Join(err, afterErr)
		})
	})
	return p.maxBound() == 0, recordProof(ctx, attempt, p, failed)
}

// fits starts a gang that fits.
func (c *Check) fits(ctx context.Context, l *workload.Launcher, rec check.Observer, free Capacity) error {
	attempt := rec.Begin(kindFits, "cluster", "create a gang that fits; read which pods are bound")
	var p Proof
	pods, gpus := free.Fitting()
	failed := c.with(ctx, l, c.spec("gang-fits", pods, gpus, free), func(g *workload.Gang) (err error) {
		p.Undecided = c.waitBound(ctx, g)
		p.Large, err = g.PlacementNow(ctx)
		return err
	})
	return recordProof(ctx, attempt, p, failed)
}

// with starts a gang, calls observe and removes it.
func (c *Check) with(ctx context.Context, l *workload.Launcher, s workload.Spec, observe func(*workload.Gang) error) error {
	g, err := l.Start(ctx, s)
	if err != nil {
		return fmt.Errorf("start %s: %w", s.Name, err)
	}
	err = observe(g)
	cleanup, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeTimeout)
	defer cancel()
	return errors.Join(err, g.Delete(cleanup))
}

// waitBound waits until all pods are bound, and returns why they are not.
func (c *Check) waitBound(ctx context.Context, g *workload.Gang) string {
	watch, cancel := context.WithTimeout(ctx, c.deadline)
	defer cancel()
	if err := g.WaitBound(watch); err != nil {
		return err.Error()
	}
	return ""
}

// recordProof records a proof, unless the check was interrupted.
func recordProof(ctx context.Context, attempt check.Attempt, p Proof, failed error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("prove gang scheduling: %w", context.Cause(ctx))
	}
	return attempt.Record(p, failed)
}
