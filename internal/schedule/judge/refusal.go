package judge

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

// Refusal is the scheduler's message about a pod that fits no node.
type Refusal struct {
	// Nodes of the whole cluster.
	Nodes int
	// Before is the message where no node was evaluated.
	Before string
	// Reasons of the filter plugins; a node may have several.
	Reasons []Reason
	// After is the message about preemption.
	After string
}

// Reason is one filter result and its number of nodes.
type Reason struct {
	Nodes int
	Text  string
}

var (
	refusal    = regexp.MustCompile(`(?s)^0/(\d+) nodes are available:(.*)$`)
	nextReason = regexp.MustCompile(`, \d+ `)
	oneReason  = regexp.MustCompile(`(?s)^(\d+) (.+)$`)
)

// foreign starts the reason of nodes excluded by the pod's affinity: nodes of other
// scenarios.
const foreign = "node(s) didn't satisfy plugin"

// ParseRefusal reads the message of a pod's PodScheduled condition:
// "0/N nodes are available: 4 Insufficient x, 2 node(s) had y. preemption: ...".
func ParseRefusal(message string) (Refusal, bool) {
	r, err := guard.Parse("message of the scheduler", func() (Refusal, error) {
		if r, ok := refusalOf(message); ok {
			return r, nil
		}
		return Refusal{}, errors.New("not a refusal")
	})
	return r, err == nil
}

func refusalOf(message string) (Refusal, bool) {
	m := refusal.FindStringSubmatch(message)
	if m == nil {
		return Refusal{}, false
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		return Refusal{}, false
	}
	body, after, _ := strings.Cut(strings.TrimSpace(m[2]), ". ")
	r := Refusal{Nodes: n, After: strings.TrimSpace(after)}
	if text, ok := strings.CutPrefix(body, "preemption:"); ok {
		body, r.After = "", "preemption:"+text
	}
	body = strings.TrimSuffix(body, ".")
	for _, text := range splitReasons(body) {
		one := oneReason.FindStringSubmatch(text)
		if one == nil {
			r.Reasons, r.Before = nil, body
			return r, true
		}
		count, err := strconv.Atoi(one[1])
		if err != nil {
			return Refusal{}, false
		}
		r.Reasons = append(r.Reasons, Reason{Nodes: count, Text: one[2]})
	}
	return r, true
}

// splitReasons splits at commas followed by a count: a reason may contain commas.
func splitReasons(body string) []string {
	if body == "" {
		return nil
	}
	var out []string
	start := 0
	for _, at := range nextReason.FindAllStringIndex(body, -1) {
		out = append(out, body[start:at[0]])
		start = at[0] + len(", ")
	}
	return append(out, body[start:])
}

// OwnReasons are the reasons of the scenario's nodes, without those of other scenarios.
func (r Refusal) OwnReasons() []Reason {
	var out []Reason
	for _, reason := range r.Reasons {
		if !strings.HasPrefix(reason.Text, foreign) {
			out = append(out, reason)
		}
	}
	return out
}

// NodesWith is the number of the scenario's nodes with a reason that contains text.
func (r Refusal) NodesWith(text string) int {
	n := 0
	for _, reason := range r.OwnReasons() {
		if strings.Contains(reason.Text, text) {
			n += reason.Nodes
		}
	}
	return n
}

// Insufficient lists the resources of which nodes have too little.
func (r Refusal) Insufficient() []string {
	var out []string
	for _, reason := range r.OwnReasons() {
		if name, ok := strings.CutPrefix(reason.Text, "Insufficient "); ok {
			out = append(out, name)
		}
	}
	return out
}

// String is the scheduler's message for the scenario's nodes only.
func (r Refusal) String() string {
	if r.Before != "" {
		return r.Before
	}
	var parts []string
	for _, reason := range r.OwnReasons() {
		parts = append(parts, fmt.Sprintf("%d %s", reason.Nodes, reason.Text))
	}
	if len(parts) == 0 {
		return "no node was evaluated"
	}
	return strings.Join(parts, ", ")
}

// schedulerText shortens a scheduler message if it can be parsed.
func schedulerText(message string) string {
	if r, ok := ParseRefusal(message); ok {
		return r.String()
	}
	return message
}
