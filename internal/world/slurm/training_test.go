package slurm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/suite"
)

// A training that says nothing of the nodes is unobserved and leaves no job: one that waits behind another job, and
// one that is cancelled. Its output is read also where the login host does not have it, and the next job of a run
// deletes what an interrupted one left.
func TestTrainingJobs(t *testing.T) { //nolint:tparallel // the cases share a cluster
	t.Parallel()
	c := startCluster(t)
	suite.Admit(t)
	t.Run("waits", c.requireWaits)
	t.Run("cancelled", c.requireCancelled)
	t.Run("interrupted", c.requireInterrupted)
	t.Run("output on the batch host", c.requireOutputOnBatchHost)
}

func (c cluster) requireWaits(t *testing.T) {
	out, errs, exit, err := c.Run(t.Context(), "sbatch", "--parsable", "--exclusive", "--nodes=1", "--output=/dev/null", "--wrap=sleep 300")
	if err != nil || exit != 0 {
		t.Fatalf("%v: %s", err, errs)
	}
	other := strings.TrimSpace(string(out))
	j := c.judge(t, "training")
	if j.Verdict != check.Unobserved || !strings.Contains(j.Findings[0].Message, "did not begin in time: it is PENDING (") {
		t.Errorf("%s (%s): %+v", j.Verdict, j.Reason, j.Findings)
	}
	c.requireJobs(t, other)
	if _, errs, exit, err := c.Run(t.Context(), "scancel", other); err != nil || exit != 0 {
		t.Fatalf("%v: %s", err, errs)
	}
	if err := c.Idle(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// requireJobs requires that these are all jobs of the cluster.
func (c cluster) requireJobs(t *testing.T, want ...string) {
	t.Helper()
	out, errs, exit, err := c.Run(t.Context(), "squeue", "-h", "-o", "%i", "-t", "PENDING,RUNNING")
	if got := strings.Fields(string(out)); err != nil || exit != 0 || !slices.Equal(got, want) {
		t.Errorf("jobs %q, want %q: %v %s", got, want, err, errs)
	}
}

func (c cluster) requireCancelled(t *testing.T) {
	if err := c.Program("torchrun", "scancel \"$SLURM_JOB_ID\"\nexec sleep 600\n"); err != nil {
		t.Fatal(err)
	}
	j := c.judge(t, "training")
	if j.Verdict != check.Unobserved || !strings.Contains(j.Findings[0].Message, "is CANCELLED") {
		t.Errorf("%s (%s): %+v", j.Verdict, j.Reason, j.Findings)
	}
	c.faults(t)
	if err := c.Idle(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func (c cluster) requireInterrupted(t *testing.T) {
	if err := c.Program("torchrun", "exec sleep 600\n"); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	running := make(chan error, 1)
	go func() {
		running <- c.States(ctx, func(states []string) error {
			if states[0] != "ALLOCATED" || len(c.outputs()) == 0 {
				return fmt.Errorf("states %q, files %q", states, c.outputs())
			}
			return nil
		})
		stop()
	}()
	if _, err := c.judgeOn(ctx, "training", c.RunOn); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if err := <-running; err != nil {
		t.Fatal(err)
	}
	c.requireJobs(t)
	c.faults(t)
	if err := c.Idle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if j := c.judge(t, "training"); j.Verdict != check.Passed || len(c.outputs()) > 0 {
		t.Errorf("%s (%s), files %q: %+v", j.Verdict, j.Reason, c.outputs(), j.Findings)
	}
}

// outputs are the files in the directory for outputs of jobs.
func (c cluster) outputs() []string {
	entries, err := os.ReadDir(c.site.Slurm.OutputDirectory)
	if err != nil {
		return []string{err.Error()}
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func (c cluster) requireOutputOnBatchHost(t *testing.T) {
	j, err := c.judgeOn(t.Context(), "training", func(ctx context.Context, host string, argv ...string) (ssh.Output, error) {
		if argv[0] == "sh" {
			return ssh.Output{Exit: 1, Stderr: []byte("cat: No such file or directory")}, nil
		}
		return c.RunOn(ctx, host, argv...)
	})
	if err != nil || j.Verdict != check.Passed || len(c.outputs()) > 0 {
		t.Errorf("%v, %s (%s), files %q: %+v", err, j.Verdict, j.Reason, c.outputs(), j.Findings)
	}
}
