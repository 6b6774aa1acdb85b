package nvidia

import (
	"slices"
	"strconv"
)

// Continuity is how a kernel log follows one that was read before on the same host.
type Continuity string

// The continuities.
const (
	// FromNewBoot: the host has booted since, or the log has everything since the boot.
	FromNewBoot Continuity = "from boot"
	// Overlapping: no line between the two is lost.
	Overlapping Continuity = "overlapping"
	// Gap: lines between the two may be lost.
	Gap Continuity = "gap"
	// UnknownContinuity: the lines have no seconds since the boot, or the host may have booted since.
	UnknownContinuity Continuity = "unknown"
)

// Follows tells how a log follows a previous one, by the seconds since the boot that dmesg prints.
func (l XidLog) Follows(previous XidLog) Continuity {
	if l.FromBoot {
		return FromNewBoot
	}
	first, errFirst := strconv.ParseFloat(l.First, 64)
	last, errLast := strconv.ParseFloat(l.Last, 64)
	before, errBefore := strconv.ParseFloat(previous.Last, 64)
	switch {
	case errFirst != nil || errLast != nil || errBefore != nil || last < before:
		return UnknownContinuity
	case first > before:
		return Gap
	default:
		return Overlapping
	}
}

// Since is the log with the events of a previous one of the same boot that the ring buffer may have
// dropped.
func (l XidLog) Since(previous XidLog) XidLog {
	if c := l.Follows(previous); c != Overlapping && c != Gap {
		return l
	}
	l.Events, l.Hardware = withEarlier(l.Events, previous.Events), withEarlier(l.Hardware, previous.Hardware)
	return l
}

// withEarlier are events and those of an earlier log that are not among them.
func withEarlier(events, earlier []XidEvent) []XidEvent {
	events = slices.Clone(events)
	for _, old := range earlier {
		if !slices.ContainsFunc(events, old.again) {
			events = append(events, old)
		}
	}
	return events
}

// again reports whether another event is of the same error. An error of a switch may be classified
// later.
func (e XidEvent) again(o XidEvent) bool {
	return e.Kind == o.Kind && e.Code == o.Code && e.PCI == o.PCI && e.Device == o.Device && e.Action == o.Action &&
		(e.Fatal == o.Fatal && e.Unclassified == o.Unclassified || e.Unclassified)
}
