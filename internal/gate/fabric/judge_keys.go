package fabric

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/fabric/uniform"
)

const (
	remedyKeys = "add the port's GUID to the partition (partitions.conf of opensm, or UFM) as a full member, let the subnet manager read it, then run again: firstlight accept --from fabric"
	fullMember = 0x8000 // the membership bit of a P_Key (InfiniBand specification, 10.9.1.2)
)

// judgeKeys requires that every port has the partition keys of most ports and is a full member
// of at least one partition: limited members cannot communicate with each other.
func judgeKeys(b *check.Builder, adapters []adapter) {
	var samples, limited []uniform.Sample
	members := 0 // full members of a partition, except the subnet manager's port
	rails, managers := map[string][]uniform.Sample{}, map[string]string{}
	for _, a := range adapters {
		if a.unobserved || !a.active() {
			continue // reported for the host or the port
		}
		s := uniform.Sample{Adapter: a.name, Value: keyList(a.keys), Observation: a.verbsObs}
		samples, rails[a.rail] = append(samples, s), append(rails[a.rail], s)
		if a.runsSM() {
			managers[a.name] = keyList(asLimited(a.keys))
		}
		switch {
		case !slices.ContainsFunc(a.keys, full):
			limited = append(limited, s)
		case !a.runsSM():
			members++
		}
	}
	if len(limited) > 0 && members == 0 {
		b.Fail(limited[0].Observation.ID, suspectSM, remedyKeys, "no port but the subnet manager's is a full member of any partition: partition keys %s", uniform.Spread(samples))
		limited = nil // one cause, one finding
	}
	for _, s := range limited {
		b.Fail(s.Observation.ID, s.Adapter, remedyKeys, "%s is a full member of no partition (partition keys: %s)", s.Adapter, s.Value)
	}
	for _, group := range keyGroups(samples, rails) {
		usual, _ := uniform.Usual(group)
		uniform.Require(b, slices.DeleteFunc(group, func(s uniform.Sample) bool {
			keys, ok := managers[s.Adapter]
			return ok && keys == usual
		}), "partition keys", "ports", remedyKeys)
	}
}

// keyGroups are the ports that must have the same keys: all ports, or those of each rail if
// only the rails have a majority.
func keyGroups(samples []uniform.Sample, rails map[string][]uniform.Sample) [][]uniform.Sample {
	if _, n := uniform.Usual(samples); n > 0 {
		return [][]uniform.Sample{samples}
	}
	var out [][]uniform.Sample
	for _, name := range slices.Sorted(maps.Keys(rails)) {
		if _, n := uniform.Usual(rails[name]); n < 2 {
			return [][]uniform.Sample{samples}
		}
		out = append(out, rails[name])
	}
	return out
}

// keyList formats a table in one line.
func keyList(keys []string) string { return cmp.Or(strings.Join(keys, ", "), "none") }

// asLimited are the keys that a subnet manager's port would have as a limited member of the
// default partition: opensm makes its own port a full member.
func asLimited(keys []string) []string {
	out := slices.Clone(keys)
	if i := slices.Index(out, "0xffff"); i >= 0 {
		out[i] = "0x7fff"
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func full(key string) bool {
	v, err := strconv.ParseUint(key, 0, 16)
	return err == nil && v&fullMember != 0
}
