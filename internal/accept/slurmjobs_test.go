package accept

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/probe/ssh"
)

// unfinishedOnSlurm leaves a run on the Slurm cluster of the captured configuration.
func unfinishedOnSlurm(t *testing.T, o Options) string {
	t.Helper()
	p, err := o.Playbook(PlanContext{})
	if err != nil {
		t.Fatal(err)
	}
	run, err := evidence.Create(o.EvidenceDir, evidence.Start{
		Header: evidence.Header{Site: o.Site.Name, Profile: o.Profile.Name, Cluster: evidence.SlurmPrefix + "lab@vm"}, Plan: p, Site: o.SiteFile, Profile: o.ProfileFile,
	}, evidence.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Close(); err != nil {
		t.Fatal(err)
	}
	return run.ID()
}

// A run after a killed one cancels its jobs before the first gate, whether it resumes it or not, and no others.
func TestJobsOfAKilledRunAreCancelled(t *testing.T) {
	t.Parallel()
	config, err := os.ReadFile(filepath.Join("..", "probe", "slurm", "testdata", "config.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		fresh  bool
		queue  ssh.Output
		cancel ssh.Output
		want   string // the scancel
		note   string
	}{
		"resumed":       {false, ssh.Output{Stdout: []byte("7|firstlight-collective-RUN\n8|firstlight-collective-other\n9|mine\n10|firstlight-gpustack-RUN\n")}, ssh.Output{}, "scancel 7 10", "cancelled jobs of run RUN: 7, 10"},
		"fresh":         {true, ssh.Output{Stdout: []byte("7|firstlight-collective-RUN\n")}, ssh.Output{}, "scancel 7", "cancelled jobs of run RUN: 7"},
		"none":          {false, ssh.Output{}, ssh.Output{}, "", "resuming run RUN"},
		"no answer":     {false, ssh.Output{Exit: 1, Stderr: []byte("slurm_load_jobs error")}, ssh.Output{}, "", "jobs of killed run RUN were not cancelled, look for them with squeue --me: squeue: exit code 1"},
		"not permitted": {false, ssh.Output{Stdout: []byte("7|firstlight-collective-RUN\n")}, ssh.Output{Exit: 1, Stderr: []byte("Access denied")}, "scancel 7", `scancel: exit code 1: "Access denied"`},
	} {
		dir := t.TempDir()
		var ran, notes []string
		run := ""
		of := func(text string) string { return strings.ReplaceAll(text, "RUN", run) }
		o := options(t, dir, planOf("a", "b"))
		o.Cluster, o.Fresh = nil, tt.fresh
		o.Note = func(text string) { notes = append(notes, text) }
		o.Slurm = func(_ context.Context, argv ...string) (ssh.Output, error) {
			ran = append(ran, strings.Join(argv, " "))
			switch argv[0] {
			case "squeue":
				return ssh.Output{Exit: tt.queue.Exit, Stderr: tt.queue.Stderr, Stdout: []byte(of(string(tt.queue.Stdout)))}, nil
			case "scancel":
				return tt.cancel, nil
			default:
				return ssh.Output{Stdout: config}, nil
			}
		}
		run = unfinishedOnSlurm(t, o)
		ran, notes = nil, nil
		r, err := Run(t.Context(), o)
		if err != nil || (r.Run == run) == tt.fresh {
			t.Errorf("%s: run %s after %s: %v", name, r.Run, run, err)
		}
		ran = slices.DeleteFunc(ran, func(line string) bool { return !strings.HasPrefix(line, "scancel") })
		if strings.Join(ran, "; ") != tt.want || !strings.Contains(strings.Join(notes, "\n"), of(tt.note)) {
			t.Errorf("%s: ran %q, want %q; notes %q", name, ran, tt.want, notes)
		}
	}
}

// At its end a run cancels the jobs that its gates left, and does not pass if it cannot.
func TestOwnJobsAreCancelled(t *testing.T) {
	t.Parallel()
	config, err := os.ReadFile(filepath.Join("..", "probe", "slurm", "testdata", "config.txt"))
	if err != nil {
		t.Fatal(err)
	}
	denied := ssh.Output{Exit: 1, Stderr: []byte("Access denied")}
	for name, tt := range map[string]struct {
		steps   []string
		queue   []string // the answers of squeue; the last one remains
		cancel  ssh.Output
		want    string
		verdict check.Verdict
	}{
		"none":                       {[]string{"inference"}, []string{"9|mine\n"}, denied, "", check.Passed},
		"one":                        {[]string{"inference"}, []string{"7|firstlight-inference-RUN\n9|mine\n"}, ssh.Output{}, "scancel 7", check.Passed},
		"not permitted":              {[]string{"inference"}, []string{"7|firstlight-inference-RUN\n"}, denied, "scancel 7", check.Unobserved},
		"ends before scancel":        {[]string{"inference"}, []string{"7|firstlight-inference-RUN\n", "9|mine\n"}, denied, "scancel 7", check.Passed},
		"no answer":                  {[]string{"inference"}, []string{""}, ssh.Output{}, "", check.Unobserved},
		"gates without jobs ask not": {[]string{"facility", "fabric", "node"}, []string{""}, denied, "", check.Passed},
	} {
		dir := t.TempDir()
		var ran []string
		o := options(t, dir, planOf(tt.steps...))
		o.Cluster, o.Keep = nil, false
		o.Slurm = func(_ context.Context, argv ...string) (ssh.Output, error) {
			switch argv[0] {
			case "squeue":
				answer := tt.queue[0]
				if len(tt.queue) > 1 {
					tt.queue = tt.queue[1:]
				}
				if answer == "" {
					return ssh.Output{Exit: 1, Stderr: []byte("slurm_load_jobs error")}, nil
				}
				runs, err := filepath.Glob(filepath.Join(o.EvidenceDir, "2*"))
				if err != nil || len(runs) != 1 {
					return ssh.Output{}, fmt.Errorf("runs %q: %w", runs, err)
				}
				return ssh.Output{Stdout: []byte(strings.ReplaceAll(answer, "RUN", filepath.Base(runs[0])))}, nil
			case "scancel":
				ran = append(ran, strings.Join(argv, " "))
				return tt.cancel, nil
			default:
				return ssh.Output{Stdout: config}, nil
			}
		}
		r, err := Run(t.Context(), o)
		if err != nil || r.Verdict != tt.verdict || strings.Join(ran, "; ") != tt.want || strings.Contains(strings.Join(r.Notes, "\n"), "squeue --me") != (tt.verdict != check.Passed) {
			t.Errorf("%s: %s, ran %q, notes %q: %v", name, r.Verdict, ran, r.Notes, err)
		}
	}
}
