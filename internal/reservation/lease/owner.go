package lease

import (
	"reflect"
	"slices"
)

// Sign notes in the lines of history after a number who wrote them.
func (r *Record) Sign(after int64, by string) {
	for i := range r.Recent {
		if r.Recent[i].N > after {
			r.Recent[i].By = by
		}
	}
}

// AllowsAny tells whether any user may make next of a record: the lease of another user is
// left as it is, or ends in a way that is not its holder's to decide. What it does not allow
// is for the holder and for operators. The store's admission policy has the same rules.
func (r *Record) AllowsAny(next *Record, user string) bool {
	was, is := r.Lease, next.Lease
	if was == nil || was.User == "" || was.User == user || reflect.DeepEqual(was, is) {
		return true
	}
	happened := func(what ...What) bool {
		return slices.ContainsFunc(next.Recent, func(t Transition) bool {
			return t.N > r.Transitions && t.Token == was.Token && slices.Contains(what, t.What)
		})
	}
	switch {
	case was.Offered():
		return happened(Lost, Yielded)
	case was.Open && is != nil && is.User == user && is.Token != was.Token:
		return true // it is taken
	default:
		return next.Now() == Dirty && happened(Expired, CleanFailed)
	}
}
