package safety

import (
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/firstlight/firstlight/internal/reservation/lease"
)

// step is one operation of a short history, one after the other.
type step struct {
	kind    kind
	token   int64 // shown
	outcome outcome
	granted int64
	state   lease.State
}

// The model allows what may happen, and refuses what may not.
func TestModel(t *testing.T) {
	take := func(token int64) step { return step{kind: acquire, outcome: done, granted: token} }
	sweep := func(token int64) step { return step{kind: clean, outcome: done, granted: token} }
	did := func(k kind, token int64) step { return step{kind: k, token: token, outcome: done} }
	refused := func(k kind, token int64) step { return step{kind: k, token: token, outcome: stale} }
	found := func(s lease.State) step { return step{kind: acquire, outcome: busy, state: s} }
	for name, c := range map[string]struct {
		free  bool // needs no cleaning
		steps []step
		want  bool
	}{
		"a whole round":                    {false, []step{take(1), did(renew, 1), did(check, 1), did(release, 1), sweep(2), did(renewClean, 2), did(finish, 2), take(3)}, true},
		"two holders":                      {false, []step{take(1), take(2)}, false},
		"two holders, the first renews":    {true, []step{take(1), did(release, 1), take(2), did(renew, 1)}, false},
		"released is dirty":                {false, []step{take(1), did(release, 1), take(2)}, false},
		"released needs no cleaning":       {true, []step{take(1), did(release, 1), take(2)}, true},
		"expired is dirty":                 {true, []step{take(1), refused(renew, 1), take(2)}, false},
		"expired and cleaned":              {true, []step{take(1), sweep(2), did(finish, 2), take(3)}, true},
		"released twice":                   {true, []step{take(1), did(release, 1), did(release, 1), take(2)}, true},
		"released twice, frees another's":  {true, []step{take(1), did(release, 1), take(2), did(release, 1), take(3)}, false},
		"a stale release is told done":     {false, []step{take(1), sweep(2), did(release, 1)}, false},
		"a token again":                    {true, []step{take(5), did(release, 5), take(5)}, false},
		"a token that goes back":           {true, []step{take(5), did(release, 5), take(4)}, false},
		"cleaning what is held":            {false, []step{take(1), sweep(2), did(renew, 1)}, false},
		"cleaning twice at once":           {false, []step{take(1), sweep(2), sweep(3), did(finish, 2)}, false},
		"a cleaner that was silent":        {false, []step{take(1), sweep(2), sweep(3), did(finish, 3), take(4)}, true},
		"finished, and still dirty":        {false, []step{take(1), sweep(2), did(finish, 2), found("dirty")}, false},
		"busy while it is free":            {false, []step{found("free")}, false},
		"dirty though nobody was there":    {false, []step{found("dirty")}, false},
		"blocked":                          {false, []step{did(block, 0), found("dirty"), sweep(1), did(finish, 1), take(2)}, true},
		"good, then refused, then good":    {false, []step{take(1), refused(renew, 1), did(renew, 1)}, false},
		"failed to clean, and given away":  {false, []step{take(1), sweep(2), did(fail, 2), take(3)}, false},
		"evicted, and cleaned":             {false, []step{take(1), did(evict, 1), refused(check, 1), sweep(2), did(finish, 2), take(3)}, true},
		"nothing to clean, and it was":     {false, []step{take(1), did(release, 1), {kind: clean, outcome: notDirty}}, false},
		"an unanswered release, then free": {true, []step{take(1), {kind: release, token: 1}, take(2)}, true},
	} {
		t.Run(name, func(t *testing.T) {
			reservation := "r-0-0"
			if c.free {
				reservation += "-free"
			}
			var ops []op
			for i, s := range c.steps {
				o := op{Kind: s.kind, On: []string{reservation}, Token: s.token, Outcome: s.outcome, State: s.state, Call: int64(2 * i), Ret: int64(2*i + 1)}
				if s.granted != 0 {
					o.Got, o.Tokens = o.On, []int64{s.granted}
				}
				ops = append(ops, o)
			}
			if got := porcupine.CheckOperations(model, operations(reservation, ops, &told{})); got != c.want {
				t.Errorf("%t, want %t", got, c.want)
			}
		})
	}
}
