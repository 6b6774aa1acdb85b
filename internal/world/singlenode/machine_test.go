package singlenode

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/accept"
	"github.com/firstlight/firstlight/internal/gate"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/localhost"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/world"
	"github.com/firstlight/firstlight/internal/world/collective"
	"github.com/firstlight/firstlight/internal/world/host"
)

// machine is a host of the world, and runs commands as package localhost does on a real one.
type machine struct {
	t     *testing.T
	world *world.World
	name  string
	// id is the hash of its machine ID.
	id string
	// evidence is the directory of its runs.
	evidence string
	// before, if set, is called before each command, one at a time: a gate runs two at once.
	before func(line string)
	mu     sync.Mutex
	// missing is a program that it does not have.
	missing string
	// suite are the collectives that the site file demands.
	suite string
}

// newMachine is a machine with this hardware, whose profile has the same name.
func newMachine(t *testing.T, hardware string) *machine {
	t.Helper()
	spec, err := world.SpecOf(hardware, 1)
	if err != nil {
		t.Fatal(err)
	}
	w, err := world.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	return &machine{t: t, world: w, name: spec.GPUNodes[0].Name, id: "0011", evidence: t.TempDir()}
}

// Run implements gate.Hosts.
func (m *machine) Run(ctx context.Context, name string, argv ...string) (ssh.Output, error) {
	if name != m.name {
		return ssh.Output{}, fmt.Errorf("run on %s: this machine is %s", name, m.name)
	}
	line := ssh.Quote(argv)
	if m.before != nil {
		m.mu.Lock()
		m.before(line)
		m.mu.Unlock()
	}
	out := ssh.Output{At: time.Now(), Origin: localhost.Origin}
	var stdout, stderr bytes.Buffer
	if m.missing != "" && slices.Contains(argv, m.missing) {
		fmt.Fprintf(&stderr, "env: '%s': No such file or directory\n", m.missing)
		out.Exit = host.NotFound
	} else if collective.IsCommand(argv) {
		state := m.world.State()
		node, _ := state.Node(m.name)
		exit, err := collective.Command(&stdout, &stderr, state, node, argv)
		if err != nil {
			return out, err
		}
		out.Exit = exit
	} else {
		out.Exit = host.Shell(ctx, m.world, func() string { return m.name }, line, &stdout, &stderr, host.Run)
	}
	out.Took, out.Stdout, out.Stderr = time.Since(out.At), stdout.Bytes(), stderr.Bytes()
	return out, ctx.Err()
}

// file is the site file that firstlight writes for the machine, with its suite.
func (m *machine) file(p *profile.Profile) []byte {
	text := string(site.SingleNodeFile(m.name, p))
	if m.suite != "" {
		text = strings.Replace(text, "    timeout: 30m", "    timeout: 30m\n    suite: "+m.suite, 1)
	}
	return []byte(text)
}

// run accepts the machine with a site file that firstlight writes for it.
func (m *machine) run(ctx context.Context, change func(*accept.Options)) (accept.Report, error) {
	m.t.Helper()
	s, p := m.of()
	raw, err := profile.Raw(p.Name)
	if err != nil {
		m.t.Fatal(err)
	}
	o := accept.Options{
		Site: s, Profile: p, SiteFile: m.file(p), ProfileFile: raw, EvidenceDir: m.evidence, Charts: gate.Charts(s, p),
		Command: []string{"firstlight", "accept"}, Tool: "test",
		Machine: func() (localhost.Machine, error) { return localhost.Machine{ID: m.id, Name: m.name}, nil },
		Playbook: func(c accept.PlanContext) (plan.Plan, error) {
			return gate.Playbook(s, p, gate.Access{Hosts: m, Cluster: c.Cluster, RunID: c.RunID}, c.Include...)
		},
	}
	if change != nil {
		change(&o)
	}
	return accept.Run(ctx, o)
}
