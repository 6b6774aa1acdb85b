package gate

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/node"
	"github.com/firstlight/firstlight/internal/pregate"
	"github.com/firstlight/firstlight/internal/pregate/playbook"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// nodesAfter is the check that follows each wave of a playbook: the commands and rules of gate node that
// put no load on a node. nil before an earlier gate: the nodes may lack their software.
func nodesAfter(gate string, s *site.Site, p *profile.Profile, a Access) pregate.CheckNodes {
	order := site.Gates()
	if slices.Index(order, gate) < slices.Index(order, node.Name) {
		return nil
	}
	return func(ctx context.Context, rec check.Recorder, nodes []string) (out playbook.NodeCheck, err error) {
		others := slices.DeleteFunc(s.NodeNames(), func(name string) bool { return slices.Contains(nodes, name) })
		wave := s.Part(others)
		hosts := a.tools(wave)
		if hosts == nil {
			return playbook.NodeCheck{Err: "there is no access to the hosts"}, nil
		}
		for _, v := range wave.Views(p) {
			if len(v.Site.Inventory.Nodes) == 0 {
				continue
			}
			light := node.NewLowLoad(v.Site, v.Profile, node.Deps{Hosts: hosts})
			seen := &kept{Recorder: rec}
			work, limited := errgroup.WithContext(ctx)
			work.SetLimit(light.Concurrency())
			for _, host := range light.Nodes() {
				work.Go(func() error { return light.Observe(limited, seen, host) })
			}
			if err := work.Wait(); err != nil {
				return out, fmt.Errorf("observe the nodes after a wave: %w", err)
			}
			obs := seen.all()
			out.Observations += len(obs)
			for _, f := range light.Judge(nil, obs) {
				if f.Verdict == check.Failed {
					out.Failed = append(out.Failed, f.Finding)
				} else {
					out.Unobserved = append(out.Unobserved, f.Finding)
				}
			}
		}
		return out, nil
	}
}
