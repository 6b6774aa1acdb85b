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

var hostCount = regexp.MustCompile(`^    hosts \((\d+)\):$`)

// ParseHosts reads ansible-playbook --list-hosts: the hosts of all plays, sorted, each once. An
// empty list is valid; output without a play is an error.
func ParseHosts(raw []byte) ([]string, error) {
	return guard.Parse("ansible-playbook --list-hosts", func() ([]string, error) {
		const host = "      "
		out, plays, open := []string{}, 0, 0
		for text := range strings.Lines(string(raw)) {
			text = strings.TrimRight(text, "\r\n")
			if open > 0 {
				name, found := strings.CutPrefix(text, host)
				if !found || name == "" || strings.ContainsAny(name, " \t") {
					return nil, fmt.Errorf("unexpected line %.120q: %d more hosts of play %d are required", text, open, plays)
				}
				out = append(out, name)
				open--
				continue
			}
			if m := hostCount.FindStringSubmatch(text); m != nil {
				n, err := strconv.Atoi(m[1])
				if err != nil {
					return nil, fmt.Errorf("invalid number of hosts %.20q", m[1])
				}
				plays, open = plays+1, n
			}
		}
		switch {
		case plays == 0:
			return nil, errors.New("no play is listed")
		case open > 0:
			return nil, fmt.Errorf("the list is cut short: %d more hosts of play %d are required", open, plays)
		}
		slices.Sort(out)
		return slices.Compact(out), nil
	})
}
