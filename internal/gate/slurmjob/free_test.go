package slurmjob

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/gate/gangjob"
	"github.com/firstlight/firstlight/internal/probe/ssh"
)

// A job is submitted only to nodes without jobs of others, which it could preempt. An epilog is waited for.
func TestJobsOfOthersAreNotPreempted(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		nodes     []string
		submitted bool
		problem   string
	}{
		"idle":             {[]string{"IDLE"}, true, ""},
		"down":             {[]string{"DOWN*"}, true, ""},
		"planned":          {[]string{"IDLE+PLANNED"}, true, ""},
		"a job":            {[]string{"MIXED"}, false, "the job was not submitted: gpu-01 is MIXED: it runs jobs, which a job of the gate could preempt"},
		"all of it":        {[]string{"ALLOCATED"}, false, "gpu-01 is ALLOCATED"},
		"drains":           {[]string{"ALLOCATED+DRAIN"}, false, "gpu-01 is ALLOCATED+DRAIN"},
		"an epilog":        {[]string{"IDLE+COMPLETING", "MIXED+COMPLETING", "IDLE"}, true, ""},
		"an epilog, a job": {[]string{"IDLE+COMPLETING", "MIXED"}, false, "gpu-01 is MIXED"},
		"a long epilog":    {[]string{"IDLE+COMPLETING"}, false, "gpu-01 is IDLE+COMPLETING"},
		"a dead node":      {[]string{"IDLE+COMPLETING+NOT_RESPONDING"}, true, ""},
	} {
		l := healthy()
		l.nodes = tt.nodes
		result, err := runner(t, l).Run(t.Context(), job())
		if err != nil || l.started("sbatch") != tt.submitted || result.Outcome.Succeeded != tt.submitted || !tt.submitted && result.Outcome.Ended != gangjob.EndedNotRun || !strings.Contains(result.Outcome.Problem, tt.problem) {
			t.Errorf("%s: %v: %+v, ran %q", name, err, result.Outcome, l.ran)
		}
		if l.ran[0] != "scontrol show nodes gpu-01,gpu-02 -a -o" {
			t.Errorf("%s: ran %q", name, l.ran)
		}
	}
}

// The job that reads the output on its node waits for the job of others that has begun there meanwhile.
func TestOutputIsReadAfterJobsOfOthers(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		nodes []string
		read  bool
	}{"ends": {[]string{"IDLE", "ALLOCATED", "ALLOCATED", "IDLE"}, true}, "remains": {[]string{"IDLE", "ALLOCATED"}, false}} {
		l := healthy()
		l.nodes, l.outputs["sh"], l.outputs["srun"] = tt.nodes, []ssh.Output{{Exit: 1}}, said(good)
		result, err := runner(t, l).Run(t.Context(), job())
		if err != nil || l.started("srun") != tt.read || result.Outcome.Succeeded != tt.read {
			t.Errorf("%s: %v: %+v, ran %q", name, err, result.Outcome, l.ran)
		}
	}
}
