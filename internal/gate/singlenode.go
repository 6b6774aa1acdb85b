package gate

import (
	"github.com/firstlight/firstlight/internal/gate/collective"
	"github.com/firstlight/firstlight/internal/gate/facility"
	"github.com/firstlight/firstlight/internal/gate/gpustack"
	"github.com/firstlight/firstlight/internal/gate/inference"
	"github.com/firstlight/firstlight/internal/gate/node"
	"github.com/firstlight/firstlight/internal/gate/telemetry"
	"github.com/firstlight/firstlight/internal/gate/training"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// singleNode returns the gates of one machine, in order: fabric and collective are checks of its
// own links and GPUs. Those of site.WhyNotApplicable are never observed.
func singleNode(s *site.Site, p *profile.Profile, a Access) []gate {
	return []gate{
		facility.New(s, p, facility.Deps{}),
		node.NewLinks(s, p, node.Deps{Hosts: a.Hosts}),
		node.New(s, p, node.Deps{Hosts: a.Hosts}),
		gpustack.New(s, p, gpustack.Deps{}),
		telemetry.New(s, p, telemetry.Deps{}),
		collective.NewLocal(s, p, a.Hosts),
		training.New(s, p, collective.Deps{}),
		inference.New(s, p, collective.Deps{}),
	}
}
