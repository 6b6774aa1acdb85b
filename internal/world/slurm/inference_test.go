package slurm

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/suite"
	"github.com/firstlight/firstlight/internal/world"
)

// Gate inference starts its server through sbatch on a real cluster, measures it and leaves neither job nor file;
// each defect fails it or leaves it unobserved.
func TestInference(t *testing.T) { //nolint:tparallel // the cases share a cluster
	t.Parallel()
	c := startCluster(t)
	suite.Admit(t)
	c.site.Slurm.ServerPort = freePort(t)
	c.site.Workloads.Inference.Requests = 40
	fault := func(kind string) func(*testing.T) {
		return func(t *testing.T) { c.faults(t, world.Fault{Kind: kind, Target: "cluster"}) }
	}
	for _, tt := range []struct {
		name    string
		inject  func(t *testing.T)
		want    check.Verdict
		message string
	}{
		{"healthy", func(*testing.T) {}, check.Passed, ``},
		{"context too long", fault("vllm-max-model-len"), check.Failed, `max-model-len 8192 does not fit the KV cache`},
		{"wrong tokens", fault("wrong-tokens"), check.Failed, `does not begin with the golden prefix`},
		{"slow decoding", fault("tpot-slow"), check.Failed, `\(TPOT\) is .* at p99, the objective is 50 ms`},
		{"port in use", func(t *testing.T) {
			var lc net.ListenConfig
			l, err := lc.Listen(t.Context(), "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(c.site.Slurm.ServerPort)))
			if err != nil {
				t.Fatal(err)
			}
			// A healthy server of another user, with the same model.
			other := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				_, _ = fmt.Fprintf(w, `{"object":"list","data":[{"id":%q}]}`, c.site.Workloads.Inference.Model)
			})}
			go func() { _ = other.Serve(l) }()
			t.Cleanup(func() { _ = other.Close() })
		}, check.Unobserved, `port \d+ of the node is in use`},
		{"crashes", func(t *testing.T) {
			if err := c.Program("vllm", "echo 'ImportError: libcudart.so.12: cannot open shared object file'\nexit 1\n"); err != nil {
				t.Fatal(err)
			}
		}, check.Failed, `vLLM crashes: .*: job \d+ is FAILED, exit code 1:0`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.inject(t)
			var j check.Judgement
			suite.Repeat(t, func() string {
				var err error
				if j, err = c.judgeOn(t.Context(), "inference", c.RunOn); err != nil {
					t.Fatal(err)
				}
				if j.Verdict == check.Unobserved && tt.want != check.Unobserved {
					return j.Reason
				}
				return ""
			})
			if j.Verdict != tt.want || !regexp.MustCompile(tt.message).MatchString(fmt.Sprint(j.Findings)) || tt.want == check.Passed && len(j.Findings) > 0 {
				t.Errorf("%s (%s), want %s and %s: %+v", j.Verdict, j.Reason, tt.want, tt.message, j.Findings)
			}
			c.requireJobs(t)
			if files := c.outputs(); len(files) > 0 {
				t.Errorf("files remain: %q", files)
			}
			c.faults(t)
			if err := c.Idle(t.Context()); err != nil {
				t.Fatal(err)
			}
		})
	}
	t.Run("interrupted", c.requireServerInterrupted)
}

// requireServerInterrupted requires that a run that ends early leaves no job.
func (c cluster) requireServerInterrupted(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	_, err := c.judgeOn(ctx, "inference", func(call context.Context, host string, argv ...string) (ssh.Output, error) {
		out, err := c.RunOn(call, host, argv...)
		if argv[0] == "scontrol" && strings.Contains(string(out.Stdout), "JobState=RUNNING") {
			stop()
		}
		return out, err
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("an interrupted run: %v", err)
	}
	c.requireJobs(t)
	if files := c.outputs(); len(files) > 0 {
		t.Errorf("files remain: %q", files)
	}
}

// freePort is a port that nothing listens on.
func freePort(t *testing.T) int {
	t.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port
}
