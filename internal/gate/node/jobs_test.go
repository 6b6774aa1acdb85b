package node_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/node"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/site"
)

// On a Slurm cluster nothing is run on nodes with jobs of users, and they are not judged.
func TestNodesWithJobs(t *testing.T) {
	t.Parallel()
	const show = "scontrol show nodes gpu-01,gpu-02,gpu-03 -a -o"
	s := testSite(3)
	s.Spine, s.Slurm = site.SpineSlurm, &site.Slurm{LoginHost: "login-01", Partition: "batch", JobTimeout: site.Duration(5 * time.Minute)}
	line := func(name, state string) string { return "NodeName=" + name + " Gres=gpu:h100:8 State=" + state + "\n" }
	for name, tt := range map[string]struct {
		out  ssh.Output
		err  error
		busy string // the suspects
		says string
		// first is the output of the first read; empty: out.
		first string
	}{
		"idle":    {ssh.Output{Stdout: []byte(line("gpu-01", "IDLE") + line("gpu-02", "IDLE+DRAIN") + line("gpu-03", "DOWN*"))}, nil, "", "", ""},
		"unknown": {ssh.Output{Exit: 1, Stdout: []byte(line("gpu-01", "IDLE") + line("gpu-02", "IDLE") + "Node gpu-03 not found\n")}, nil, "", "", ""},
		"in use": {ssh.Output{Stdout: []byte(line("gpu-01", "IDLE") + line("gpu-02", "MIXED") + line("gpu-03", "ALLOCATED+DRAIN"))}, nil, "gpu-02 gpu-03",
			"gpu-03 is ALLOCATED+DRAIN: it runs jobs, or ends one, which the diagnostic would disturb", ""},
		"an epilog ends":         {ssh.Output{Stdout: []byte(line("gpu-01", "IDLE") + line("gpu-02", "IDLE") + line("gpu-03", "IDLE"))}, nil, "", "", line("gpu-01", "IDLE+COMPLETING")},
		"processes do not end":   {ssh.Output{Stdout: []byte(line("gpu-01", "IDLE") + line("gpu-02", "IDLE+COMPLETING") + line("gpu-03", "IDLE"))}, nil, "gpu-02", "gpu-02 is IDLE+COMPLETING", ""},
		"a dead node with a job": {ssh.Output{Stdout: []byte(line("gpu-01", "IDLE") + line("gpu-02", "DOWN+COMPLETING+NOT_RESPONDING") + line("gpu-03", "IDLE"))}, nil, "", "", ""},
		"no slurmctld":           {ssh.Output{Exit: 1, Stderr: []byte("slurm_load_node error: Unable to contact slurm controller (connect failure)\n")}, nil, "jobs on the nodes", "Unable to contact", ""},
		"no answer":              {ssh.Output{}, errors.New("no route to host"), "jobs on the nodes", "no route to host", ""},
	} {
		var mu sync.Mutex // hosts are observed at once
		var ran []string
		reads := 0
		g := node.New(s, testProfile(t), node.Deps{Hosts: fakeHosts{run: func(_ context.Context, host, line string) (ssh.Output, error) {
			mu.Lock()
			defer mu.Unlock()
			if line == show && host == "login-01" {
				if reads++; reads == 1 && tt.first != "" {
					return ssh.Output{Stdout: []byte(tt.first)}, nil
				}
				return tt.out, tt.err
			}
			ran = append(ran, line)
			return ssh.Output{}, ssh.ErrUnreachable
		}}})
		var rec recorder
		synctest.Test(t, func(t *testing.T) {
			if err := g.Observe(t.Context(), &rec); err != nil {
				t.Fatal(err)
			}
		})
		if (len(ran) == 0) != (tt.busy != "") {
			t.Errorf("%s: ran %q", name, ran)
		}
		obs := rec.obs
		if len(ran) > 0 {
			obs = append(observations(t, healthy(t, 3)), rec.obs[0])
		}
		j := plan.Judge(g, obs)
		var suspects, messages []string
		for _, f := range j.Findings {
			suspects, messages = append(suspects, f.Suspect), append(messages, f.Message)
		}
		want := check.Passed
		if tt.busy != "" {
			want = check.Unobserved
		}
		if j.Verdict != want || strings.Join(suspects, " ") != tt.busy || !strings.Contains(strings.Join(messages, "\n"), tt.says) {
			t.Errorf("%s: %s: %+v", name, j.Verdict, j.Findings)
		}
	}
	g := node.New(s, testProfile(t), node.Deps{})
	if j := plan.Judge(g, observations(t, healthy(t, 3))); j.Verdict != check.Unobserved {
		t.Errorf("without the states of Slurm: %s", j.Verdict)
	}
	if text := strings.Join(g.Describe(), "\n"); !strings.HasPrefix(text, "on login-01: "+show+"; nothing else if one of them runs jobs\n") {
		t.Error(text)
	}
}

// Evidence of versions that did not wait for the end of jobs is judged as before: a host that completed a job was observed.
// One on which a job runs is not judged, also with all that would pass.
func TestNodesThatWereObserved(t *testing.T) {
	t.Parallel()
	s := testSite(2)
	s.Spine, s.Slurm = site.SpineSlurm, &site.Slurm{LoginHost: "login-01", Partition: "batch", JobTimeout: site.Duration(5 * time.Minute)}
	g := node.New(s, testProfile(t), node.Deps{})
	for name, tt := range map[string]struct {
		state, flag string
		hosts       int // that were observed
		want        check.Verdict
	}{
		"completed a job":            {"IDLE", "COMPLETING", 2, check.Passed},
		"is down and completes":      {"DOWN", "COMPLETING", 2, check.Passed},
		"completes, not observed":    {"IDLE", "COMPLETING", 1, check.Unobserved},
		"runs jobs":                  {"MIXED", "DRAIN", 2, check.Unobserved},
		"runs jobs and completes":    {"MIXED", "COMPLETING", 2, check.Unobserved},
		"runs and does not respond":  {"ALLOCATED", "NOT_RESPONDING", 2, check.Unobserved},
		"is idle and not responding": {"IDLE", "NOT_RESPONDING", 2, check.Passed},
	} {
		figures := `{"nodes": [{"name": "gpu-01", "state": "IDLE"}, {"name": "gpu-02", "state": "` + tt.state + `", "flags": ["` + tt.flag + `"]}]}`
		obs := append(observations(t, healthy(t, 2)[:tt.hosts]), check.Observation{ID: "jobs", Kind: "scontrol-nodes", Target: "login-01", Figures: []byte(figures)})
		if j := plan.Judge(g, obs); j.Verdict != tt.want || tt.want == check.Unobserved && !strings.HasPrefix(j.Findings[0].Message, "gpu-02 is "+tt.state+"+"+tt.flag+": it runs jobs") {
			t.Errorf("%s: %s: %+v", name, j.Verdict, j.Findings)
		}
	}
}
