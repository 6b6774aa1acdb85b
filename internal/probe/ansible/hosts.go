package ansible

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// Play is one play of a playbook.
type Play struct {
	// Name is its text in the list: its number, pattern of hosts and name.
	Name string `json:"name"`
	// Hosts are in the order of the list; empty: none in the inventory.
	Hosts []string `json:"hosts"`
}

// HostsOf are the hosts of all plays, sorted, each once.
func HostsOf(plays []Play) []string {
	out := []string{}
	for _, p := range plays {
		out = append(out, p.Hosts...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// playName is the line of a play; tags follow a tab.
var playName = regexp.MustCompile(`^  (play #\d+ [^\t]*)`)

var hostCount = regexp.MustCompile(`^    hosts \((\d+)\):$`)

// ParseHosts reads ansible-playbook --list-hosts: the plays, in order. A play without hosts is valid;
// output without a play is an error.
func ParseHosts(raw []byte) ([]Play, error) {
	return guard.Parse("ansible-playbook --list-hosts", func() ([]Play, error) {
		const host = "      "
		var out []Play
		name, open := "", 0
		for text := range strings.Lines(string(raw)) {
			text = strings.TrimRight(text, "\r\n")
			if open > 0 {
				h, found := strings.CutPrefix(text, host)
				if !found || h == "" || strings.ContainsAny(h, " \t") {
					return nil, fmt.Errorf("unexpected line %.120q: %d more hosts of play %d are required", text, open, len(out))
				}
				last := &out[len(out)-1]
				last.Hosts = append(last.Hosts, h)
				open--
				continue
			}
			if m := playName.FindStringSubmatch(text); m != nil {
				name = strings.TrimSpace(m[1])
			}
			if m := hostCount.FindStringSubmatch(text); m != nil {
				n, err := strconv.Atoi(m[1])
				if err != nil {
					return nil, fmt.Errorf("invalid number of hosts %.20q", m[1])
				}
				out, open = append(out, Play{Name: name, Hosts: []string{}}), n
				name = ""
			}
		}
		switch {
		case len(out) == 0:
			return nil, errors.New("no play is listed")
		case open > 0:
			return nil, fmt.Errorf("the list is cut short: %d more hosts of play %d are required", open, len(out))
		}
		return out, nil
	})
}
