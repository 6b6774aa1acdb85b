package slurm

import "github.com/firstlight/firstlight/internal/gate/slurmjob"

// The kinds of observations; the target is the login host.
const (
	kindPing       = "scontrol-ping"
	kindConfig     = "scontrol-config"
	kindPartitions = "scontrol-partitions"
	kindNodes      = "scontrol-nodes"
	kindAfter      = "scontrol-nodes-after"
	kindHelp       = "srun-help"
	kindJob        = "srun"
	kindRecord     = slurmjob.KindRecord
)
