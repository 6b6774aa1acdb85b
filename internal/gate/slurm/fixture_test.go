package slurm

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	testingclock "k8s.io/utils/clock/testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// book records observations.
type book struct{ obs []check.Observation }

func (b *book) Record(o check.Observation) (check.Observation, error) {
	o.ID = fmt.Sprintf("%04d", len(b.obs)+1)
	b.obs = append(b.obs, o)
	return o, nil
}

func (b *book) Progress(string, ...any) {}

// login is a login host that gives captured outputs by the beginning of a command.
type login struct {
	outputs map[string]ssh.Output
	ran     []string
}

func (l *login) Run(_ context.Context, _ string, argv ...string) (ssh.Output, error) {
	line := ssh.Quote(argv)
	l.ran = append(l.ran, line)
	for prefix, out := range l.outputs {
		if strings.HasPrefix(line, prefix) {
			return out, nil
		}
	}
	return ssh.Output{}, fmt.Errorf("no output of %s", line)
}

func captured(t *testing.T, name string) ssh.Output {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "probe", "slurm", "testdata", name+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	return ssh.Output{Stdout: raw}
}

// healthy is the login host of a healthy cluster, of real outputs.
func healthy(t *testing.T) *login {
	t.Helper()
	return &login{outputs: map[string]ssh.Output{
		"scontrol ping": captured(t, "ping-up"), "scontrol show config": captured(t, "config"), "scontrol show partition": captured(t, "partition-up"),
		"scontrol show nodes": captured(t, "nodes-idle"), "sacct": captured(t, "record-completed"),
		"srun --help": {Stdout: []byte("      --container-image=[USER@][REGISTRY#]IMAGE[:TAG]|PATH\n")},
		"srun --cpu":  {Stdout: []byte("firstlight-task gpu-02 1 8 3.5.0\nfirstlight-task gpu-01 1 8 3.5.0\nfirstlight-task gpu-03 1 8 3.5.0\n")},
		"scancel":     {},
	}}
}

// gateSite is the site of the example with three nodes.
func gateSite(t *testing.T) (*site.Site, *profile.Profile) {
	t.Helper()
	s, err := site.Parse("slurm.yaml", []byte(strings.Replace(string(site.SlurmExample()), "    - {name: gpu-04}\n", "", 1)))
	if err != nil {
		t.Fatal(err)
	}
	p, err := profile.Load(s.Profile)
	if err != nil {
		t.Fatal(err)
	}
	return s, p
}

func depsOf(l *login) Deps {
	d := Deps{RunID: "r1"}
	clock := testingclock.NewFakePassiveClock(time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC))
	d.Hosts, d.Clock = l, clock
	d.Wait = func(ctx context.Context, by time.Duration) error {
		clock.SetTime(clock.Now().Add(by))
		return ctx.Err()
	}
	return d
}

func observed(t *testing.T, c check.Check) []check.Observation {
	t.Helper()
	var b book
	if err := c.Observe(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return b.obs
}

func judgeOf(c check.Check) func([]check.Observation) check.Judgement {
	return func(obs []check.Observation) check.Judgement { return plan.Judge(c, obs) }
}

func stack(t *testing.T, change func(*site.Site, *login)) (*Stack, []check.Observation, *login) {
	t.Helper()
	s, p := gateSite(t)
	l := healthy(t)
	if change != nil {
		change(s, l)
	}
	g := NewStack(s, p, depsOf(l))
	return g, observed(t, g), l
}

func accounting(t *testing.T, change func(*site.Site, *login)) (*Accounting, []check.Observation, *login) {
	t.Helper()
	s, p := gateSite(t)
	l := healthy(t)
	if change != nil {
		change(s, l)
	}
	g := NewAccounting(s, p, depsOf(l))
	return g, observed(t, g), l
}

func (l *login) started() bool {
	return slices.ContainsFunc(l.ran, func(line string) bool { return strings.HasPrefix(line, "srun --cpu") })
}
