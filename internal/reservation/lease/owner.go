package lease

import (
	"reflect"
	"slices"
)

// Sign sets the user of the events numbered above after.
func (r *Record) Sign(after int64, by string) {
	for i := range r.Recent {
		if r.Recent[i].N > after {
			r.Recent[i].User = by
		}
	}
}

// AllowedForAnyUser reports whether any user may change a record to next: the lease of another
// user is unchanged, or ends in a way that is not its holder's decision. Every other change needs
// the holder or an operator. The admission policy of the store has the same rules.
func (r *Record) AllowedForAnyUser(next *Record, user string) bool {
	was, is := r.Lease, next.Lease
	if was == nil || was.User == "" || was.User == user || reflect.DeepEqual(was, is) {
		return true
	}
	happened := func(what ...EventType) bool {
		return slices.ContainsFunc(next.Recent, func(t Event) bool {
			return t.N > r.Events && t.Token == was.Token && slices.Contains(what, t.Type)
		})
	}
	switch {
	case was.Offered():
		return happened(WaitTimedOut, Yielded)
	case was.Available && is != nil && is.User == user && is.Token != was.Token:
		return true // a checkout
	default:
		return next.CurrentState() == Dirty && happened(Expired, CleanFailed)
	}
}
