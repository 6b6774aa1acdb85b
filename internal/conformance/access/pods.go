package access

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/firstlight/firstlight/internal/conformance/dra/record"
	"github.com/firstlight/firstlight/internal/conformance/dra/trial"
)

// between two looks at a log.
const between = 250 * time.Millisecond

// pods are those that look for devices, the one with the claim first.
func (c *Check) pods(node string) []trial.Spec {
	all := []corev1.EnvVar{{Name: "NVIDIA_VISIBLE_DEVICES", Value: "all"}}
	spec := func(name string, claim *trial.Claim, containers ...trial.Container) trial.Spec {
		return trial.Spec{Name: name, Check: Name, Image: c.image, Nodes: []string{node}, Claim: claim, Containers: containers}
	}
	return []trial.Spec{
		spec(claimant, &trial.Claim{}, trial.Container{Name: claimed, Script: script, Claims: true}, trial.Container{Name: sibling, Script: script}),
		spec(bystander, nil, trial.Container{Name: looker, Script: script}),
		spec(asking, nil, trial.Container{Name: looker, Script: script, Env: all}),
	}
}

// observePods runs the pods on a node. Those without a claim are started when the
// one with a claim runs, so that there is something that they must not see.
func (c *Check) observePods(ctx context.Context, r trial.Runner, rec record.Notes, node string) error {
	specs := c.pods(node)
	if runs, err := c.observePod(ctx, r, rec, specs[0]); err != nil || !runs {
		return err
	}
	for _, s := range specs[1:] {
		if _, err := c.observePod(ctx, r, rec, s); err != nil {
			return err
		}
	}
	n := rec.Begin(kindTogether, node, "read the pods again, and the claim")
	var all []trial.Seen
	var unseen []error
	for _, s := range specs {
		seen, err := r.Look(ctx, s.Name)
		all, unseen = append(all, seen), append(unseen, err)
	}
	return errors.Join(n.Keep(all, errors.Join(unseen...)), ctx.Err())
}

// observePod starts a pod, waits until it runs and reads what its containers see.
func (c *Check) observePod(ctx context.Context, r trial.Runner, rec record.Notes, s trial.Spec) (runs bool, err error) {
	rec.Progress("pod %s", s.Name)
	n := rec.Begin(kindPod, s.Name, "create Pod "+s.Name+"; read Pod and ResourceClaim until it runs")
	if err := r.Start(ctx, s); err != nil {
		return false, errors.Join(n.Keep(nil, err), ctx.Err())
	}
	seen, unseen := r.Await(ctx, c.deps.Patience, s.Name, func(s trial.Seen) bool { return s.Runs() || s.Over() })
	if err := n.Keep(seen, unseen); err != nil || unseen != nil || !seen.Runs() {
		return false, errors.Join(err, ctx.Err())
	}
	for _, container := range s.Containers {
		n := rec.Begin(kindSight, s.Name+"/"+container.Name, fmt.Sprintf("GET pods/%s/log?container=%s", s.Name, container.Name))
		log, what, unseen := c.awaitSight(ctx, r, s.Name, container.Name)
		if err := n.Raw(log).Keep(sight{UID: seen.UID, Sight: what}, unseen); err != nil {
			return true, err
		}
	}
	return true, ctx.Err() //nolint:wrapcheck // interrupted
}

// awaitSight reads a log until it is whole; the error says what it lacks still when
// patience is at an end.
func (c *Check) awaitSight(ctx context.Context, r trial.Runner, pod, container string) (log []byte, what Sight, unseen error) {
	end := time.NewTimer(c.deps.Patience)
	defer end.Stop()
	tick := time.NewTicker(between)
	defer tick.Stop()
	for {
		log, unseen = r.Log(ctx, pod, container)
		if unseen == nil {
			if what, unseen = ParseSight(log); unseen == nil {
				return log, what, nil
			}
		}
		select {
		case <-ctx.Done():
			return log, what, unseen
		case <-end.C:
			return log, what, unseen
		case <-tick.C:
		}
	}
}
