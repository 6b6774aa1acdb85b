package gate

import (
	"github.com/firstlight/firstlight/internal/gate/collective"
	"github.com/firstlight/firstlight/internal/gate/facility"
	"github.com/firstlight/firstlight/internal/gate/inference"
	"github.com/firstlight/firstlight/internal/gate/node"
	"github.com/firstlight/firstlight/internal/gate/ray"
	"github.com/firstlight/firstlight/internal/gate/telemetry"
	"github.com/firstlight/firstlight/internal/gate/training"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// onRay returns the gates of a cluster whose GPUs a RayCluster has, in order: 1 to 3 are those of hosts, 4 is
// Ray's. A site declares that 5 to 8 do not apply: they are never observed.
func onRay(s *site.Site, p *profile.Profile, a Access) []gate {
	return []gate{
		facility.New(s, p, facility.Deps{}),
		fabricGate(s, p, a),
		node.New(s, p, node.Deps{Hosts: a.Tools(s), Cluster: a.Cluster}),
		ray.New(s, p, ray.Deps{Cluster: a.Cluster, RunID: a.RunID, Killed: a.Killed}),
		telemetry.New(s, p, telemetry.Deps{}),
		collective.New(s, p, collective.Deps{}),
		training.New(s, p, collective.Deps{}),
		inference.New(s, p, collective.Deps{}),
	}
}
