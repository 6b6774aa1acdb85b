// Package slurm has gates 4 and 5 of a Slurm cluster. Gate gpustack: slurmctld answers, every node of
// the inventory is idle in the partition with the GPUs of the profile, and a job of all nodes runs
// through prolog and epilog. Gate telemetry: the accounting database has the record of a job. All
// commands run on the login host, none as root.
package slurm
