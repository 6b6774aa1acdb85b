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

// The jobs that read and delete the output on its node wait for jobs of others that have begun there meanwhile. A file that
// could not be deleted is reported.
func TestOutputIsReadAfterJobsOfOthers(t *testing.T) {
	t.Parallel()
	const remains = "/tmp/firstlight-training-r1-7.out remains on gpu-01: gpu-01 is ALLOCATED: it runs jobs"
	for name, tt := range map[string]struct {
		nodes []string
		jobs  int // that ran on the node
		left  string
	}{
		"none":                 {[]string{"IDLE"}, 2, ""},
		"ends":                 {[]string{"IDLE", "ALLOCATED", "ALLOCATED", "IDLE"}, 2, ""},
		"remains":              {[]string{"IDLE", "ALLOCATED"}, 0, ""},
		"begins later":         {[]string{"IDLE", "IDLE", "ALLOCATED", "ALLOCATED", "IDLE"}, 2, ""},
		"begins later, no end": {[]string{"IDLE", "IDLE", "ALLOCATED"}, 1, remains},
	} {
		l := healthy()
		l.nodes, l.outputs["sh"], l.outputs["srun"] = tt.nodes, []ssh.Output{{Exit: 1}}, said(good)
		result, err := runner(t, l).Run(t.Context(), job())
		jobs := 0
		for i, line := range l.ran {
			if !strings.HasPrefix(line, "srun ") {
				continue
			}
			if jobs++; l.ran[i-1] != "scontrol show nodes gpu-01 -a -o" {
				t.Errorf("%s: job %d was preceded by %q", name, jobs, l.ran[i-1])
			}
		}
		if o := result.Outcome; err != nil || jobs != tt.jobs || o.Succeeded != (jobs > 0) || !strings.HasPrefix(o.Leftover, tt.left) || (o.Leftover == "") != (tt.left == "") {
			t.Errorf("%s: %v: %+v, ran %q", name, err, result.Outcome, l.ran)
		}
	}
}

// A file of the login host that could not be deleted is reported too.
func TestOutputRemains(t *testing.T) {
	t.Parallel()
	l := healthy()
	l.outputs["sh"] = append(said(good), ssh.Output{Exit: 1, Stderr: []byte("rm: Read-only file system")})
	result, err := runner(t, l).Run(t.Context(), job())
	if o := result.Outcome; err != nil || !o.Succeeded || o.Leftover != "/tmp/firstlight-training-r1-7.out remains on login-01: rm exited with code 1: rm: Read-only file system" {
		t.Errorf("%v: %+v", err, o)
	}
}
