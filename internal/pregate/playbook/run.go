package playbook

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/ansible"
)

const (
	remedyTask      = "correct the task or the host, then run the gate again"
	remedyTolerated = "let the task fail its host if the host needs it: without ignore_errors, ignore_unreachable and rescue"
	remedyReach     = "make the host reachable for Ansible: ansible -i INVENTORY HOST -m ping"
	remedyAgain     = "make the task idempotent (creates, changed_when, a module instead of a command), then run the gate again"
)

// NoSecondRun is the note for a playbook without a second run.
func NoSecondRun(playbook string) string {
	return "playbook " + playbook + ": idempotent is false: no second run was made, so that it changes nothing again is not proven"
}

// Done reports whether a run was applied to every host without a finding.
func (r Run) Done(hosts []string) bool {
	b := &check.Builder{}
	judgeRun(b, "", "", hosts, r, "")
	return b.Clean()
}

// judgeRun requires the exact set of hosts, each with a task that was carried out and without a failure.
func judgeRun(b *check.Builder, id, playbook string, hosts []string, r Run, when string) {
	suspect := "playbook " + playbook
	if r.Err != "" || r.Result == nil {
		b.Unobserved(id, suspect, remedyProgram, "%sno result on %s: %s", when, strings.Join(hosts, ", "), cmp.Or(r.Err, "none is stored"))
		return
	}
	for _, host := range hosts {
		h, found := r.Result.Hosts[host]
		switch {
		case !found:
			b.Fail(id, host, remedyInventory, "%sis a host of the wave, and no play of %s had it", when, playbook)
		case h.Unreachable > 0:
			b.Fail(id, host, remedyReach, "%sunreachable for %s, %s", when, playbook, last(r.Result, host, ansible.Unreachable))
		case h.Failures > 0:
			b.Fail(id, host, remedyTask, "%s%s failed, %s", when, playbook, last(r.Result, host, ansible.Failed))
		case h.Done == 0:
			b.Fail(id, host, "correct the tasks and their conditions, or the groups of the host", "%sno task of %s was carried out on it (%d skipped, %d failed and ignored, %d failed and rescued)",
				when, playbook, h.Skipped, h.Ignored, h.Rescued)
		}
	}
	for _, host := range slices.Sorted(maps.Keys(r.Result.Hosts)) {
		if !slices.Contains(hosts, host) {
			b.Fail(id, suspect, "let the plays have hosts of the inventory only", "%sit ran on %s, which is not in the wave", when, host)
		}
	}
	if b.Clean() && r.Exit != 0 {
		b.Fail(id, suspect, remedyProgram, "%sexit status %d, and no host failed: %s", when, r.Exit, cmp.Or(strings.Join(r.Messages, "; "), "no message"))
	}
	if b.Clean() {
		noteTolerated(b, id, suspect, *r.Result, when)
	}
}

// noteTolerated names the tasks that failed and that the playbook ignores or rescues, each with its hosts.
func noteTolerated(b *check.Builder, id, suspect string, r ansible.Result, when string) {
	var tasks []string
	hosts := map[string][]string{}
	for _, e := range r.Events {
		if e.State == ansible.Changed {
			continue
		}
		if _, ok := hosts[e.Task]; !ok {
			tasks = append(tasks, e.Task)
		}
		if !slices.Contains(hosts[e.Task], e.Host) {
			hosts[e.Task] = append(hosts[e.Task], e.Host)
		}
	}
	for i, task := range tasks {
		if i == maxNames {
			b.Note(id, suspect, remedyTolerated, "%s%d more tasks failed", when, len(tasks)-maxNames)
			return
		}
		b.Note(id, suspect, remedyTolerated, "%stask %q failed on %s, and the playbook ignores or rescues that", when, task, check.JoinNames(hosts[task], maxNames))
	}
}

// changedAgain names the tasks that changed a host in the second run.
func changedAgain(b *check.Builder, id, playbook string, hosts []string, r ansible.Result) {
	for _, host := range hosts {
		n := r.Hosts[host].Changed
		if n == 0 {
			continue
		}
		var tasks []string
		for _, e := range r.Events {
			if e.Host == host && e.State == ansible.Changed {
				tasks = append(tasks, e.Task)
			}
		}
		b.Fail(id, host, remedyAgain, "%s is not idempotent: its second run changed the host again, %d tasks: %s", playbook, n, quoted(tasks))
	}
}

// last is the last event of a state on a host: after it the host had no further task.
func last(r *ansible.Result, host, state string) string {
	for _, e := range slices.Backward(r.Events) {
		if e.Host == host && e.State == state {
			return fmt.Sprintf("at task %q of play %q: %s", e.Task, e.Play, cmp.Or(e.Message, "no message"))
		}
	}
	return "at a task that the result does not name"
}
