// Package playbook judges Ansible playbooks that were applied to the nodes of a site in waves. It is
// pure: package pregate observes the runs, which are stored before they are judged.
package playbook

import (
	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/ansible"
)

// The kinds of the observations of a playbook: KindRollout before the first wave, then KindWave for
// each wave, in order.
const (
	KindRollout = "prepare-playbook"
	KindWave    = "prepare-playbook-wave"
)

// Rollout is one playbook for the nodes of a site: the figures of KindRollout.
type Rollout struct {
	Playbook string `json:"playbook"`
	// Hosts are the nodes of the site that the playbook must be applied to.
	Hosts []string `json:"hosts"`
	// Listed are the hosts of the plays in the inventory; ListErr is why they are not known.
	Listed  []string `json:"listed"`
	ListErr string   `json:"listErr,omitempty"`
	// Waves are the hosts of each wave, in order.
	Waves [][]string `json:"waves"`
}

// Wave is the playbook on some hosts at a time: the figures of KindWave.
type Wave struct {
	Hosts []string `json:"hosts"`
	// Applied is the run that changes the hosts, Again the second one; nil: it did not run.
	Applied Run  `json:"applied"`
	Again   *Run `json:"again,omitempty"`
	// Nodes is the check of the hosts after the wave; nil: they were not checked.
	Nodes *NodeCheck `json:"nodes,omitempty"`
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

// NodeCheck is the part of gate node without load, on the hosts of a wave. Its observations are stored
// before its findings are made.
type NodeCheck struct {
	// Observations is the number of those that were judged.
	Observations int             `json:"observations"`
	Err          string          `json:"err,omitempty"`
	Failed       []check.Finding `json:"failed,omitempty"`
	Unobserved   []check.Finding `json:"unobserved,omitempty"`
}
