// Package playbook judges Ansible playbooks that were applied to the nodes of a site in waves. It is
// pure: package pregate observes the runs, which are stored before they are judged.
package playbook

import (
	"slices"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/ansible"
)

// The kinds of the observations of a playbook: KindRollout before the first wave, then KindWave for
// each wave, in order. Observations of the nodes of a wave have kinds that begin with NodePrefix,
// and are stored before that of the wave.
const (
	KindRollout = "prepare-playbook"
	KindWave    = "prepare-playbook-wave"
	NodePrefix  = "prepare-node-"
)

// Expected is what a site requires of the playbooks of a step.
type Expected struct {
	// Once has one entry for each playbook, in order: no second run is required.
	Once []bool
	// Hosts are the nodes of the site that each playbook must be applied to; nil: those that its
	// observations name.
	Hosts []string
	// Nodes judges the nodes after each wave; nil: they are not checked.
	Nodes JudgeNodes
}

// Without is what remains without nodes that earlier steps left out.
func (e Expected) Without(nodes []string) Expected {
	if e.Hosts != nil {
		e.Hosts = slices.DeleteFunc(slices.Clone(e.Hosts), func(h string) bool { return slices.Contains(nodes, h) })
	}
	return e
}

// JudgeNodes judges what was observed on the nodes of a wave: observations without NodePrefix. It is pure.
// A node without observations has a finding.
type JudgeNodes func(nodes []string, obs []check.Observation) (failed, unobserved []check.Finding)

// Rollout is one playbook for the nodes of a site: the figures of KindRollout.
type Rollout struct {
	Playbook string `json:"playbook"`
	// Hosts are the nodes of the site that the playbook must be applied to.
	Hosts []string `json:"hosts"`
	// Plays are those of the playbook with their hosts in the inventory; ListErr is why they are not known.
	Plays   []ansible.Play `json:"plays"`
	ListErr string         `json:"listErr,omitempty"`
	// Once: the site switches the second run off.
	Once bool `json:"once,omitempty"`
	// Waves are the hosts of each wave, in order.
	Waves [][]string `json:"waves"`
}

// Wave is the playbook on some hosts at a time: the figures of KindWave.
type Wave struct {
	Hosts []string `json:"hosts"`
	// Applied is the run that changes the hosts, Again the second one; nil: it did not run.
	Applied Run  `json:"applied"`
	Again   *Run `json:"again,omitempty"`
	// NodesErr is why the hosts were not observed after the wave.
	NodesErr string `json:"nodesErr,omitempty"`
}

// Run is one run of ansible-playbook.
type Run struct {
	Exit int `json:"exit"`
	// Err is why there is no result.
	Err string `json:"err,omitempty"`
	// Messages are the warnings and errors of the program, one line each.
	Messages []string        `json:"messages,omitempty"`
	Result   *ansible.Result `json:"result,omitempty"`
}
