package preflight_test

import (
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/firstlight/firstlight/internal/gate"
	"github.com/firstlight/firstlight/internal/lab/labtest"
	"github.com/firstlight/firstlight/internal/preflight"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/suite"
	"github.com/firstlight/firstlight/internal/world"
)

// obstacle is one thing that would stop a run.
type obstacle struct {
	name string
	// plant puts it into the lab, or into the copy of the site file, until the test ends.
	plant func(t *testing.T, p *planted)
	// what, target and seen are parts of the only line that is not ok.
	what, target, seen string
	// result defaults to WouldStop.
	result preflight.Result
	// level is the smallest run that has it.
	level suite.Level
}

// planted is a preflight that an obstacle changes.
type planted struct {
	lab     *labtest.Lab
	site    *site.Site
	cluster *kube.Cluster
	// namespace is given to the run; empty: the run creates its own.
	namespace string
	undo      []func()
}

// clear removes the obstacle, before the context of the test ends.
func (p *planted) clear() {
	for _, undo := range slices.Backward(p.undo) {
		undo()
	}
}

// run is one preflight of the whole playbook.
func (p *planted) run(t *testing.T) preflight.Report {
	t.Helper()
	hosts, err := ssh.NewPool(t.Context(), p.site, ssh.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer hosts.Close() //nolint:errcheck // a host may be down
	plan, err := gate.Playbook(p.site, p.lab.Profile, gate.Access{})
	if err != nil {
		t.Fatal(err)
	}
	gates, err := preflight.Gates(plan, "", "")
	if err != nil {
		t.Fatal(err)
	}
	on := *p.lab
	on.Cluster = p.cluster
	r, err := preflight.Run(t.Context(), preflight.Options{
		Site: p.site, Profile: p.lab.Profile, Gates: gates, Namespace: p.namespace, Hosts: hosts, Cluster: on.Open,
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// fresh is a preflight of the lab without an obstacle.
func fresh(t *testing.T, l *labtest.Lab) *planted {
	t.Helper()
	p := &planted{lab: l, site: l.Site, cluster: l.Cluster}
	p.reload(t)
	return p
}

// reload reads the site as if it were a file: a copy, with the effects of what was changed.
func (p *planted) reload(t *testing.T) {
	t.Helper()
	data, err := yaml.Marshal(p.site)
	if err != nil {
		t.Fatal(err)
	}
	if p.site, err = site.ParseGroups("copy of the lab's site", data, p.lab.Profile, nil); err != nil {
		t.Fatal(err)
	}
}

// obstacles are the lines that are not ok.
func obstacles(r preflight.Report) []preflight.Line {
	return slices.DeleteFunc(slices.Clone(r.Lines), func(l preflight.Line) bool { return l.Result == preflight.OK })
}

// The healthy lab has no obstacle, for its administrator and for an account with the printed
// permissions. Each planted obstacle is found, alone. Nothing is created.
func TestObstacles(t *testing.T) {
	suite.Live(t)
	l := labtest.Start(t, world.DefaultSpec(4))
	clean := func(t *testing.T, p *planted) {
		t.Helper()
		r := p.run(t)
		if found := obstacles(r); len(found) > 0 || r.Result != preflight.OK || len(r.Lines) < 30 {
			t.Errorf("result %s of %d lines, obstacles %+v", r.Result, len(r.Lines), found)
		}
	}
	fresh(t, l).until(t, "the lab to have no obstacle", func(found []preflight.Line) bool { return len(found) == 0 })
	t.Run("healthy", func(t *testing.T) { clean(t, fresh(t, l)) })
	t.Run("healthy, least privilege", func(t *testing.T) {
		p := fresh(t, l)
		defer p.clear()
		p.asGuest(t, "", "")
		clean(t, p)
	})
	t.Run("healthy, with sudo", func(t *testing.T) {
		p := fresh(t, l)
		p.site.Reach.SSH.Become = site.Sudo
		clean(t, p)
	})
	t.Run("healthy, in a namespace", func(t *testing.T) {
		p := fresh(t, l)
		defer p.clear()
		p.inNamespace(t, "privileged")
		clean(t, p)
	})
	t.Run("healthy, with mirrors", func(t *testing.T) {
		suite.Require(t, suite.All)
		p := fresh(t, l)
		p.mirrored(t, "")
		clean(t, p)
	})
	for _, o := range slices.Concat(hostObstacles, clusterObstacles, namespaceObstacles, imageObstacles, serviceObstacles) {
		t.Run(o.name, func(t *testing.T) {
			suite.Require(t, o.level)
			p := fresh(t, l)
			defer p.clear()
			o.plant(t, p)
			r := p.run(t)
			found := obstacles(r)
			if len(found) != 1 {
				t.Fatalf("%d obstacles, want one: %+v", len(found), found)
			}
			want := preflight.WouldStop
			if o.result != "" {
				want = o.result
			}
			if f := found[0]; f.Check != o.what || !strings.Contains(f.Target, o.target) || !strings.Contains(f.Observed, o.seen) || f.Result != want || f.Remedy == "" || r.Result != want {
				t.Errorf("%+v, result %s; want %s of %s: %s, %s", f, r.Result, o.what, o.target, o.seen, want)
			}
		})
	}
	l.RequireClean(t, "preflight")
}
