package slurm

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

// Node is a node of the cluster as slurmctld sees it.
type Node struct {
	Name string `json:"name"`
	// Host is NodeHostName, the name of the machine.
	Host string `json:"host,omitempty"`
	// State is the base state in upper case: IDLE, MIXED, ALLOCATED, DOWN, ERROR, FUTURE, UNKNOWN.
	State string `json:"state"`
	// Flags are those of the state: DRAIN, NOT_RESPONDING, COMPLETING, INVALID_REG and others.
	Flags []string `json:"flags,omitempty"`
	Gres  []Gres   `json:"gres,omitempty"`
	// Version is that of slurmd; empty if it never registered.
	Version    string   `json:"version,omitempty"`
	Partitions []string `json:"partitions,omitempty"`
	// Reason is why it is drained or down, with who set it and when.
	Reason string `json:"reason,omitempty"`
}

// NodesCommand prints these nodes, also those of hidden partitions, one in a line.
func NodesCommand(names []string) []string {
	return []string{"scontrol", "show", "nodes", strings.Join(names, ","), "-a", "-o"}
}

// notFound is scontrol's line for a name that no node has.
var notFound = regexp.MustCompile(`^Node \S+ not found$`)

// Has reports whether the state has a flag.
func (n Node) Has(flag string) bool { return slices.Contains(n.Flags, flag) }

// InUse reports whether jobs run on the node.
func (n Node) InUse() bool { return n.State == "ALLOCATED" || n.State == "MIXED" }

// Completes reports whether the node ends a job: its epilog runs, or its processes do not end. One without slurmd
// does not end it.
func (n Node) Completes() bool { return n.Has("COMPLETING") && !n.Has("NOT_RESPONDING") }

// GPUs are the number of GPUs of a type in the generic resources; type "" is any.
func (n Node) GPUs(kind string) int {
	total := 0
	for _, g := range n.Gres {
		if g.Name == "gpu" && (kind == "" || strings.EqualFold(g.Type, kind)) {
			total += g.Count
		}
	}
	return total
}

// ParseNodes reads scontrol show nodes -o; names that no node has are left out.
func ParseNodes(raw []byte) ([]Node, error) {
	return guard.Parse("scontrol show nodes", func() ([]Node, error) {
		var out []Node
		absent := false
		for line := range strings.Lines(string(oneLine(raw))) {
			line = strings.TrimRight(line, "\r\n")
			switch {
			case strings.TrimSpace(line) == "":
			case notFound.MatchString(line):
				absent = true
			case strings.HasPrefix(line, "NodeName="):
				n, err := parseNode(line)
				if err != nil {
					return nil, err
				}
				out = append(out, n)
			default:
				return nil, fmt.Errorf("unexpected line %.120q", line)
			}
		}
		if len(out) == 0 && !absent {
			return nil, errors.New("no nodes are listed")
		}
		return out, nil
	})
}

// ReadNodes reads what scontrol show nodes printed. It exits with code 1 if one of the names is that of no node.
func ReadNodes(stdout, stderr []byte, exit int) ([]Node, error) {
	if exit == 0 {
		return ParseNodes(stdout)
	}
	text := slices.Concat(stdout, []byte("\n"), stderr)
	nodes, err := ParseNodes(text)
	if err != nil || exit != 1 || !bytes.Contains(text, []byte(" not found")) {
		return nil, fmt.Errorf("scontrol exited with code %d: %.300q", exit, bytes.TrimSpace(slices.Concat(stderr, stdout)))
	}
	return nodes, nil
}

func parseNode(line string) (Node, error) {
	f := fields(line)
	n := Node{Name: f["NodeName"], Host: f["NodeHostName"], Version: f["Version"], Partitions: split(f["Partitions"]), Reason: null(f["Reason"])}
	if n.Name == "" {
		return Node{}, fmt.Errorf("a node without a name: %.120q", line)
	}
	gres, ok := f["Gres"]
	if !ok {
		return Node{}, fmt.Errorf("node %s has no field Gres: the line is truncated", n.Name)
	}
	var err error
	if n.Gres, err = parseGres(gres); err != nil {
		return Node{}, fmt.Errorf("node %s: %w", n.Name, err)
	}
	if n.State, n.Flags, err = parseState(f["State"]); err != nil {
		return Node{}, fmt.Errorf("node %s: %w", n.Name, err)
	}
	return n, nil
}

var stateWord = regexp.MustCompile(`^[A-Z][A-Z_]*$`)

// suffixes are the flags that a character after a state stands for, in sinfo and in scontrol
// before 21.08: sinfo(1), "NODE STATE CODES".
var suffixes = map[byte]string{
	'*': "NOT_RESPONDING", '~': "POWERED_DOWN", '#': "POWERING_UP", '!': "POWER_DOWN", '%': "POWERING_DOWN",
	'$': "MAINTENANCE", '@': "REBOOT_REQUESTED", '^': "REBOOT_ISSUED", '-': "PLANNED",
}

// parseState splits "IDLE+DRAIN" or "down*" into the base state and its flags.
func parseState(text string) (state string, flags []string, err error) {
	for i, word := range strings.Split(strings.ToUpper(text), "+") {
		for word != "" && suffixes[word[len(word)-1]] != "" {
			flags = append(flags, suffixes[word[len(word)-1]])
			word = word[:len(word)-1]
		}
		if !stateWord.MatchString(word) {
			return "", nil, fmt.Errorf("unexpected state %.80q", text)
		}
		if i == 0 {
			state = word
			continue
		}
		flags = append(flags, word)
	}
	slices.Sort(flags)
	return state, slices.Compact(flags), nil
}
