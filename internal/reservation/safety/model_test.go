package safety

import (
	"fmt"

	"github.com/anishathalye/porcupine"
)

// A reservation as seen by clients. An offered lease is not visible: it looks free.
type phase uint8

const (
	isFree phase = iota
	isHeld
	isDirty
	isCleaned
)

func (p phase) String() string { return [...]string{"free", "held", "dirty", "cleaning"}[p] }

// endings are how many ends of leases one history may have.
const endings = 24 * 64

// state is a possible state of the reservation.
type state struct {
	phase     phase
	token     int64
	highest   int64
	published bool                 // published: available, or checked out
	open      bool                 // available for checkout
	last      int64                // its end that extensions can not pass, µs
	ended     [endings / 64]uint64 // finished operations that may be repeated
}

// The token of a checked-in lease is unknown until it is read: 0.
func (s state) untold() bool { return s.phase == isHeld && s.token == 0 }

func (s state) has(token int64) bool { return s.phase == isHeld && s.token == token && token != 0 }
func (s state) cleans(token int64) bool {
	return s.phase == isCleaned && s.token == token
}
func (s state) marked(i int) bool { return s.ended[i/64]&(1<<(i%64)) != 0 }

func (s state) to(p phase) state {
	s.phase, s.token = p, 0
	s.published, s.open, s.last = false, false, 0
	return s
}

func (s state) granted(p phase, token int64) state {
	s.phase, s.token, s.highest = p, token, max(s.highest, token)
	return s
}

func (s state) end(p phase, i int) state {
	s = s.to(p)
	return s.mark(i)
}

func (s state) mark(i int) state {
	s.ended[i/64] |= 1 << (i % 64)
	return s
}

// asked and answered are one operation on one reservation.
type asked struct {
	op       op
	token    int64
	ending   int  // numbers the end that is asked for
	noClean  bool // what is released is free, unless it was published
	together bool // with another reservation
	released bool // what is unused was released, and a release of it is done
}

type answered struct {
	outcome outcome
	token   int64
	saw     terms
}

// may are the states after a step; none: it can not have been answered so.
func may(s state, a asked, r answered) []state {
	var out []state
	for _, from := range passing(s) {
		out = append(out, then(from, a, r)...)
	}
	return out
}

// passing returns the states that time alone can reach: a lease or cleaning may expire at any time
// and is dirty then.
func passing(s state) []state {
	if s.phase == isHeld || s.phase == isCleaned {
		return []state{s, s.to(isDirty)}
	}
	return []state{s}
}

func then(s state, a asked, r answered) []state {
	switch a.op.Kind {
	case acquire:
		return acquired(s, a, r)
	case clean:
		return begun(s, r)
	case renew:
		if r.outcome == over && (!s.has(a.token) || !s.published) {
			return nil
		}
		return shown(s, s.has(a.token), r)
	case renewClean:
		return shown(s, s.cleans(a.token), r)
	case check:
		return shown(s, s.has(a.token) || s.cleans(a.token), r)
	case release:
		if a.noClean && !s.published {
			return ends(s, s.has(a.token), isFree, a, r)
		}
		return ends(s, s.has(a.token), isDirty, a, r)
	case evict, impound:
		return ends(s, s.has(a.token), isDirty, a, r)
	case finish:
		return ends(s, s.cleans(a.token), isFree, a, r)
	case fail:
		return ends(s, s.cleans(a.token), isDirty, a, r)
	case block: // an offered lease cannot be blocked, and looks free
		if s.phase == isFree {
			return []state{s, s.to(isDirty)}
		}
		return []state{s}
	default:
		return byDay(s, a, r)
	}
}

func acquired(s state, a asked, r answered) []state {
	switch {
	case r.outcome == done:
		if s.phase == isFree && r.token > s.highest {
			return []state{s.granted(isHeld, r.token)}
		}
		return nil
	case r.outcome == busy && !a.together && !a.op.Wait:
		if saw := string(a.op.State); saw == s.phase.String() && s.phase != isFree || saw == "leased" && (s.phase == isHeld || s.phase == isFree) {
			return []state{s}
		}
		return nil
	default:
		return []state{s}
	}
}

func begun(s state, r answered) []state {
	switch r.outcome {
	case done:
		if s.phase == isDirty && r.token > s.highest {
			return []state{s.granted(isCleaned, r.token)}
		}
		return nil
	case notDirty:
		if s.phase == isDirty {
			return nil
		}
		return []state{s}
	default:
		return []state{s}
	}
}

// shown is a token that is shown and changes nothing.
func shown(s state, good bool, r answered) []state {
	if r.outcome == done && !good || r.outcome == stale && good {
		return nil
	}
	return []state{s}
}

// ends is a token that is shown to end its lease. Ended again, it is ended.
func ends(s state, good bool, to phase, a asked, r answered) []state {
	switch r.outcome {
	case done:
		switch {
		case good:
			return []state{s.end(to, a.ending)}
		case s.marked(a.ending):
			return []state{s}
		}
		return nil
	case stale:
		if good {
			return nil
		}
		return []state{s}
	default:
		if good {
			return []state{s, s.end(to, a.ending)}
		}
		return []state{s}
	}
}

var model = (&porcupine.NondeterministicModel{
	Init: func() []any { return []any{state{}} },
	Step: func(s, in, out any) []any {
		next := may(s.(state), in.(asked), out.(answered))
		all := make([]any, len(next))
		for i := range next {
			all[i] = next[i]
		}
		return all
	},
	Hash: func(s any) uint64 {
		v := s.(state)
		flags := uint64(0)
		if v.published {
			flags |= 1 << 60
		}
		if v.open {
			flags |= 1 << 61
		}
		return flags ^ uint64(v.phase)*0x9e3779b97f4a7c15 ^ uint64(v.token)*0xbf58476d1ce4e5b9 ^ uint64(v.highest)
	},
	DescribeOperation: func(in, out any) string {
		a, r := in.(asked), out.(answered)
		text := string(a.op.Kind)
		if a.token != 0 {
			text += fmt.Sprintf("(%d)", a.token)
		}
		text += fmt.Sprintf(" by %s of process %d: %s", a.op.Holder, a.op.Worker, r.outcome)
		if r.token != 0 {
			text += fmt.Sprintf(" %d", r.token)
		}
		return text + string(a.op.State)
	},
	DescribeState: func(s any) string {
		v := s.(state)
		text := fmt.Sprintf("%s %d (highest %d)", v.phase, v.token, v.highest)
		switch {
		case v.open:
			text += ", open"
		case v.published:
			text += ", taken"
		}
		return text
	},
}).ToModel()
