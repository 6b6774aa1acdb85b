package watch

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/drift"
	"github.com/firstlight/firstlight/internal/gate/node"
)

const (
	// Versions is the check that compares versions with those of the accepted run: driver, VBIOS,
	// firmware, GPUs and adapters of a node; profile and images of the site.
	Versions = "versions"
	// Cluster is the node of the readings about the whole cluster.
	Cluster = "cluster"
)

const remedyVersions = "if the change is intended, accept it (the field accept has the command); else restore the version of the accepted run"

// replaced are the GPUs of a machine that are not the accepted ones, by bus ID, and its adapters, by name.
func replaced(was, is node.Machine) []string {
	then := map[string]string{}
	for _, g := range was.GPUs {
		then[g.BusID] = g.UUID
	}
	var out []string
	for _, g := range is.GPUs {
		if uuid := then[g.BusID]; uuid != "" && g.UUID != "" && uuid != g.UUID {
			out = append(out, fmt.Sprintf("GPU at %s is %s, expected %s", g.BusID, g.UUID, uuid))
		}
	}
	guids := map[string]string{}
	for _, h := range was.HCAs {
		guids[h.Name] = h.GUID
	}
	for _, h := range is.HCAs {
		if guid := guids[h.Name]; guid != "" && h.GUID != "" && guid != h.GUID {
			out = append(out, fmt.Sprintf("adapter %s is %s, expected %s", h.Name, h.GUID, guid))
		}
	}
	return out
}

// compareMachine compares a node with its accepted state. A component that is not read now is
// unobserved. One observation is enough, since a version is not measured.
func compareMachine(run string, was, is node.Machine, ids []string) Reading {
	r := Reading{Node: was.Host, Check: Versions, State: OK}
	add := func(s State, f check.Finding) {
		if r.State != Changed && s == Changed {
			r.Findings = nil
		}
		if r.State != Changed || s == Changed {
			f.Observations = ids
			r.State, r.Lasting, r.Findings = s, s == Changed, append(r.Findings, f)
		}
	}
	then, now := was.Components(), is.Components()
	for _, name := range slices.Sorted(maps.Keys(then)) {
		switch {
		case len(now[name]) == 0 && observedOther(now, name):
			add(Changed, check.NewFinding("", was.Host, remedyVersions, "has no %s, which was %s in run %s", name, join(then[name]), run))
		case len(now[name]) == 0:
			add(Unobserved, check.NewFinding("", was.Host, "see the findings of the node's other checks", "its versions were not observed"))
		case !slices.Equal(then[name], now[name]):
			add(Changed, check.NewFinding("", was.Host, remedyVersions, "%s is %s, expected %s, as in run %s", name, join(now[name]), join(then[name]), run))
		}
	}
	for _, text := range replaced(was, is) {
		add(Changed, check.NewFinding("", was.Host, remedyVersions, "%s, as in run %s", text, run))
	}
	r.Findings = slices.CompactFunc(r.Findings, func(a, b check.Finding) bool { return a.Message == b.Message })
	return r
}

// observedOther reports whether another component of the same kind was read: then this one is gone,
// as when an adapter of another type has replaced one.
func observedOther(now map[string][]string, name string) bool {
	kind, _, named := strings.Cut(name, " of ")
	return named && slices.ContainsFunc(slices.Collect(maps.Keys(now)), func(other string) bool { return strings.HasPrefix(other, kind+" of ") })
}

// compareDeclared compares profile and images of the site file with those of the accepted run.
func compareDeclared(run string, then, now drift.Stack) Reading {
	r := Reading{Node: Cluster, Check: Versions, State: OK}
	all := maps.Clone(then)
	maps.Copy(all, now)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if slices.Equal(then[name], now[name]) {
			continue
		}
		r.State, r.Lasting = Changed, true
		r.Findings = append(r.Findings, check.NewFinding("", "site", remedyVersions, "%s is %s, expected %s, as in run %s", name, join(now[name]), join(then[name]), run))
	}
	return r
}

func join(values []string) string {
	if len(values) == 0 {
		return "unknown"
	}
	return strings.Join(values, " and ")
}
