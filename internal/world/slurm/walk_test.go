package slurm

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/accept"
	"github.com/firstlight/firstlight/internal/check"
	cli "github.com/firstlight/firstlight/internal/cli/evidence"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/gate"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/suite"
	"github.com/firstlight/firstlight/internal/world"
	"github.com/firstlight/firstlight/internal/world/host"
)

// withWorld are the hosts of a world, and the login host of a real cluster.
func (c cluster) withWorld(w *world.World) hosts {
	return func(ctx context.Context, name string, argv ...string) (ssh.Output, error) {
		if name == login {
			return c.RunOn(ctx, name, argv...)
		}
		out := ssh.Output{At: time.Now(), Origin: ssh.OnHost}
		var stdout, stderr bytes.Buffer
		out.Exit = host.Shell(ctx, w, func() string { return name }, ssh.Quote(argv), &stdout, &stderr, host.Run)
		out.Took, out.Stdout, out.Stderr = time.Since(out.At), stdout.Bytes(), stderr.Bytes()
		return out, ctx.Err()
	}
}

// walk accepts the cluster: hosts and fabric are simulated, Slurm is real.
func (c cluster) walk(t *testing.T, w *world.World, dir string, file []byte) accept.Report {
	t.Helper()
	raw, err := profile.Raw(c.site.Profile)
	if err != nil {
		t.Fatal(err)
	}
	h := c.withWorld(w)
	report, err := accept.Run(t.Context(), accept.Options{
		Site: c.site, Profile: c.profile, SiteFile: file, ProfileFile: raw, EvidenceDir: dir, Charts: gate.Charts(c.site, c.profile),
		Command: []string{"firstlight", "accept"}, Tool: "test",
		Slurm: func(ctx context.Context, argv ...string) (ssh.Output, error) { return h.Run(ctx, login, argv...) },
		Playbook: func(p accept.PlanContext) (plan.Plan, error) {
			return gate.Playbook(c.site, c.profile, gate.Access{Hosts: h, RunID: p.RunID}, p.Include...)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// A run over all gates passes, says what it is of, and gives the same verdicts again from its evidence; a
// drained node stops it at gate gpustack.
func TestWalk(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	suite.Admit(t)
	w, err := newWorld(nil)
	if err != nil {
		t.Fatal(err)
	}
	var switches []string
	for _, sw := range w.State().Switches {
		switches = append(switches, sw.Name)
	}
	text := strings.NewReplacer("[leaf-1, leaf-2, spine-1, spine-2]", "["+strings.Join(switches, ", ")+"]", "links: 48", "links: "+links(w),
		"soak: 10m", "soak: 12s", "    become: sudo", "    # become: sudo", "expires: 2027-11-01", "expires: 2126-11-01",
		"outputDirectory: /tmp", "outputDirectory: "+c.site.Slurm.OutputDirectory, "  # setup: module load cuda", "  setup: "+c.Setup(),
		"# notApplicable:\n#   inference:", "notApplicable:\n  inference:").Replace(siteText(t)) // TestInference measures latencies, and is repeated on a busy machine
	if c.site, err = site.Parse("slurm.yaml", []byte(text)); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	report := c.walk(t, w, dir, []byte(text))
	if report.Verdict != check.Passed || len(report.Notes) > 0 || report.Simulated != evidence.HardwareUnknown {
		t.Errorf("%s, notes %q, simulated %q", report.Verdict, report.Notes, report.Simulated)
	}
	for _, g := range report.Gates {
		want := check.Passed
		if g.Gate == "inference" {
			want = check.NotApplicable
		}
		if g.Verdict != want {
			t.Errorf("%s: %s (%s): %+v", g.Gate, g.Verdict, g.Reason, g.Findings)
		}
	}
	if !strings.Contains(strings.Join(report.NarrowedBy, "\n"), "a Slurm cluster: nothing shows") {
		t.Errorf("narrowed by %q", report.NarrowedBy)
	}
	requireReplay(t, report.Evidence)

	if err := update(t.Context(), c, "NodeName=gpu-02", "State=DRAIN", "Reason=repair"); err != nil {
		t.Fatal(err)
	}
	report = c.walk(t, w, t.TempDir(), []byte(text))
	for _, g := range report.Gates {
		want := map[string]check.Verdict{"gpustack": check.Failed, "telemetry": check.Blocked, "collective": check.Blocked}[g.Gate]
		if want != "" && g.Verdict != want {
			t.Errorf("%s: %s, want %s", g.Gate, g.Verdict, want)
		}
	}
	requireReplay(t, report.Evidence)
}

func requireReplay(t *testing.T, dir string) {
	t.Helper()
	replayed, err := evidence.Replay(dir, cli.ChecksOf)
	if err != nil {
		t.Fatal(err)
	}
	if !replayed.Identical() {
		t.Errorf("plan %+v, contradictions %+v, steps %+v", replayed.Plan, replayed.Contradictions, replayed.Steps)
	}
	found := false
	for _, claim := range replayed.Claims {
		found = found || claim.Field == "cluster" && strings.HasPrefix(claim.Value, "slurm-lab@") && claim.Basis == evidence.Observed
	}
	if !found {
		t.Errorf("no claim about the cluster: %+v", replayed.Claims)
	}
	if problems, err := evidence.Verify(dir); err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
}
