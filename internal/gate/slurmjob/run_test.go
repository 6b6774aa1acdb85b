package slurmjob

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/gate/gangjob"
	"github.com/firstlight/firstlight/internal/probe/ssh"
)

func TestHealthy(t *testing.T) {
	t.Parallel()
	l := healthy()
	result, err := runner(t, l).Run(t.Context(), job())
	if err != nil || !result.Outcome.Succeeded || result.State.Job != "7" || result.State.Submitted != "firstlight-training-r1" || len(result.Logs) != 2 || len(result.Outcome.Pods) != 2 {
		t.Fatalf("%v: %+v", err, result)
	}
	for i, want := range []string{"[rank0]: step\n\n", "[rank8]: step\n"} {
		log := result.Logs[i]
		if string(log.Data) != want || log.Err != "" || log.Pod.Node != job().Nodes[i] || log.Pod.Index != i || log.Pod.ExitCode == nil || *log.Pod.ExitCode != 0 {
			t.Errorf("task %d: %+v, %q", i, log, log.Data)
		}
	}
	if l.started("scancel") || !l.started("sh -c "+ssh.Quote([]string{readScript})+" /tmp/firstlight-training-r1-7.out") {
		t.Errorf("%q", l.ran)
	}
}

// No job is a success that did not run to its end, or whose end its output does not show; one that may still run is
// cancelled by its name.
func TestNeverAPass(t *testing.T) {
	t.Parallel()
	end := func(text string) []ssh.Output { return said(state("RUNNING Reason=None"), state(text)) }
	failed := func(text string) ssh.Output { return ssh.Output{Exit: 1, Stderr: []byte(text)} }
	for name, tt := range map[string]struct {
		command  string
		outputs  []ssh.Output
		ended    string
		problem  string
		canceled bool
	}{
		"not submitted":       {"sbatch", []ssh.Output{failed("sbatch: error: invalid partition")}, gangjob.EndedNotRun, "the job was not submitted: sbatch exited with code 1: sbatch: error: invalid partition", true},
		"no ID":               {"sbatch", said("Submitted\n"), gangjob.EndedNotRun, "unexpected output", true},
		"stays pending":       {"scontrol", said(state("PENDING Reason=Resources")), gangjob.EndedNotRun, "job 7 did not begin in time: it is PENDING (Resources)", true},
		"held":                {"scontrol", said(state("PENDING Reason=JobHeldUser")), gangjob.EndedNotRun, "PENDING (JobHeldUser)", true},
		"requeued":            {"scontrol", end("REQUEUED Reason=None"), gangjob.EndedNotRun, "job 7 was requeued", true},
		"ran twice":           {"scontrol", said(strings.Replace(state("COMPLETED Reason=None"), "Restarts=0", "Restarts=1", 1)), gangjob.EndedNotRun, "after 1 restarts", true},
		"never ends":          {"scontrol", said(state("RUNNING Reason=None")), gangjob.EndedTimeout, "job 7 is still RUNNING after its time limit", true},
		"unknown state":       {"scontrol", said(state("TOASTED Reason=None")), gangjob.EndedTimeout, "job 7 is still TOASTED", true},
		"forgotten":           {"scontrol", []ssh.Output{failed("slurm_load_jobs error: Invalid job id specified")}, gangjob.EndedNotRun, "the state of job 7 cannot be read: scontrol exited with code 1", true},
		"cancelled":           {"scontrol", end("CANCELLED Reason=None"), gangjob.EndedNotRun, "job 7 is CANCELLED", false},
		"preempted":           {"scontrol", end("PREEMPTED Reason=None"), gangjob.EndedNotRun, "job 7 is PREEMPTED", false},
		"failed":              {"scontrol", end("FAILED Reason=NonZeroExitCode"), gangjob.EndedDone, "job 7 is FAILED, exit code 0:0 (NonZeroExitCode)", false},
		"node failed":         {"scontrol", end("NODE_FAIL Reason=None"), gangjob.EndedDone, "job 7 is NODE_FAIL", false},
		"time limit":          {"scontrol", end("TIMEOUT Reason=TimeLimit"), gangjob.EndedTimeout, "job 7 is TIMEOUT", false},
		"out of memory":       {"scontrol", end("OUT_OF_MEMORY Reason=OutOfMemory"), gangjob.EndedDone, "OUT_OF_MEMORY", false},
		"exit code":           {"scontrol", said(strings.Replace(state("COMPLETED Reason=None"), "ExitCode=0:0", "ExitCode=0:9", 1)), gangjob.EndedDone, "exit code 0:9", false},
		"output cut off":      {"sh", said(good[:strings.Index(good, "firstlight-batch")]), gangjob.EndedNotRun, "its output has no end", false},
		"output of another":   {"sh", said(strings.Replace(good, "end 7 0", "end 6 0", 1)), gangjob.EndedNotRun, "its output has no end", false},
		"output says failure": {"sh", said(strings.Replace(good, "end 7 0", "end 7 1", 1)), gangjob.EndedDone, "its output ends with exit code 1", false},
		"a task says failure": {"sh", said(strings.Replace(good, "end 1 0", "end 1 134", 1)), gangjob.EndedDone, "job 7 is COMPLETED", false},
		"a task too many":     {"sh", said(good + "2: x\n"), gangjob.EndedNotRun, "has a task 2: the job has 2", false},
		"a task of another":   {"sh", said(strings.Replace(good, "begin 1 gpu-02", "begin 0 gpu-02", 1)), gangjob.EndedNotRun, "unexpected line of task 1", false},
		"no time":             {"sh", said(strings.Replace(good, "begin 1 gpu-02", "begin 1 gpu-02 now", 1)), gangjob.EndedNotRun, "unexpected line of task 1", false},
		"a task twice":        {"sh", said("0: firstlight-task begin 0 gpu-02\n" + good), gangjob.EndedNotRun, "task 0 began twice", false},
		"no output":           {"sh", []ssh.Output{failed("cat: no such file")}, gangjob.EndedNotRun, "on login-01: cat exited with code 1: cat: no such file; on gpu-01: no output of srun", false},
	} {
		l := healthy()
		l.outputs[tt.command] = tt.outputs
		result, err := runner(t, l).Run(t.Context(), job())
		o := result.Outcome
		if err != nil || o.Succeeded || o.Ended != tt.ended || !strings.Contains(o.Problem, tt.problem) || l.started("scancel --name=firstlight-training-r1") != tt.canceled {
			t.Errorf("%s: %v, %s: %s; %q", name, err, o.Ended, o.Problem, l.ran)
		}
	}
}

// The end of a task that is missing makes its log incomplete, although the job succeeded.
func TestTaskWithoutEnd(t *testing.T) {
	t.Parallel()
	l := healthy()
	l.outputs["sh"] = said(strings.Replace(good, "1: firstlight-task end 1 0\n", "", 1))
	result, err := runner(t, l).Run(t.Context(), job())
	if err != nil || !result.Outcome.Succeeded || result.Logs[1].Err == "" || result.Logs[0].Err != "" || result.Logs[1].Pod.ExitCode != nil {
		t.Errorf("%v: %+v", err, result)
	}
}

// Without a shared directory the output is read on the batch host, in a job of that node.
func TestOutputOnTheBatchHost(t *testing.T) {
	t.Parallel()
	l := healthy()
	l.outputs["sh"], l.outputs["srun"] = []ssh.Output{{Exit: 1}}, said(strings.ReplaceAll(good, "0: ", "00: "))
	result, err := runner(t, l).Run(t.Context(), job())
	if err != nil || !result.Outcome.Succeeded {
		t.Fatalf("%v: %+v", err, result.Outcome)
	}
	want := "srun --cpu-bind=none --exclusive --gres=gpu:h100:8 --job-name=firstlight-training-output-r1 --mem=0 --nodelist=gpu-01 --nodes=1 --partition=batch --time=5 --ntasks=1 --immediate=300 sh -c "
	if last := l.ran[len(l.ran)-1]; !strings.HasPrefix(last, want) {
		t.Errorf("%s, want %s", last, want)
	}
}

// A run that is interrupted cancels its job.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	l := healthy()
	ctx, stop := context.WithCancel(t.Context())
	r := runner(t, l)
	r.Deps.Hosts = hostFunc(func(ctx context.Context, host string, argv ...string) (ssh.Output, error) {
		if argv[0] == "scontrol" {
			stop()
		}
		return l.Run(ctx, host, argv...)
	})
	if _, err := r.Run(ctx, job()); !errors.Is(err, context.Canceled) || !l.started("scancel --name=firstlight-training-r1") {
		t.Errorf("%v, %q", err, l.ran)
	}
	l.outputs["scancel"] = []ssh.Output{{Exit: 1, Stderr: []byte("Access denied")}}
	l.outputs["scontrol"] = said(state("PENDING Reason=Resources"))
	result, err := runner(t, l).Run(t.Context(), job())
	if err != nil || !strings.Contains(result.Outcome.Problem, "its job may still run: scancel exited with code 1: Access denied") {
		t.Errorf("%v, %+v", err, result.Outcome)
	}
}

type hostFunc func(ctx context.Context, host string, argv ...string) (ssh.Output, error)

func (f hostFunc) Run(ctx context.Context, host string, argv ...string) (ssh.Output, error) {
	return f(ctx, host, argv...)
}

// A job whose container does not start on a node says nothing of the node; one that ran before does.
func TestContainerDoesNotStart(t *testing.T) {
	t.Parallel()
	const begin, end = "0: firstlight-task begin 0 gpu-01\n", "\nfirstlight-batch end 7 1\n"
	raw, err := os.ReadFile("testdata/pyxis-not-started.txt") // of NVIDIA/pyxis issue 61
	if err != nil {
		t.Fatal(err)
	}
	pyxisFails := strings.ReplaceAll(string(raw), "slurmstepd: ", "1: slurmstepd: ") // as srun --label prints it
	for name, tt := range map[string]struct{ output, state, ended, problem string }{
		"on no node":     {pyxisFails + end, "FAILED", gangjob.EndedNotRun, "job 7 is FAILED, exit code 0:0 (NonZeroExitCode); a container was not started: slurmstepd: error: pyxis: container start failed"},
		"on one node":    {begin + pyxisFails + end, "FAILED", gangjob.EndedNotRun, "/bin/bash: No such file or directory"},
		"names the node": {begin + pyxisFails + end, "FAILED", gangjob.EndedNotRun, " | srun: error: hpc-pg0-2: task 1: Exited with exit code 1"},
		"after the task": {begin + "1: firstlight-task begin 1 gpu-02\n" + pyxisFails + end, "FAILED", gangjob.EndedDone, "job 7 is FAILED"},
		"another error":  {"1: slurmstepd: error: execve(): bash: No such file or directory\n" + end, "FAILED", gangjob.EndedDone, "job 7 is FAILED"},
		"a removal":      {"1: slurmstepd: error: pyxis: failed to remove container filesystem\n" + end, "FAILED", gangjob.EndedDone, "job 7 is FAILED"},
	} {
		l := healthy()
		l.outputs["scontrol"], l.outputs["sh"] = said(state(tt.state+" Reason=NonZeroExitCode")), said(tt.output)
		result, err := runner(t, l).Run(t.Context(), job())
		if o := result.Outcome; err != nil || o.Succeeded || o.Ended != tt.ended || !strings.Contains(o.Problem, tt.problem) {
			t.Errorf("%s: %v, %s: %s", name, err, o.Ended, o.Problem)
		}
	}
}

// The import of an image, which takes minutes on each node, is not a hang of the program.
func TestImportIsNotAHang(t *testing.T) {
	t.Parallel()
	const begin = "0: firstlight-task begin 0 gpu-01\n"
	for name, tt := range map[string]struct{ output, image, ended, problem string }{
		"imports":                {"pyxis: importing docker image: nvcr.io#nvidia/pytorch:25.10-py3\n", "a#b", gangjob.EndedNotRun, "job 7 is TIMEOUT, exit code 0:0 (TimeLimit): pyxis: importing docker image"},
		"imports on one node":    {begin, "a#b", gangjob.EndedNotRun, "not all tasks have begun"},
		"hangs":                  {begin + "1: firstlight-task begin 1 gpu-02\n", "a#b", gangjob.EndedTimeout, "job 7 is TIMEOUT"},
		"without a container":    {begin, "", gangjob.EndedTimeout, "job 7 is TIMEOUT"},
		"output of another task": {begin + "2: x\n", "a#b", gangjob.EndedTimeout, "its output is unknown"},
	} {
		l, j := healthy(), job()
		j.Image = tt.image
		l.outputs["scontrol"], l.outputs["sh"] = said(state("TIMEOUT Reason=TimeLimit")), said(tt.output)
		result, err := runner(t, l).Run(t.Context(), j)
		if o := result.Outcome; err != nil || o.Succeeded || o.Ended != tt.ended || !strings.Contains(o.Problem, tt.problem) {
			t.Errorf("%s: %v, %s: %s", name, err, o.Ended, o.Problem)
		}
	}
}

// The output is deleted only after it was read: the connection may end after the command ran, or its output be too long.
func TestOutputIsNotLost(t *testing.T) {
	t.Parallel()
	l, removed, reads := healthy(), 0, 0
	l.outputs["srun"] = []ssh.Output{{Exit: 1}}
	r := runner(t, l)
	r.Deps.Hosts = hostFunc(func(ctx context.Context, host string, argv ...string) (ssh.Output, error) {
		if argv[0] != "sh" {
			return l.Run(ctx, host, argv...)
		}
		if strings.Contains(argv[2], "rm ") {
			removed++
		}
		if strings.Contains(argv[2], "cat ") {
			if reads++; reads == 1 {
				return ssh.Output{}, ssh.ErrTooMuchOutput
			}
		}
		return l.Run(ctx, host, argv...)
	})
	if result, err := r.Run(t.Context(), job()); err != nil || result.Outcome.Succeeded || reads != 1 || removed != 0 {
		t.Errorf("%v, read %d times, removed %d times: %+v", err, reads, removed, result.Outcome)
	}
	if result, err := r.Run(t.Context(), job()); err != nil || !result.Outcome.Succeeded || reads != 2 || removed != 1 {
		t.Errorf("%v, read %d times, removed %d times: %+v", err, reads, removed, result.Outcome)
	}
}
