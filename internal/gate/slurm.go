package gate

import (
	"github.com/firstlight/firstlight/internal/gate/collective"
	"github.com/firstlight/firstlight/internal/gate/facility"
	"github.com/firstlight/firstlight/internal/gate/inference"
	"github.com/firstlight/firstlight/internal/gate/node"
	"github.com/firstlight/firstlight/internal/gate/slurm"
	"github.com/firstlight/firstlight/internal/gate/training"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// onSlurm returns the gates of a Slurm cluster, in order: 1 to 3 are those of hosts, 4 and 5 are Slurm's, 6
// runs through srun, 7 and 8 through sbatch.
func onSlurm(s *site.Site, p *profile.Profile, a Access) []gate {
	deps := slurm.Deps{RunID: a.RunID}
	deps.Hosts = a.Hosts
	return []gate{
		facility.New(s, p, facility.Deps{}),
		fabricGate(s, p, a),
		node.New(s, p, node.Deps{Hosts: a.Hosts}),
		slurm.NewStack(s, p, deps),
		slurm.NewAccounting(s, p, deps),
		collective.NewSrun(s, p, a.Hosts, a.RunID),
		training.NewSbatch(s, p, deps.Deps, a.RunID),
		inference.NewSbatch(s, p, deps.Deps, a.Dial, a.RunID),
	}
}
