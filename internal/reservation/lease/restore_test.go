package lease

import (
	"errors"
	"strings"
	"testing"
)

// ahead are tokens that no store of this record granted, by how far they are ahead of it.
var ahead = map[string]struct {
	by       int64
	possible bool // granted by a store, perhaps
}{
	"newer":                 {1, true},
	"a day newer":           {24 * 3600 * 1000, true},
	"with a digit too many": {9 * noon.UnixMilli(), false},
	"the greatest number":   {1<<63 - 1 - 2*noon.UnixMilli(), false},
}

// Regression: a mistyped token, or one of another store, ended the current lease, because a token
// above the highest one was taken as proof of a restored backup.
func TestATokenThatWasNotGrantedChangesNothing(t *testing.T) {
	steps := map[string]func(r *Record, token int64) error{
		"renew":     func(r *Record, token int64) error { _, err := r.Renew(token, noon); return err },
		"extend":    func(r *Record, token int64) error { _, err := r.Extend(token, noon, "", noon); return err },
		"release":   func(r *Record, token int64) error { return r.Release(token, false, "", noon) },
		"hand back": func(r *Record, token int64) error { return r.Checkin(token, "", noon) },
		"evict":     func(r *Record, token int64) error { return r.Evict(token, "cyd", "", noon) },
		"impound":   func(r *Record, token int64) error { return r.Quarantine(token, "", noon) },
		"return":    func(r *Record, token int64) error { return r.Return(token, noon) },
		"notify":    func(r *Record, token int64) error { return r.Notify(token, Notice{}, noon) },
		"stand":     func(r *Record, token int64) error { _, err := r.Publish(token, noon, noon, "", noon); return err },
		"continue":  func(r *Record, token int64) error { _, err := r.RenewClean(token, noon); return err },
		"finish":    func(r *Record, token int64) error { return r.FinishClean(token, "", noon) },
		"fail":      func(r *Record, token int64) error { return r.FailClean(token, "", noon) },
		"check":     func(r *Record, token int64) error { return r.Check(token) },
		"expire":    func(r *Record, token int64) error { return r.Expire(token, "", noon) },
	}
	for state, make := range in {
		for how, far := range ahead {
			for step, do := range steps {
				t.Run(step+", "+state+", "+how, func(t *testing.T) {
					r := make()
					was := r.DeepCopy()
					err := do(r, max(r.Token, noon.UnixMilli())+far.by)
					var stale *StaleError
					if !errors.As(err, &stale) || !stale.Unknown() || !strings.Contains(err.Error(), "not granted by this store") || !strings.Contains(err.Error(), "confirm-restore") {
						t.Errorf("it is refused with %v", err)
					}
					if !same(t, r, was) {
						t.Errorf("it is %+v, was %+v", r, was)
					}
				})
			}
		}
	}
}

// ConfirmRestore: the holder in the backup may not be the only one.
func TestConfirmRestore(t *testing.T) {
	for state, make := range in {
		for how, far := range ahead {
			t.Run(state+", "+how, func(t *testing.T) {
				r := make()
				was := r.DeepCopy()
				token := max(r.Token, noon.UnixMilli()) + far.by
				err := r.ConfirmRestore(token, "restored from monday", noon)
				if !far.possible {
					if !errors.Is(err, ErrNotNewer) || !same(t, r, was) {
						t.Errorf("%v; it is %+v, was %+v", err, r, was)
					}
					return
				}
				last := r.Recent[len(r.Recent)-1]
				if err != nil || r.State != Dirty || r.Token != token || last.Type != Restored || !strings.Contains(last.Reason, "restored from monday") {
					t.Errorf("%v; it is %+v", err, r)
				}
				confirmed := r.DeepCopy()
				if err := r.ConfirmRestore(token, "restored from monday", noon); err != nil || !same(t, r, confirmed) {
					t.Errorf("confirmed again: %v; it is %+v", err, r)
				}
				if l, err := r.Clean(ticket("cyd"), noon); err != nil || l.Token <= token {
					t.Errorf("cleaned under %d after %d: %v", l.Token, token, err)
				}
			})
		}
	}
	r := held()
	was := r.DeepCopy()
	for _, known := range []int64{0, r.Token - 1, r.Token} {
		if err := r.ConfirmRestore(known, "", noon); !errors.Is(err, ErrNotNewer) || !same(t, r, was) {
			t.Errorf("token %d, which the store knows: %v; it is %+v", known, err, r)
		}
	}
}
