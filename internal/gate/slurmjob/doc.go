// Package slurmjob runs batch jobs of gates on a Slurm cluster: submission, wait for the end, output of each node's
// task, and the accounting record; and jobs whose program is a server, which run until they are cancelled.
//
// A job has the run's ID in its name, and is cancelled by it. No job is a success that waited too long, was
// cancelled or requeued, or whose output or record does not show its end.
package slurmjob
