package fabric

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

const (
	remedyKeys = "add the port's GUID to the partition (partitions.conf of opensm, or UFM) as a full member, let the subnet manager read it, then walk again: firstlight accept --from fabric"
	fullMember = 0x8000 // the membership bit of a P_Key (InfiniBand specification, 10.9.1.2)
)

// judgeKeys demands the partition keys of most ports of every port, and a full membership
// of one partition at least: limited members do not reach each other.
func judgeKeys(v *verdict, adapters []adapter) {
	var samples, limited []sample
	rails := map[string][]sample{}
	for _, a := range adapters {
		if a.unseen || !a.active() {
			continue // reported for the host or the port
		}
		keys := "none"
		if len(a.keys) > 0 {
			keys = strings.Join(a.keys, ", ")
		}
		s := sample{a.name, keys, a.by}
		samples, rails[a.rail] = append(samples, s), append(rails[a.rail], s)
		if !slices.ContainsFunc(a.keys, full) {
			limited = append(limited, s)
		}
	}
	for _, s := range limited {
		if len(limited) == len(samples) {
			v.fail(s.o, suspectSM, fmt.Sprintf("no port is a full member of any partition: partition keys %s", spread(limited)), remedyKeys)
			break
		}
		v.fail(s.o, s.adapter, fmt.Sprintf("%s is a full member of no partition (partition keys: %s)", s.adapter, s.value), remedyKeys)
	}
	for _, group := range keyGroups(samples, rails) {
		v.uniform(group, "partition keys", "ports", remedyKeys)
	}
}

// keyGroups are the ports that must have the same keys: all, or those of each rail where
// no set is on most ports and each rail has one of its own.
func keyGroups(samples []sample, rails map[string][]sample) [][]sample {
	if _, n := usualValue(samples); n > 0 {
		return [][]sample{samples}
	}
	var out [][]sample
	for _, name := range slices.Sorted(maps.Keys(rails)) {
		if _, n := usualValue(rails[name]); n < 2 {
			return [][]sample{samples}
		}
		out = append(out, rails[name])
	}
	return out
}

func full(key string) bool {
	v, err := strconv.ParseUint(key, 0, 16)
	return err == nil && v&fullMember != 0
}
