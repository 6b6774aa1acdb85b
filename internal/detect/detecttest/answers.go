// Package detecttest completes the files of site detect in tests, as a person does.
package detecttest

import (
	"maps"
	"regexp"
	"strings"
	"testing"
)

var (
	todoLine = regexp.MustCompile(`^\s*# TODO: `)
	itemLine = regexp.MustCompile(`^(\s*)- name: (\S+)`)
	keyLine  = regexp.MustCompile(`^(\s*)([A-Za-z]+):(?: (.*?))?(?:  # (seen|default|TODO): (.*))?$`)
)

// Answers are the answers that every file needs, for Answered, and more.
func Answers(more map[string]string) map[string]string {
	out := map[string]string{
		"facility.signOff.by": "A. Person", "facility.signOff.role": "manager", "facility.signOff.reference": "CX-1",
		"facility.signOff.at": "2026-11-01", "facility.signOff.expires": "2027-11-01",
		"facility.power.provided": "100 kW", "facility.cooling.provided": "100 kW", "facility.weight.provided": "5 t",
		"reach.ssh.user": "root", "reach.ssh.identityFile": "id", "reach.ssh.knownHostsFile": "known_hosts",
		"workloads.collective.image": "example.com/nccl:1", "workloads.training.image": "example.com/titan:1",
		"workloads.inference.loadImage": "example.com/firstlight:1",
	}
	maps.Copy(out, more)
	return out
}

// Answered is a file as a person completes it: the values of answers at their paths
// ("reach.ssh.user"; of an item of a list by its name: "groups.h200.profile"), an empty one for a
// deleted key, and no TODO. Other proposals are confirmed.
func Answered(tb testing.TB, file string, answers map[string]string) string {
	tb.Helper()
	var out []string
	var path []string
	used := map[string]bool{}
	for line := range strings.SplitSeq(file, "\n") {
		if todoLine.MatchString(line) {
			continue
		}
		if m := itemLine.FindStringSubmatch(line); m != nil {
			path = append(path[:min(len(path), len(m[1])/2)], m[2])
		}
		m := keyLine.FindStringSubmatch(line)
		if m == nil {
			out = append(out, line)
			continue
		}
		path = append(path[:min(len(path), len(m[1])/2)], m[2])
		at := strings.Join(path, ".")
		if answer, ok := answers[at]; ok {
			used[at] = true
			if answer != "" { // an empty answer deletes the key
				out = append(out, m[1]+m[2]+": "+answer)
			}
			continue
		}
		if m[4] == "TODO" {
			line = m[1] + m[2] + ": " + m[3]
		}
		out = append(out, line)
	}
	for at := range answers {
		if !used[at] {
			tb.Errorf("the file has no %s to answer", at)
		}
	}
	return strings.Join(out, "\n")
}
