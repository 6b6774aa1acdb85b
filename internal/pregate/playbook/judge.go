package playbook

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/ansible"
)

// The kinds of package plan that a step has without an observation of its check.
const (
	kindPrepare = "prepare"
	kindError   = "error"
)

// maxNames limits the hosts and tasks that a note names.
const maxNames = 8

const (
	remedyGate      = "run the gate again"
	remedyInventory = "add the host to the inventory and to the hosts of a play, or remove it from the site's inventory"
	remedyProgram   = "run the command of the observation by hand; ansible-playbook needs the collection ansible.posix (Debian: package ansible; else: ansible-galaxy collection install ansible.posix)"
)

// Judge judges the playbooks of a step from all its observations; applied is false without a playbook.
// A pass: every node of the site had the playbook applied without a failure, a second run changed
// nothing unless the site switches it off, and the nodes are well after each wave. once are the playbooks
// without a second run.
func Judge(obs []check.Observation, want Expected) (j check.Judgement, once []string, applied bool) {
	b := &check.Builder{}
	begins := 0
	for i, o := range obs {
		switch {
		case o.Kind == KindRollout:
		case begins == 0 && (o.Kind == KindWave || strings.HasPrefix(o.Kind, NodePrefix)):
			b.Unobserved(o.ID, "playbook "+o.Command, remedyGate, "its beginning was not observed")
			continue
		default:
			continue
		}
		begins++
		end := i + 1
		for end < len(obs) && obs[end].Kind != KindRollout {
			end++
		}
		mayOnce := begins <= len(want.Once) && want.Once[begins-1]
		if r, ok := judgeRollout(b, o, obs[i+1:end], want, mayOnce); ok && r.Once {
			once = append(once, r.Playbook)
		}
	}
	if ended(obs) && begins < len(want.Once) && b.Clean() {
		b.Unobserved("", "preparations", remedyGate, "%d of %d playbooks were applied", begins, len(want.Once))
	}
	if begins == 0 && b.Clean() {
		return check.Judgement{}, nil, false
	}
	return b.Judgement("every playbook was applied to every node"), once, true
}

// ended reports whether the preparations have ended: the check of the step has observations of its own.
func ended(obs []check.Observation) bool {
	return slices.ContainsFunc(obs, func(o check.Observation) bool {
		return o.Kind != kindError && o.Kind != kindPrepare && !strings.HasPrefix(o.Kind, kindPrepare+"-")
	})
}

// ofWave are the observation of a wave and those of its nodes.
type ofWave struct {
	wave  check.Observation
	nodes []check.Observation
}

// split returns the waves of a playbook, and the observations of nodes after the last one.
func split(obs []check.Observation) (waves []ofWave, rest []check.Observation) {
	for _, o := range obs {
		kind, ofNode := strings.CutPrefix(o.Kind, NodePrefix)
		switch {
		case o.Kind == KindWave:
			waves = append(waves, ofWave{o, rest})
			rest = nil
		case ofNode:
			o.Kind = kind
			rest = append(rest, o)
		}
	}
	return waves, rest
}

func judgeRollout(b *check.Builder, o check.Observation, obs []check.Observation, want Expected, mayOnce bool) (r Rollout, ok bool) {
	r, err := check.Decode[Rollout](o)
	if err != nil {
		b.Unobserved(o.ID, "preparation "+o.Command, remedyGate, "%v", err)
		return r, false
	}
	suspect := "playbook " + r.Playbook
	if JudgeBegin(b, o.ID, r); !b.Clean() {
		return r, true
	}
	if want.Hosts != nil && !slices.Equal(r.Hosts, want.Hosts) {
		b.Unobserved(o.ID, suspect, remedyGate, "is for the hosts %s, the site has %s", strings.Join(r.Hosts, ", "), strings.Join(want.Hosts, ", "))
		return r, true
	}
	if r.Once && !mayOnce {
		b.Unobserved(o.ID, suspect, remedyGate, "has no second run, and the site requires one")
		return r, true
	}
	waves, rest := split(obs)
	for i, hosts := range r.Waves {
		if i >= len(waves) {
			b.Unobserved(o.ID, suspect, remedyGate, "wave %d of %d was not run: %s", i+1, len(r.Waves), strings.Join(hosts, ", "))
			return r, true
		}
		id := waves[i].wave.ID
		w, err := check.Decode[Wave](waves[i].wave)
		if err != nil {
			b.Unobserved(id, suspect, remedyGate, "wave %d of %d: %v", i+1, len(r.Waves), err)
			return r, true
		}
		if !slices.Equal(w.Hosts, hosts) {
			b.Unobserved(id, suspect, remedyGate, "wave %d of %d has the hosts %s, want %s", i+1, len(r.Waves), strings.Join(w.Hosts, ", "), strings.Join(hosts, ", "))
			return r, true
		}
		if JudgeWave(b, id, r, w, want.Nodes, waves[i].nodes); b.Clean() {
			continue
		}
		if rest := slices.Concat(r.Waves[i+1:]...); len(rest) > 0 {
			b.Note(id, suspect, "correct what failed in the wave, then "+remedyGate, "wave %d of %d failed: the playbook was not applied to %s",
				i+1, len(r.Waves), strings.Join(rest, ", "))
		}
		return r, true
	}
	if extra := len(waves) - len(r.Waves); extra > 0 || len(rest) > 0 {
		b.Unobserved(o.ID, suspect, remedyGate, "has %d waves and %d observations of nodes more than its %d waves", max(0, extra), len(rest), len(r.Waves))
	}
	return r, true
}

// JudgeBegin requires that the inventory has every node of the site and that each is in one wave.
// Nothing is changed otherwise.
func JudgeBegin(b *check.Builder, id string, r Rollout) {
	suspect := "playbook " + r.Playbook
	if r.ListErr != "" {
		b.Unobserved(id, suspect, remedyProgram, "cannot list its hosts: %s", r.ListErr)
		return
	}
	if len(r.Hosts) == 0 {
		b.Unobserved(id, suspect, "list the nodes in the site's inventory", "the site has no node for it")
	}
	planned, listed := slices.Concat(r.Waves...), ansible.HostsOf(r.Plays)
	for _, host := range r.Hosts {
		if !slices.Contains(listed, host) {
			b.Fail(id, host, remedyInventory, "is a node of the site, and no play of %s has it: nothing was changed", r.Playbook)
		}
	}
	if !slices.Equal(planned, r.Hosts) {
		b.Unobserved(id, suspect, "report this defect with the run's evidence", "its waves have the hosts %s, want %s", strings.Join(planned, ", "), strings.Join(r.Hosts, ", "))
	}
	for _, p := range r.Plays {
		without := slices.DeleteFunc(slices.Clone(r.Hosts), func(h string) bool { return slices.Contains(p.Hosts, h) })
		switch {
		case len(without) == len(r.Hosts):
			b.Note(id, suspect, "move what the nodes need into a play that has them", "%s has no node of the site: it is not run", cmp.Or(p.Name, "a play"))
		case len(without) > 0:
			b.Note(id, suspect, "let the play have these nodes, unless they do not need it", "%s does not have %s", cmp.Or(p.Name, "a play"), check.JoinNames(without, maxNames))
		}
	}
}

// JudgeWave judges one wave of r, and what was observed on its nodes; the next wave may begin if b is clean.
func JudgeWave(b *check.Builder, id string, r Rollout, w Wave, nodes JudgeNodes, obs []check.Observation) {
	suspect, hosts := "playbook "+r.Playbook, strings.Join(w.Hosts, ", ")
	if judgeRun(b, id, r.Playbook, w.Hosts, w.Applied, ""); !b.Clean() {
		return
	}
	switch {
	case w.Again == nil && !r.Once:
		b.Unobserved(id, suspect, remedyGate, "was not run a second time on %s", hosts)
	case w.Again != nil:
		if judgeRun(b, id, r.Playbook, w.Hosts, *w.Again, "in the second run: "); b.Clean() {
			changedAgain(b, id, r.Playbook, w.Hosts, *w.Again.Result)
		}
	}
	if b.Clean() {
		judgeNodes(b, id, r.Playbook, w, nodes, obs)
	}
}

// judgeNodes judges the observations of the nodes of a wave again: no finding of it is stored.
func judgeNodes(b *check.Builder, id, playbook string, w Wave, nodes JudgeNodes, obs []check.Observation) {
	const reach = "make the hosts reachable, then " + remedyGate
	suspect, hosts := "playbook "+playbook, strings.Join(w.Hosts, ", ")
	switch {
	case w.NodesErr != "":
		b.Unobserved(id, suspect, reach, "%s were not observed after the wave: %s", hosts, w.NodesErr)
		return
	case nodes == nil && len(obs) > 0:
		b.Unobserved(obs[0].ID, suspect, remedyGate, "%s were observed after the wave, and the gate has no rules for them", hosts)
		return
	case nodes == nil:
		return
	}
	for _, o := range obs {
		if !slices.Contains(w.Hosts, o.Target) {
			b.Unobserved(o.ID, suspect, remedyGate, "%s was observed after the wave of %s", o.Target, hosts)
		}
	}
	if len(obs) == 0 {
		b.Unobserved(id, suspect, reach, "%s were not observed after the wave", hosts)
		return
	}
	failed, unobserved := nodes(w.Hosts, obs)
	b.AddFailed(failed...)
	b.AddUnobserved(unobserved...)
}

// quoted are task names.
func quoted(names []string) string {
	var out []string
	for _, n := range names {
		out = append(out, fmt.Sprintf("%q", n))
	}
	return cmp.Or(strings.Join(out, ", "), "not named")
}
