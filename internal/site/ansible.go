package site

import (
	"fmt"
	"strconv"
	"strings"
)

// Once reports whether the second run of the playbook is switched off.
func (a *Ansible) Once() bool { return a.Idempotent != nil && !*a.Idempotent }

// WavesOf splits hosts into waves, in order. A percentage is rounded down, to at least one host, as
// Ansible does for serial.
func (a *Ansible) WavesOf(hosts []string) ([][]string, error) {
	n, err := waveSize(len(hosts), a.Waves)
	if err != nil {
		return nil, err
	}
	var out [][]string
	for len(hosts) > 0 {
		end := min(n, len(hosts))
		out = append(out, hosts[:end:end])
		hosts = hosts[end:]
	}
	return out, nil
}

func waveSize(hosts int, size string) (int, error) {
	if size == "" {
		return max(1, hosts), nil
	}
	number, percent := strings.CutSuffix(size, "%")
	n, err := strconv.Atoi(number)
	switch {
	case err != nil, n < 1, percent && n > 100:
		return 0, fmt.Errorf("invalid size of a wave %q: must be a count of hosts, or 1%% to 100%%", size)
	case percent:
		return max(1, hosts*n/100), nil
	}
	return n, nil
}
