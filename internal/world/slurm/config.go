package slurm

import (
	"fmt"
	"path/filepath"
	"strings"
)

// cpus are those that slurm.conf gives each node: a task each GPU.
const cpus = 8

// deadAfter is SlurmdTimeout in seconds: a node whose slurmd is killed is DOWN after it.
const deadAfter = 10

// slurmConf is slurm.conf. Nodes are this machine under other names.
func (c *Cluster) slurmConf() string {
	var b strings.Builder
	socket := c.path("munge/socket")
	fmt.Fprintf(&b, `ClusterName=lab
SlurmctldHost=localhost
SlurmctldPort=%d
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=%s
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=1
SlurmdParameters=config_overrides
SlurmctldPidFile=%s
SlurmdPidFile=%s
SlurmdSpoolDir=%s
StateSaveLocation=%s
SlurmctldLogFile=%s
SlurmdLogFile=%s
SlurmdTimeout=%d
JobAcctGatherType=jobacct_gather/none
GresTypes=gpu
`, c.controllerPort, socket, c.path("slurmctld.pid"), c.path("slurmd-%n.pid"), c.path("spool-%n"), c.path("state"), c.path("slurmctld.log"), c.path("slurmd-%n.log"), deadAfter)
	if !c.settings.NoAccounting {
		fmt.Fprintf(&b, "AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageHost=localhost\nAccountingStoragePort=%d\nAccountingStoragePass=%s\n", c.databasePort, socket)
		if !c.settings.NoGPURecords {
			fmt.Fprintf(&b, "AccountingStorageTRES=gres/gpu\n")
		}
	}
	if !c.settings.NoProlog {
		fmt.Fprintf(&b, "Prolog=%s\nPrologFlags=Alloc\n", c.path("prolog"))
	}
	if !c.settings.NoEpilog {
		fmt.Fprintf(&b, "Epilog=%s\n", c.path("epilog"))
	}
	for i, node := range c.options.Nodes {
		gpus := c.options.GPUs
		if n, ok := c.settings.Configured[node]; ok {
			gpus = n
		}
		fmt.Fprintf(&b, "NodeName=%s NodeHostname=localhost Port=%d CPUs=%d Boards=1 SocketsPerBoard=1 CoresPerSocket=%d ThreadsPerCore=1 RealMemory=500 Gres=gpu:%s:%d\n",
			node, c.nodePorts[i], cpus, cpus, c.options.Type, gpus)
	}
	fmt.Fprintf(&b, "PartitionName=%s Nodes=%s Default=YES MaxTime=INFINITE State=UP\n", Partition, strings.Join(c.options.Nodes, ","))
	return b.String()
}

// gresConf is gres.conf: a file for each GPU of each node.
func (c *Cluster) gresConf() string {
	var b strings.Builder
	for _, node := range c.options.Nodes {
		gpus := c.options.GPUs
		if n, ok := c.settings.Reported[node]; ok {
			gpus = n
		}
		for i := range gpus {
			fmt.Fprintf(&b, "NodeName=%s Name=gpu Type=%s File=%s\n", node, c.options.Type, c.device(i))
		}
	}
	return b.String()
}

func (c *Cluster) device(i int) string {
	return filepath.Join(c.dir, "dev", fmt.Sprintf("nvidia%d", i))
}

// slurmdbdConf is slurmdbd.conf.
func (c *Cluster) slurmdbdConf() string {
	return fmt.Sprintf(`AuthType=auth/munge
AuthInfo=socket=%s
DbdHost=localhost
DbdPort=%d
SlurmUser=root
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=root
StorageLoc=slurm
LogFile=%s
PidFile=%s
`, c.path("munge/socket"), c.databasePort, c.path("slurmdbd.log"), c.path("slurmdbd.pid"))
}
