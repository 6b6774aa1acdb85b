package judge

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Refusal is the scheduler's own account of why no node took a pod.
type Refusal struct {
	// Nodes of the whole cluster.
	Nodes int
	// Before is said where no node was looked at.
	Before string
	// Reasons of filters; a node may have several.
	Reasons []Reason
	// After is what was said of preemption.
	After string
}

// Reason is why some nodes refused.
type Reason struct {
	Nodes int
	Text  string
}

var (
	refusal    = regexp.MustCompile(`(?s)^0/(\d+) nodes are available:(.*)$`)
	nextReason = regexp.MustCompile(`, \d+ `)
	oneReason  = regexp.MustCompile(`(?s)^(\d+) (.+)$`)
)

// foreign begins the reason of nodes that were not looked at, because the pod's
// affinity names others: those of other cells.
const foreign = "node(s) didn't satisfy plugin"

// ParseRefusal reads the message of a pod's PodScheduled condition:
// "0/N nodes are available: 4 Insufficient x, 2 node(s) had y. preemption: ...".
func ParseRefusal(message string) (Refusal, bool) {
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

// splitReasons splits at commas that a count follows: a reason may have commas of its own.
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

// Own are the reasons of the cell's nodes: those of other cells are left out.
func (r Refusal) Own() []Reason {
	var out []Reason
	for _, reason := range r.Reasons {
		if !strings.HasPrefix(reason.Text, foreign) {
			out = append(out, reason)
		}
	}
	return out
}

// Says is on how many of the cell's nodes a reason has the text.
func (r Refusal) Says(text string) int {
	n := 0
	for _, reason := range r.Own() {
		if strings.Contains(reason.Text, text) {
			n += reason.Nodes
		}
	}
	return n
}

// Lacks are the resources of which nodes had too little.
func (r Refusal) Lacks() []string {
	var out []string
	for _, reason := range r.Own() {
		if name, ok := strings.CutPrefix(reason.Text, "Insufficient "); ok {
			out = append(out, name)
		}
	}
	return out
}

// String is in the scheduler's words, of the cell's nodes alone.
func (r Refusal) String() string {
	if r.Before != "" {
		return r.Before
	}
	var parts []string
	for _, reason := range r.Own() {
		parts = append(parts, fmt.Sprintf("%d %s", reason.Nodes, reason.Text))
	}
	if len(parts) == 0 {
		return "no node was looked at"
	}
	return strings.Join(parts, ", ")
}

// words are the scheduler's, as they are where they can't be read.
func words(message string) string {
	if r, ok := ParseRefusal(message); ok {
		return r.String()
	}
	return message
}
