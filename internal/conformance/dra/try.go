package dra

import (
	"context"
	"errors"

	"github.com/firstlight/firstlight/internal/conformance/dra/record"
	"github.com/firstlight/firstlight/internal/conformance/dra/trial"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// nobody selects no device: there is no such driver. It is a valid expression that
// needs no attribute, so that it can be evaluated for every device.
const nobody = "device.driver == 'nobody.firstlight.dev'"

// try creates two pods with a claim each, equal but for the devices that the
// claims want, and sees what becomes of them.
func (c *Check) try(ctx context.Context, cluster *kube.Cluster, rec record.Notes, nodes []string) (err error) {
	r, err := trial.Open(ctx, cluster, c.deps.RunID, "dra", c.deps.Clock)
	if err != nil {
		return err //nolint:wrapcheck // says what it opens
	}
	defer func() { err = errors.Join(err, r.Close(ctx)) }()
	spec := trial.Spec{
		Check: Name, Image: c.image, Nodes: nodes, Claim: &trial.Claim{},
		Containers: []trial.Container{{Name: "claimant", Script: trial.Sleep, Claims: true}},
	}
	can, cannot := spec, spec
	can.Name, cannot.Name = allocatable, impossible
	cannot.Claim = &trial.Claim{CEL: nobody}
	rec.Progress("a claim of a GPU, and one that no device meets")
	first := rec.Begin(kindTrial, allocatable, "create ResourceClaimTemplate and Pod "+allocatable+"; read Pod and ResourceClaim until the pod runs")
	if err := r.Start(ctx, can); err != nil {
		return errors.Join(first.Keep(nil, err), ctx.Err())
	}
	second := rec.Begin(kindTrial, impossible, "create ResourceClaimTemplate and Pod "+impossible+", with the selector "+nobody+"; read Pod and ResourceClaim until the scheduler has refused the pod")
	if err := r.Start(ctx, cannot); err != nil {
		return errors.Join(second.Keep(nil, err), ctx.Err())
	}
	seen, unseen := r.Await(ctx, c.deps.Patience, allocatable, func(s trial.Seen) bool { return s.Over() || s.Runs() && s.Claim != nil && s.Claim.Allocated })
	if err := first.Keep(seen, unseen); err != nil {
		return err
	}
	// Looked at after the other was allocated: a scheduler that allocates did not
	// allocate this one.
	seen, unseen = r.Await(ctx, c.deps.Patience, impossible, func(s trial.Seen) bool {
		return s.Over() || s.Runs() || s.Claim != nil && (s.Claim.Allocated || s.Refused())
	})
	if err := second.Keep(seen, unseen); err != nil {
		return err
	}
	last := rec.Begin(kindTrial, still, "read Pod and ResourceClaim "+allocatable+" again")
	seen, unseen = r.Look(ctx, allocatable)
	if err := last.Keep(seen, unseen); err != nil {
		return err
	}
	return ctx.Err() //nolint:wrapcheck // interrupted
}
