package slurm

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/collective"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/suite"
	"github.com/firstlight/firstlight/internal/world"
)

// srun is the login host of a Slurm cluster of a world: it runs nccl-tests on the nodes of --nodelist, and
// records what it ran.
type srun struct {
	world *world.World

	mu  sync.Mutex // pairs of nodes run in parallel
	ran []string
}

func (h *srun) Run(_ context.Context, _ string, argv ...string) (ssh.Output, error) {
	out := ssh.Output{At: time.Now(), Origin: ssh.OnHost}
	if argv[0] == "scontrol" { // all nodes are idle
		out.Stdout = []byte("NodeName=gpu-01 Gres=gpu:h100:8 State=IDLE\n")
		return out, nil
	}
	i := slices.Index(argv, "env")
	if i < 0 || argv[0] != "srun" {
		return out, fmt.Errorf("unexpected command %q", argv)
	}
	h.mu.Lock()
	h.ran = append(h.ran, strings.Join(argv[i:], " "))
	h.mu.Unlock()
	var nodes []string
	for _, word := range argv[:i] {
		if list, ok := strings.CutPrefix(word, "--nodelist="); ok {
			nodes = strings.Split(list, ",")
		}
	}
	env := map[string]string{}
	for _, word := range argv[i+1:] {
		if name, value, ok := strings.Cut(word, "="); ok {
			env[name] = value
		}
	}
	var stdout bytes.Buffer
	exit, err := Tests(&stdout, h.world.State(), nodes, argv[i+1:], func(name string) string { return env[name] })
	out.Exit, out.Stdout = exit, stdout.Bytes()
	return out, err
}

// walkSuite runs gate collective with the whole suite and each rail in a world with a fault.
func walkSuite(t *testing.T, faults ...world.Fault) (check.Judgement, *srun, []check.Observation) {
	t.Helper()
	w, err := newWorld(faults)
	if err != nil {
		t.Fatal(err)
	}
	s, err := site.Parse("slurm.yaml", []byte(siteText(t)))
	if err != nil {
		t.Fatal(err)
	}
	s.Workloads.Collective.Suite, s.Workloads.Collective.ByRail = profile.CollectiveNames(), true
	s.Fabric.HCAs = nil
	for _, h := range w.State().GPUNodes()[0].HCAs {
		s.Fabric.HCAs = append(s.Fabric.HCAs, h.Name)
	}
	p, err := profile.Load(s.Profile)
	if err != nil {
		t.Fatal(err)
	}
	h := &srun{world: w}
	g := collective.NewSrun(s, p, h, "t1")
	var b book
	if err := g.Observe(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return plan.Judge(g, b.obs), h, b.obs
}

// suiteFaults is the name of TestSuiteFaults in the manifest.
const suiteFaults = "internal/world/slurm TestSuiteFaults"

// A healthy cluster passes with a figure of each collective and each rail, and every program ran.
func TestSuite(t *testing.T) {
	t.Parallel()
	j, h, obs := walkSuite(t)
	if j.Verdict != check.Passed || len(obs) != 5+8 {
		t.Fatalf("%s: %s, %d observations: %+v", j.Verdict, j.Reason, len(obs), j.Findings)
	}
	for _, name := range []string{"busbw", "busbw of all-gather", "busbw of reduce-scatter", "busbw of all-to-all", "busbw of sendrecv", "busbw of rail mlx5_0", "busbw of rail mlx5_7"} {
		i := slices.IndexFunc(j.Figures, func(f check.Figure) bool { return f.Name == name })
		if i < 0 || j.Figures[i].Value < j.Figures[i].Limit || j.Figures[i].Limit <= 0 || j.Figures[i].Source == "" {
			t.Errorf("no figure %q with a limit: %+v", name, j.Figures)
		}
	}
	for _, want := range []string{" all_gather_perf -b 8M", " reduce_scatter_perf -b 8M", " alltoall_perf -b 8M", " sendrecv_perf -b 8M", "NCCL_IB_HCA==mlx5_3 all_reduce_perf -b 8M"} {
		if !slices.ContainsFunc(h.ran, func(line string) bool { return strings.Contains(line, want) }) {
			t.Errorf("no job with %q: %q", want, h.ran)
		}
	}
}

// Each fault fails gate collective, with the suspect first; without the key of the site that shows it, the
// all-to-all is not seen and the rail is not named.
func TestSuiteFaults(t *testing.T) {
	t.Parallel()
	for kind, message := range map[string]string{
		"uplinks-oversubscribed": `all-to-all: busbw at .*pairs of nodes are good: suspect shared components.*the all-reduce of the same nodes passed`,
		"rail-slow":              `rail mlx5_3: busbw at`,
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			suite.RequireFault(t, suiteFaults, kind)
			i := slices.IndexFunc(world.Catalogue(), func(k world.FaultKind) bool { return k.Kind == kind })
			target := world.Catalogue()[i].DefaultTarget
			j, h, _ := walkSuite(t, world.Fault{Kind: kind, Target: target})
			w, err := newWorld(nil)
			if err != nil {
				t.Fatal(err)
			}
			suspect, err := w.SuspectPattern(world.Fault{Kind: kind, Target: target})
			if err != nil {
				t.Fatal(err)
			}
			if j.Verdict != check.Failed || !suspect.MatchString(j.Findings[0].Suspect) || !regexp.MustCompile(message).MatchString(j.Findings[0].Message) || j.Findings[0].Remedy == "" {
				t.Errorf("%s: %s, want suspect %s and %q: %+v", j.Verdict, j.Reason, suspect, message, j.Findings)
			}
			exchanged := slices.ContainsFunc(h.ran, func(line string) bool { return strings.Contains(line, "alltoall_perf") })
			if exchanged != (kind == "uplinks-oversubscribed") {
				t.Errorf("all-to-all ran: %t, after a failure of the all-reduce or not: %q", exchanged, h.ran)
			}
		})
	}
}
