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
func nodesAfter(gate string, s *site.Site, p *profile.Profile, a Access) *pregate.NodeCheck {
	order := site.Gates()
	if slices.Index(order, gate) < slices.Index(order, node.Name) {
		return nil
	}
	return &pregate.NodeCheck{
		Observe: func(ctx context.Context, rec check.Recorder, nodes []string) (why string, err error) {
			hosts := a.Tools(s)
			if hosts == nil {
				return "there is no access to the hosts", nil
			}
			for _, light := range lowLoad(s, p, nodes, node.Deps{Hosts: hosts}) {
				work, limited := errgroup.WithContext(ctx)
				work.SetLimit(light.Concurrency())
				for _, host := range light.Nodes() {
					work.Go(func() error { return light.Observe(limited, rec, host) })
				}
				if err := work.Wait(); err != nil {
					return "", fmt.Errorf("observe the nodes after a wave: %w", err)
				}
			}
			return "", nil
		},
		Judge: func(nodes []string, obs []check.Observation) (failed, unobserved []check.Finding) {
			for _, light := range lowLoad(s, p, nodes, node.Deps{}) {
				own := slices.DeleteFunc(slices.Clone(obs), func(o check.Observation) bool { return !slices.Contains(light.Nodes(), o.Target) })
				for _, f := range light.Judge(nil, own) {
					if f.Verdict == check.Failed {
						failed = append(failed, f.Finding)
					} else {
						unobserved = append(unobserved, f.Finding)
					}
				}
			}
			return failed, unobserved
		},
	}
}

// lowLoad are the watches of some nodes of a site, one for each of its groups that has them.
func lowLoad(s *site.Site, p *profile.Profile, nodes []string, deps node.Deps) []*node.LowLoad {
	var out []*node.LowLoad
	for _, v := range s.Part(slices.DeleteFunc(s.NodeNames(), func(name string) bool { return slices.Contains(nodes, name) })).Views(p) {
		if len(v.Site.Inventory.Nodes) > 0 {
			out = append(out, node.NewLowLoad(v.Site, v.Profile, deps))
		}
	}
	return out
}

// Playbooks is what a site requires of the playbooks before a gate.
func Playbooks(s *site.Site, p *profile.Profile, gate string) playbook.Expected {
	var out playbook.Expected
	for _, prepare := range s.Prepare {
		if a := prepare.Rollout(); prepare.Gate == gate && a != nil {
			out.Once, out.Hosts = append(out.Once, a.Once()), s.NodeNames()
		}
	}
	if n := nodesAfter(gate, s, p, Access{}); n != nil {
		out.Nodes = n.Judge
	}
	return out
}
