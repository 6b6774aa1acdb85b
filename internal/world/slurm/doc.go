// Package slurm runs a real Slurm cluster on this machine, of Debian's packages: munged, MariaDB,
// slurmdbd, slurmctld, and a slurmd for each node by its name, all on loopback with ports, sockets and
// files of their own. GPUs are files that gres.conf names. Only tests import it.
//
// All nodes are this machine: they share its host name, and jobs run on it. There is no cgroup, no Pyxis and
// no enroot.
package slurm
