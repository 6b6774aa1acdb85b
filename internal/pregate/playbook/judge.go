package playbook

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
)

const (
	remedyGate      = "run the gate again"
	remedyInventory = "add the host to the inventory and to the hosts of a play, or remove it from the site's inventory"
	remedyProgram   = "run the command of the observation by hand; ansible-playbook needs the collection ansible.posix (Debian: package ansible; else: ansible-galaxy collection install ansible.posix)"
)

// Judge judges the playbooks of a step from all its observations; applied is false without a playbook.
// A pass: every node of the site had the playbook applied without a failure, a second run changed
// nothing, and the nodes are well after each wave.
func Judge(obs []check.Observation) (j check.Judgement, applied bool) {
	b := &check.Builder{}
	begins := 0
	for i, o := range obs {
		if o.Kind != KindRollout {
			continue
		}
		begins++
		end := i + 1
		for end < len(obs) && obs[end].Kind != KindRollout {
			end++
		}
		judgeRollout(b, o, check.OfKind(obs[i+1:end], KindWave))
	}
	if begins == 0 {
		return check.Judgement{}, false
	}
	return b.Judgement("every playbook was applied to every node, and changed nothing the second time"), true
}

func judgeRollout(b *check.Builder, o check.Observation, waves []check.Observation) {
	r, err := check.Decode[Rollout](o)
	if err != nil {
		b.Unobserved(o.ID, "preparation "+o.Command, remedyGate, "%v", err)
		return
	}
	if JudgeBegin(b, o.ID, r); !b.Clean() {
		return
	}
	for i, hosts := range r.Waves {
		if i >= len(waves) {
			b.Unobserved(o.ID, "playbook "+r.Playbook, remedyGate, "wave %d of %d was not run: %s", i+1, len(r.Waves), strings.Join(hosts, ", "))
			return
		}
		w, err := check.Decode[Wave](waves[i])
		if err != nil {
			b.Unobserved(waves[i].ID, "playbook "+r.Playbook, remedyGate, "wave %d of %d: %v", i+1, len(r.Waves), err)
			return
		}
		if !slices.Equal(w.Hosts, hosts) {
			b.Unobserved(waves[i].ID, "playbook "+r.Playbook, remedyGate, "wave %d of %d has the hosts %s, want %s", i+1, len(r.Waves), strings.Join(w.Hosts, ", "), strings.Join(hosts, ", "))
			return
		}
		if JudgeWave(b, waves[i].ID, r.Playbook, w); b.Clean() {
			continue
		}
		if rest := slices.Concat(r.Waves[i+1:]...); len(rest) > 0 {
			b.Note(waves[i].ID, "playbook "+r.Playbook, "correct what failed in the wave, then "+remedyGate, "wave %d of %d failed: the playbook was not applied to %s",
				i+1, len(r.Waves), strings.Join(rest, ", "))
		}
		return
	}
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
	planned := slices.Concat(r.Waves...)
	for _, host := range r.Hosts {
		if !slices.Contains(r.Listed, host) {
			b.Fail(id, host, remedyInventory, "is a node of the site, and no play of %s has it: nothing was changed", r.Playbook)
		}
	}
	if !slices.Equal(planned, r.Hosts) {
		b.Unobserved(id, suspect, "report this defect with the run's evidence", "its waves have the hosts %s, want %s", strings.Join(planned, ", "), strings.Join(r.Hosts, ", "))
	}
}

// JudgeWave judges one wave; the next one may begin if b is clean.
func JudgeWave(b *check.Builder, id, playbook string, w Wave) {
	suspect, hosts := "playbook "+playbook, strings.Join(w.Hosts, ", ")
	if judgeRun(b, id, playbook, w.Hosts, w.Applied, ""); !b.Clean() {
		return
	}
	if w.Again == nil {
		b.Unobserved(id, suspect, remedyGate, "was not run a second time on %s", hosts)
		return
	}
	if judgeRun(b, id, playbook, w.Hosts, *w.Again, "in the second run: "); !b.Clean() {
		return
	}
	if changedAgain(b, id, playbook, w.Hosts, *w.Again.Result); !b.Clean() || w.Nodes == nil {
		return
	}
	n := *w.Nodes
	if n.Err != "" || n.Observations == 0 {
		b.Unobserved(id, suspect, "make the hosts reachable, then "+remedyGate, "%s were not observed after the wave: %s", hosts, cmp.Or(n.Err, "no observation"))
		return
	}
	b.AddFailed(n.Failed...)
	b.AddUnobserved(n.Unobserved...)
}

// quoted are task names.
func quoted(names []string) string {
	var out []string
	for _, n := range names {
		out = append(out, fmt.Sprintf("%q", n))
	}
	return cmp.Or(strings.Join(out, ", "), "not named")
}
