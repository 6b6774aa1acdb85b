package collective

const remedyApart = "start the tasks as one MPI job: set slurm.mpi to a plugin of srun --mpi=list that the program's MPI has (such as pmix), and use nccl-tests that is built with MPI=1"

// apart reports tasks that did not join: each is a program of one rank, which prints a table of its own and succeeds.
// They say nothing of the nodes. Wrong data does.
func (r *review) apart() bool {
	if len(r.f.Runs) <= r.f.Repetitions || r.expectedRanks() <= 1 || r.corrupt() {
		return false
	}
	for _, run := range r.f.Runs {
		for _, d := range run.Devices {
			if d.Rank != 0 {
				return false
			}
		}
	}
	r.Unobserved(r.id, r.launcher(), remedyApart, "the tasks did not join: the log has parts of %d tables of rank 0 alone, want %d tables of %d ranks", len(r.f.Runs), r.f.Repetitions, r.expectedRanks())
	return true
}
