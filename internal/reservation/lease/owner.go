package lease

import (
	"reflect"
	"slices"
)

// Sign notes in the lines of history after a number who wrote them.
func (r *Record) Sign(after int64, by string) {
	for i := range r.Recent {
		if r.Recent[i].N > after {
			r.Recent[i].User = by
		}
	}
}

// AllowsAny tells whether any user may make next of a record: the lease of another user is
// left as it is, or ends in a way that is not its holder's to decide. What it does not allow
// is for the holder and for operators. The store's admission policy has the same rules.
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
		return true // it is taken
	default:
		return next.CurrentState() == Dirty && happened(Expired, CleanFailed)
	}
}
