package site

import "time"

// Defaults of what a site may leave out.
const (
	DefaultSSHConcurrency = 16
	DefaultSSHTimeout     = 30 * time.Minute // dcgmi diag -r 3 takes 15-30 minutes on real GPUs
	DefaultPrepareTimeout = 30 * time.Minute
)

func (s *Site) setDefaults() {
	if s.Reach.SSH.Concurrency == 0 {
		s.Reach.SSH.Concurrency = DefaultSSHConcurrency
	}
	if s.Reach.SSH.Timeout == 0 {
		s.Reach.SSH.Timeout = Duration(DefaultSSHTimeout)
	}
	if s.Reach.SSH.FabricHost == "" && len(s.Inventory.Nodes) > 0 {
		s.Reach.SSH.FabricHost = s.Inventory.Nodes[0].Name
	}
	if s.GPUStack.GangScheduler == "" {
		s.GPUStack.GangScheduler = "auto"
	}
	if s.Workloads.Training.Nodes == 0 {
		s.Workloads.Training.Nodes = len(s.Inventory.Nodes)
	}
	for i := range s.Prepare {
		if s.Prepare[i].Timeout == 0 {
			s.Prepare[i].Timeout = Duration(DefaultPrepareTimeout)
		}
	}
}
