package slurmjob

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	testingclock "k8s.io/utils/clock/testing"

	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/site"
)

// login is a login host: it gives the outputs of a command by its first word, in their order, the last one again.
type login struct {
	outputs map[string][]ssh.Output
	ran     []string
	// nodes are the states of gpu-01 by time; the last one remains. None: it is idle.
	nodes []string
}

func (l *login) Run(_ context.Context, _ string, argv ...string) (ssh.Output, error) {
	l.ran = append(l.ran, ssh.Quote(argv))
	if argv[0] == "scontrol" && argv[2] == "nodes" {
		state := "IDLE"
		if len(l.nodes) > 0 {
			state = l.nodes[0]
			l.nodes = l.nodes[min(1, len(l.nodes)-1):]
		}
		return ssh.Output{Stdout: []byte("NodeName=gpu-01 Gres=gpu:h100:8 State=" + state + " Partitions=batch\nNodeName=gpu-02 Gres=gpu:h100:8 State=IDLE Partitions=batch\n")}, nil
	}
	all := l.outputs[argv[0]]
	if len(all) == 0 {
		return ssh.Output{}, fmt.Errorf("no output of %s", argv[0])
	}
	if len(all) > 1 {
		l.outputs[argv[0]] = all[1:]
	}
	return all[0], nil
}

func said(lines ...string) []ssh.Output {
	var out []ssh.Output
	for _, line := range lines {
		out = append(out, ssh.Output{Stdout: []byte(line)})
	}
	return out
}

// state is a line of scontrol of job 7.
func state(name string) string {
	return "JobId=7 JobName=firstlight-training-r1 JobState=" + name + " Dependency=(null) Requeue=0 Restarts=0 BatchFlag=1 ExitCode=0:0 NodeList=gpu-[01-02] BatchHost=gpu-01 NumNodes=2 NumCPUs=16\n"
}

// good is the output of a job of two nodes.
const good = `0: firstlight-task begin 0 gpu-01
1: firstlight-task begin 1 gpu-02
1: [rank8]: step
0: [rank0]: step
0:
0: firstlight-task end 0 0
1: firstlight-task end 1 0

firstlight-batch end 7 0
`

func healthy() *login {
	return &login{outputs: map[string][]ssh.Output{
		"sbatch": said("7\n"), "scontrol": said(state("PENDING Reason=Resources"), state("RUNNING Reason=None"), state("COMPLETING Reason=None"), state("COMPLETED Reason=None")),
		"sh": said(good), "scancel": said(""),
	}}
}

func runner(t *testing.T, l *login) Runner {
	t.Helper()
	s, err := site.Parse("slurm.yaml", site.SlurmExample())
	if err != nil {
		t.Fatal(err)
	}
	r := Runner{Site: s, RunID: "r1"}
	clock := testingclock.NewFakePassiveClock(time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC))
	r.Deps.Hosts, r.Deps.Clock = l, clock
	r.Deps.Wait = func(ctx context.Context, by time.Duration) error {
		clock.SetTime(clock.Now().Add(by))
		return ctx.Err()
	}
	return r
}

func job() Job {
	return Job{Gate: "training", Nodes: []string{"gpu-01", "gpu-02"}, GPUs: 8, Script: "echo \"it's $JOB_COMPLETION_INDEX of $A, $HOSTS\"", Env: map[string]string{"A": "mlx5_0,mlx5_1"}, Timeout: 10 * time.Minute}
}

// started reports whether a command ran.
func (l *login) started(prefix string) bool {
	for _, line := range l.ran {
		if strings.HasPrefix(line, prefix) {
			return true
		}
	}
	return false
}
