package config

import (
	"fmt"
	"strconv"
	"strings"
)

// unique checks the keys by which leases and their clusters are found.
func (v *registryValidator) unique(rows []Reservation) {
	for _, f := range []struct {
		key string
		of  func(*Reservation) string
	}{
		{"name", func(r *Reservation) string { return r.Name }},
		{"slug", func(r *Reservation) string { return r.Slug }},
	} {
		first := make(map[string]int, len(rows))
		for i := range rows {
			value := f.of(&rows[i])
			if value == "" {
				continue
			}
			if before, found := first[value]; found {
				v.add(ruleTwice, rowPath(i, f.key), "duplicate %s %q: already used at %s", f.key, value, v.at(rowPath(before, f.key)...))
				continue
			}
			first[value] = i
		}
	}
}

// daytime checks that the rotation has one deployment per cloud.
func (v *registryValidator) daytime(rows []Reservation) {
	first := map[Cloud]int{}
	for i := range rows {
		row := &rows[i]
		if row.DaytimeIntent == "" || row.Cloud == "" {
			continue
		}
		if before, found := first[row.Cloud]; found {
			v.add(ruleDaytime, rowPath(i, "daytime-intent"), "%s has a daytime-intent, and so does %s, which is also on %s",
				rowName(i, row), rowName(before, &rows[before]), row.Cloud)
			continue
		}
		first[row.Cloud] = i
	}
}

// capacities checks the total of the rows that share a reservation.
func (v *registryValidator) capacities(r *Registry) {
	v.sameMachines(r.Reservations)
	shares := map[string]Share{}
	for _, s := range r.byID() {
		shares[s.ReservationID] = s
	}
	seen := make(map[string]int, len(r.Capacities))
	for i, c := range r.Capacities {
		at := func(key string) []string { return []string{"capacities", strconv.Itoa(i), key} }
		if c.NodeCount == 0 && !v.has(at("node-count")...) {
			v.missing(at("node-count"), fmt.Sprintf("capacity %d", i+1), "4")
		} else {
			v.count(at("node-count"), c.NodeCount, "nodes")
		}
		before, twice := seen[c.ReservationID]
		share, used := shares[c.ReservationID]
		switch {
		case c.ReservationID == "":
			v.missing(at("reservation-id"), fmt.Sprintf("capacity %d", i+1), "cr-0123456789abcdef1")
			continue
		case twice:
			v.problems = append(v.problems, ruleTwice.At(v.at(at("reservation-id")...), "duplicate capacity of %s: already stated at %s",
				c.ReservationID, v.at("capacities", strconv.Itoa(before), "reservation-id")).With("remove one of them"))
		case !used:
			v.add(ruleCapacityID, at("reservation-id"), "unknown reservation-id %q: no row has it", c.ReservationID)
		case c.NodeCount > 0 && share.Nodes > c.NodeCount:
			v.add(ruleCapacity, at("node-count"), "%s use %d nodes of %s in total, but it has %d",
				strings.Join(share.Reservations, ", "), share.Nodes, c.ReservationID, c.NodeCount)
		}
		seen[c.ReservationID] = i
	}
	for i := range r.Reservations {
		row := &r.Reservations[i]
		if _, stated := seen[row.ReservationID]; stated && row.ReservationID != "" && row.NodeCount == 0 {
			v.add(ruleUnstated, rowPath(i), "the capacity of %s is stated, but %s does not state its node-count", row.ReservationID, rowName(i, row))
		}
	}
}

// sameMachines checks that rows with one reservation-id agree on the hardware.
func (v *registryValidator) sameMachines(rows []Reservation) {
	first := map[string]int{}
	for i := range rows {
		row := &rows[i]
		if row.ReservationID == "" {
			continue
		}
		before, found := first[row.ReservationID]
		if !found {
			first[row.ReservationID] = i
			continue
		}
		other := &rows[before]
		for _, f := range []struct{ key, is, was string }{
			{"cloud", string(row.Cloud), string(other.Cloud)},
			{"accelerator", row.Accelerator, other.Accelerator},
			{"gpu-count", positiveOrEmpty(row.GPUCount), positiveOrEmpty(other.GPUCount)},
		} {
			if f.is != f.was && f.is != "" && f.was != "" {
				v.add(ruleMixed, rowPath(i, f.key), "%s and %s share %s but differ in %s: %s and %s",
					rowName(before, other), rowName(i, row), row.ReservationID, f.key, f.was, f.is)
			}
		}
	}
}

// positiveOrEmpty formats a positive number.
func positiveOrEmpty(n int) string {
	if n < 1 {
		return ""
	}
	return strconv.Itoa(n)
}

func rowPath(i int, keys ...string) []string {
	return append([]string{"reservations", strconv.Itoa(i)}, keys...)
}
