package inference

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/gate/onhost"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// fakeSlurm is a login host whose job 7 serves a model on gpu-04.
type fakeSlurm struct {
	v *fakeVLLM
	// states are those of the job before it is cancelled; the last one remains.
	states []string
	output string
	// refused is why sshd opens no connection to the port, after the load if late.
	refused error
	late    bool
	// lost: the SSH connection ends under the load.
	lost bool
	// node is the state of gpu-04 before the job; empty: IDLE.
	node string

	mu        sync.Mutex
	ran       []string
	cancelled bool
	dialled   map[string]bool
}

func (f *fakeSlurm) Run(_ context.Context, host string, argv ...string) (ssh.Output, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ran = append(f.ran, host+": "+ssh.Quote(argv))
	switch argv[0] {
	case "sbatch":
		return ssh.Output{Stdout: []byte("7\n")}, nil
	case "scancel":
		f.cancelled = true
		return ssh.Output{}, nil
	case "scontrol":
		if argv[2] == "nodes" {
			return ssh.Output{Stdout: []byte("NodeName=gpu-04 Gres=gpu:h100:8 State=" + cmp.Or(f.node, "IDLE") + " Partitions=batch\n")}, nil
		}
		state := f.states[0]
		if len(f.states) > 1 {
			f.states = f.states[1:]
		}
		if f.cancelled && state == "RUNNING" {
			state = "CANCELLED"
		}
		return ssh.Output{Stdout: []byte("JobId=7 JobName=firstlight-inference-r1 JobState=" + state + " Reason=None Requeue=0 Restarts=0 ExitCode=1:0 NodeList=gpu-04 BatchHost=gpu-04 NumNodes=1 NumCPUs=8\n")}, nil
	case "sh":
		if host != "gpu-04" { // the directory is not shared
			return ssh.Output{Exit: 1, Stderr: []byte("cat: no such file")}, nil
		}
		return ssh.Output{Stdout: []byte(f.output)}, nil
	default:
		return ssh.Output{}, fmt.Errorf("no output of %s", argv[0])
	}
}

// serve is the port of the server, which only connections from gpu-04 reach.
func (f *fakeSlurm) serve(listener pipes) Dial {
	f.dialled = map[string]bool{}
	if f.v.alias == "" {
		f.v.alias = serverName("7")
	}
	return func(ctx context.Context, host, address string) (net.Conn, error) {
		f.mu.Lock()
		f.dialled[host+" "+address] = true
		f.mu.Unlock()
		if f.refused != nil && (!f.late || f.v.asked.Load() > 0) {
			return nil, f.refused
		}
		conn, err := listener.dial(ctx, "tcp", address)
		return loseable{conn, f}, err
	}
}

// loseable is a connection that ends with its SSH connection.
type loseable struct {
	net.Conn
	f *fakeSlurm
}

// requestsBefore are those before it ends.
const requestsBefore = 50

func (c loseable) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if c.f.lost && c.f.v.asked.Load() > requestsBefore {
		return 0, ssh.ErrLost
	}
	return n, err
}

func sbatchGate(t *testing.T, f *fakeSlurm) (*Sbatch, check.Judgement, []check.Observation) {
	t.Helper()
	s, err := site.Parse("slurm.yaml", site.SlurmExample())
	if err != nil {
		t.Fatal(err)
	}
	p, err := profile.Load(s.Profile)
	if err != nil {
		t.Fatal(err)
	}
	s.Workloads.Inference.GoldenPrefix = " Paris"
	s.Slurm.ServerPort = 8123
	var g *Sbatch
	rec := &recorder{}
	synctest.Test(t, func(t *testing.T) {
		listener := make(pipes)
		srv := &http.Server{Handler: f.v.handler(), ReadHeaderTimeout: time.Hour}
		go func() { _ = srv.Serve(listener) }() // its error is that it is closed
		defer func() { _ = srv.Close() }()
		g = NewSbatch(s, p, onhost.Deps{Hosts: f}, f.serve(listener), "r1")
		if err := g.Observe(t.Context(), rec); err != nil {
			t.Fatal(err)
		}
	})
	return g, plan.Judge(g, rec.obs), rec.obs
}

func running3(end string) []string { return []string{"RUNNING", "RUNNING", "RUNNING", end} }

const serverOutput = "0: firstlight-task begin 0 gpu-04\n0: INFO 11-29 12:00:00 [api_server.py:1896] vLLM API server version 0.11.0\n"

func TestSbatch(t *testing.T) {
	t.Parallel()
	f := &fakeSlurm{v: &fakeVLLM{}, states: []string{"PENDING", "RUNNING"}, output: serverOutput}
	g, j, obs := sbatchGate(t, f)
	if j.Verdict != check.Passed || len(j.Findings) > 0 {
		t.Fatalf("%s: %s: %+v", j.Verdict, j.Reason, j.Findings)
	}
	if want := "login-01: sbatch --exclusive --gres=gpu:h100:1 --job-name=firstlight-inference-r1 --mem=0 --no-requeue --nodelist=gpu-04 --nodes=1 --parsable --partition=batch --time=21 "; !strings.HasPrefix(f.ran[1], want) {
		t.Errorf("%s, want %s", f.ran[1], want)
	}
	for _, want := range []string{"--container-image=registry.example.com#vllm-openai:v0.13.0", "PORT=8123", "LISTEN=127.0.0.1", "MODEL=meta-llama/Llama-3.1-8B-Instruct", "TP=1", `SERVER_NAME="firstlight-job-$SLURM_JOB_ID"`, "exec vllm serve"} {
		if !strings.Contains(f.ran[1], want) {
			t.Errorf("%s has no %s", f.ran[1], want)
		}
	}
	if len(f.dialled) != 1 || !f.dialled["gpu-04 127.0.0.1:8123"] {
		t.Errorf("connections to %v", f.dialled)
	}
	last := f.ran[len(f.ran)-1]
	if !f.cancelled || !strings.HasPrefix(last, "gpu-04: sh -c ") || !strings.Contains(last, "rm -f") || !strings.HasSuffix(last, " /tmp/firstlight-inference-r1-7.out") {
		t.Errorf("at the end: %s", last)
	}
	server, err := check.Decode[ServerFigures](check.OfKind(obs, KindServer)[0])
	if err != nil || server.Job != "7" || server.Node != "gpu-04" || server.Pod != "" || len(server.Served) != 2 {
		t.Errorf("%+v", server)
	}
	// The job waits for 2 s, which are not those of the server.
	if server.WaitedSeconds > 1 {
		t.Errorf("healthy after %.1f s", server.WaitedSeconds)
	}
	// A replay has no run: its judge is the same.
	if replayed := plan.Judge(NewSbatch(g.gate.site, g.gate.profile, onhost.Deps{}, nil, ""), obs); replayed.Verdict != check.Passed {
		t.Errorf("replayed: %s: %+v", replayed.Verdict, replayed.Findings)
	}
	if e, ok := g.Excluding([]string{"gpu-04"}).(*Sbatch); !ok || e.Claims() != 1 || !strings.Contains(e.Describe()[1], "--nodelist=gpu-03 ") {
		t.Errorf("%+v", e)
	}
	if err := NewSbatch(g.gate.site, g.gate.profile, onhost.Deps{}, nil, "").Observe(t.Context(), &recorder{}); err == nil {
		t.Error("a gate that only judges observes")
	}
}

// A job of Slurm whose server does not pass fails the gate, or leaves it unobserved, and is cancelled.
func TestSbatchNeverAPass(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		f             *fakeSlurm
		want          check.Verdict
		message, hint string
	}{
		"waits":                          {&fakeSlurm{states: []string{"PENDING"}}, check.Unobserved, "job 7 did not begin in time: it is PENDING", ""},
		"node in use":                    {&fakeSlurm{states: []string{"RUNNING"}, node: "MIXED"}, check.Unobserved, "the job was not submitted: gpu-04 is MIXED: it runs jobs", ""},
		"crashes":                        {&fakeSlurm{v: &fakeVLLM{never: true}, states: []string{"RUNNING", "RUNNING", "FAILED"}, output: serverOutput}, check.Failed, ": the server terminated: the job has ended: job 7 is FAILED, exit code 1:0", remedyLog},
		"does not start":                 {&fakeSlurm{v: &fakeVLLM{never: true}, states: []string{"RUNNING", "RUNNING", "FAILED"}}, check.Unobserved, "the server could not be started", ""},
		"preempted":                      {&fakeSlurm{v: &fakeVLLM{never: true}, states: []string{"RUNNING", "RUNNING", "PREEMPTED"}, output: serverOutput}, check.Unobserved, "job 7 is PREEMPTED", ""},
		"node lost":                      {&fakeSlurm{v: &fakeVLLM{never: true}, states: []string{"RUNNING", "RUNNING", "NODE_FAIL"}, output: serverOutput}, check.Failed, "job 7 is NODE_FAIL", ""},
		"never ready":                    {&fakeSlurm{v: &fakeVLLM{never: true}, states: []string{"RUNNING"}, output: serverOutput}, check.Failed, "was not healthy after 900 s", ""},
		"nothing listens":                {&fakeSlurm{states: []string{"RUNNING"}, output: serverOutput, refused: ssh.ErrNotConnected}, check.Failed, "was not healthy after 900 s", ""},
		"forwarding refused":             {&fakeSlurm{states: []string{"RUNNING"}, output: serverOutput, refused: errors.New("administratively prohibited")}, check.Unobserved, "the server could not be reached", "AllowTcpForwarding"},
		"slow":                           {&fakeSlurm{v: &fakeVLLM{prefill: 3 * time.Second}, states: []string{"RUNNING"}, output: serverOutput}, check.Failed, "TTFT", ""},
		"another program answers":        {&fakeSlurm{states: running3("FAILED"), output: serverOutput}, check.Failed, ": the job has ended: job 7 is FAILED", remedyLog},
		"preempted under the load":       {&fakeSlurm{late: true, states: running3("PREEMPTED"), output: serverOutput, refused: ssh.ErrNotConnected}, check.Unobserved, "did not last until the end of the load: job 7 is PREEMPTED", remedyJob},
		"cancelled, and another answers": {&fakeSlurm{states: running3("CANCELLED"), output: serverOutput}, check.Unobserved, "did not last until the end of the load: job 7 is CANCELLED", remedyJob},
		"suspended under the load":       {&fakeSlurm{states: running3("SUSPENDED"), output: serverOutput}, check.Unobserved, "job 7 was suspended", remedyJob},
		"another server on the port":     {&fakeSlurm{v: &fakeVLLM{alias: "llama"}, states: []string{"RUNNING"}, output: serverOutput}, check.Failed, "another server answers on its port: it serves meta-llama/Llama-3.1-8B-Instruct, llama, and not firstlight-job-7", ""},
		"port in use": {&fakeSlurm{v: &fakeVLLM{alias: "llama"}, states: running3("FAILED"), output: "0: firstlight-task begin 0 gpu-04\n0: port 8123 of the node is in use\n"},
			check.Unobserved, "the server was not started: port 8123 of the node is in use", remedyPort},
		"no such program": {&fakeSlurm{v: &fakeVLLM{never: true}, states: running3("FAILED"), output: serverOutput + "0: bash: line 5: exec: vllm: not found\n0: \n0: firstlight-task end 0 127\nsrun: error: gpu-04: task 0: Exited with exit code 127\n"},
			check.Failed, "vLLM crashes: bash: line 5: exec: vllm: not found: ", remedyLog},
		"no container": {&fakeSlurm{v: &fakeVLLM{never: true}, states: running3("FAILED"), output: "0: slurmstepd: error: pyxis: failed to import docker image\n0: slurmstepd: error: spank: required plugin spank_pyxis.so: task_init() failed with rc=-1\nsrun: error: gpu-04: task 0: Exited with exit code 1\n"},
			check.Unobserved, "the container was not started: slurmstepd: error: pyxis: failed to import docker image | ", ""},
		"no such option of srun": {&fakeSlurm{v: &fakeVLLM{never: true}, states: running3("FAILED"), output: "srun: unrecognized option '--container-image=x'\n"},
			check.Failed, "vLLM crashes: srun: unrecognized option '--container-image=x'", remedyLog},
		"connection lost under the load": {&fakeSlurm{lost: true, states: []string{"RUNNING"}, output: serverOutput}, check.Unobserved, "of 210 requests ended with the SSH connection", remedyLost},
		"ends after the load": {&fakeSlurm{late: true, states: running3("FAILED"), output: serverOutput, refused: ssh.ErrNotConnected},
			check.Failed, ": the job has ended: job 7 is FAILED", ""},
		"nothing listens after the load": {&fakeSlurm{late: true, states: []string{"RUNNING"}, output: serverOutput, refused: ssh.ErrNotConnected}, check.Failed, "was not healthy after the load", remedyLog},
		"unreached after the load":       {&fakeSlurm{late: true, states: []string{"RUNNING"}, output: serverOutput, refused: errors.New("connection lost")}, check.Unobserved, "could not be reached after the load", "SSH connection to gpu-04"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tt.f.v == nil {
				tt.f.v = &fakeVLLM{}
			}
			_, j, _ := sbatchGate(t, tt.f)
			if j.Verdict != tt.want || len(j.Findings) == 0 || !strings.Contains(fmt.Sprint(j.Findings), tt.message) || !strings.Contains(fmt.Sprint(j.Findings), tt.hint) {
				t.Errorf("%s: %+v", j.Verdict, j.Findings)
			}
			if !tt.f.cancelled {
				t.Errorf("the job remains: %q", tt.f.ran)
			}
		})
	}
}

// The job must be the one that answers, and must run until the end.
func TestSbatchRules(t *testing.T) {
	t.Parallel()
	g, _, obs := sbatchGate(t, &fakeSlurm{v: &fakeVLLM{}, states: []string{"RUNNING"}, output: serverOutput})
	checktest.Rules(t, func(obs []check.Observation) check.Judgement { return plan.Judge(g, obs) }, obs, []checktest.Rule{
		checktest.When("its server answers", checktest.Set(KindServer, `.served`, []any{"llama"})).Unobserved("job 7 on gpu-04", "another server answers on the port of job 7: it serves llama, and not firstlight-job-7"),
		checktest.When("its server tells its name", checktest.Set(KindServer, `.served`, nil)).Unobserved("job 7 on gpu-04", "it serves none"),
		checktest.When("its server answers after the load", checktest.Set(KindEnd, `.served`, []any{"llama"})).Unobserved("job 7 on gpu-04", "another server answers"),
		checktest.When("it runs after the load", checktest.Set(KindEnd, `.state`, "COMPLETING")).Unobserved("job 7 on gpu-04", `job 7 is "COMPLETING" after the load`),
		checktest.When("its state is known", checktest.Set(KindEnd, `.state`, "")).Unobserved("job 7 on gpu-04", `job 7 is "" after the load`),
		checktest.When("requests that a preempted job does not answer are not failures", checktest.Set(KindEnd, `.withdrawn`, "job 7 is PREEMPTED"),
			checktest.Set(KindLoad, `.requests[3].error`, "connection refused")).Unobserved("job 7 on gpu-04", "job 7 is PREEMPTED"),
	})
}
