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
	ends    int64 // that were asked for, or answered
	last    int64
	seen    int64
}

// The model allows what may happen, and refuses what may not.
func TestModel(t *testing.T) {
	hold := func(token int64) step { return step{kind: acquire, outcome: done, granted: token} }
	sweep := func(token int64) step { return step{kind: clean, outcome: done, granted: token} }
	did := func(k kind, token int64) step { return step{kind: k, token: token, outcome: done} }
	refused := func(k kind, token int64) step { return step{kind: k, token: token, outcome: stale} }
	found := func(s lease.State) step { return step{kind: acquire, outcome: busy, state: s} }
	open := func(token int64) step {
		return step{kind: stand, token: token, outcome: done, ends: 10, last: 20, seen: token}
	}
	takes := func(token int64) step {
		return step{kind: take, outcome: done, granted: token, ends: 10, last: 20, seen: token}
	}
	shut := step{kind: take, outcome: notOpen}
	looks := func(token int64) step {
		if token == 0 {
			return step{kind: look, outcome: done}
		}
		return step{kind: look, outcome: done, ends: 10, last: 20, seen: token}
	}
	longer := func(token, ends int64) step {
		return step{kind: extend, token: token, outcome: done, ends: ends, last: 20, seen: token}
	}
	for name, c := range map[string]struct {
		free  bool // needs no cleaning
		steps []step
		want  bool
	}{
		"a whole round":                            {false, []step{hold(1), did(renew, 1), did(check, 1), did(release, 1), sweep(2), did(renewClean, 2), did(finish, 2), hold(3)}, true},
		"two holders":                              {false, []step{hold(1), hold(2)}, false},
		"two holders, the first renews":            {true, []step{hold(1), did(release, 1), hold(2), did(renew, 1)}, false},
		"released is dirty":                        {false, []step{hold(1), did(release, 1), hold(2)}, false},
		"released needs no cleaning":               {true, []step{hold(1), did(release, 1), hold(2)}, true},
		"expired is dirty":                         {true, []step{hold(1), refused(renew, 1), hold(2)}, false},
		"expired and cleaned":                      {true, []step{hold(1), sweep(2), did(finish, 2), hold(3)}, true},
		"released twice":                           {true, []step{hold(1), did(release, 1), did(release, 1), hold(2)}, true},
		"released twice, frees another's":          {true, []step{hold(1), did(release, 1), hold(2), did(release, 1), hold(3)}, false},
		"a stale release succeeds":                 {false, []step{hold(1), sweep(2), did(release, 1)}, false},
		"a token again":                            {true, []step{hold(5), did(release, 5), hold(5)}, false},
		"a token that goes back":                   {true, []step{hold(5), did(release, 5), hold(4)}, false},
		"cleaning what is held":                    {false, []step{hold(1), sweep(2), did(renew, 1)}, false},
		"cleaning twice at once":                   {false, []step{hold(1), sweep(2), sweep(3), did(finish, 2)}, false},
		"a cleaner that was silent":                {false, []step{hold(1), sweep(2), sweep(3), did(finish, 3), hold(4)}, true},
		"finished, and still dirty":                {false, []step{hold(1), sweep(2), did(finish, 2), found("dirty")}, false},
		"busy while it is free":                    {false, []step{found("free")}, false},
		"dirty without a lease":                    {false, []step{found("dirty")}, false},
		"blocked":                                  {false, []step{did(block, 0), found("dirty"), sweep(1), did(finish, 1), hold(2)}, true},
		"good, then refused, then good":            {false, []step{hold(1), refused(renew, 1), did(renew, 1)}, false},
		"failed to clean, and given away":          {false, []step{hold(1), sweep(2), did(fail, 2), hold(3)}, false},
		"evicted, and cleaned":                     {false, []step{hold(1), did(evict, 1), refused(check, 1), sweep(2), did(finish, 2), hold(3)}, true},
		"the reservation is not dirty, and it was": {false, []step{hold(1), did(release, 1), {kind: clean, outcome: notDirty}}, false},
		"an unanswered release, then free":         {true, []step{hold(1), {kind: release, token: 1}, hold(2)}, true},

		"published, released and free":             {true, []step{hold(1), open(1), did(release, 1), hold(2)}, false},
		"published, released and cleaned":          {true, []step{hold(1), open(1), did(release, 1), sweep(2), did(finish, 2), hold(3)}, true},
		"a whole day":                              {false, []step{hold(1), open(1), did(check, 1), takes(2), refused(renew, 1), did(renew, 2), longer(2, 15), did(notify, 2), did(handBack, 2), takes(5), did(release, 5), sweep(6)}, true},
		"taken without a new token":                {false, []step{hold(1), open(1), takes(1)}, false},
		"checked out, and the publisher continues": {false, []step{hold(1), open(1), takes(2), did(renew, 1)}, false},
		"taken from who has taken it":              {false, []step{hold(1), open(1), takes(2), takes(3)}, false},
		"taken and never open":                     {false, []step{hold(1), takes(2)}, false},
		"taken and shut":                           {false, []step{hold(1), open(1), takes(2), shut, did(renew, 2)}, true},
		"open and refused":                         {false, []step{hold(1), open(1), shut, did(renew, 1)}, false},
		"held and refused":                         {false, []step{hold(1), shut, did(renew, 1)}, true},
		"free and taken":                           {true, []step{takes(1)}, false},
		"dirty and taken":                          {false, []step{hold(1), open(1), did(release, 1), takes(2)}, false},
		"taken with another limit":                 {false, []step{hold(1), open(1), {kind: take, outcome: done, granted: 2, ends: 10, last: 30, seen: 2}}, false},
		"opened twice":                             {false, []step{hold(1), open(1), open(1), did(renew, 1)}, true},
		"opened by who does not hold it":           {false, []step{hold(2), open(1)}, false},
		"opened by who has lost it":                {false, []step{hold(1), open(1), takes(2), open(1)}, false},
		"not opened, and taken":                    {false, []step{hold(1), {kind: stand, token: 1, outcome: stale, ends: 10, last: 20}, takes(2)}, true},
		"an unanswered stand, then taken":          {false, []step{hold(1), {kind: stand, token: 1, ends: 10, last: 20}, takes(2)}, true},
		"handed back, and used":                    {false, []step{hold(1), open(1), takes(2), did(handBack, 2), did(renew, 2)}, false},
		"handed back, and the opener's":            {false, []step{hold(1), open(1), takes(2), did(handBack, 2), did(renew, 1)}, false},
		"handed back, and told to who asks":        {false, []step{hold(1), open(1), takes(2), did(handBack, 2), looks(4), did(evict, 4), sweep(5)}, true},
		"handed back with its token":               {false, []step{hold(1), open(1), takes(2), did(handBack, 2), looks(2)}, false},
		"handed back with two tokens":              {false, []step{hold(1), open(1), takes(2), did(handBack, 2), looks(4), did(check, 3)}, false},
		"handed back twice":                        {false, []step{hold(1), open(1), takes(2), did(handBack, 2), did(handBack, 2), takes(3)}, true},
		"handed back twice, from another":          {false, []step{hold(1), open(1), takes(2), did(handBack, 2), takes(3), did(handBack, 2), did(renew, 3)}, true},
		"a stale hand-back opens it":               {false, []step{hold(1), open(1), takes(2), did(handBack, 2), takes(3), did(handBack, 2), takes(4)}, false},
		"handed back by the opener":                {false, []step{hold(1), open(1), did(handBack, 1)}, false},
		"the opener has nothing to return":         {false, []step{hold(1), open(1), {kind: handBack, token: 1, outcome: notOpen}, takes(2)}, true},
		"nothing to return, and it is":             {false, []step{hold(1), open(1), takes(2), {kind: handBack, token: 2, outcome: notOpen}}, false},
		"extended past its limit":                  {false, []step{hold(1), open(1), longer(1, 25)}, false},
		"extended by another":                      {false, []step{hold(1), open(1), takes(2), longer(1, 15)}, false},
		"a limit of what has none":                 {false, []step{hold(1), {kind: extend, token: 1, outcome: limit}, did(renew, 1)}, false},
		"over though it has no end":                {false, []step{hold(1), {kind: renew, token: 1, outcome: over}}, false},
		"over and still held":                      {false, []step{hold(1), open(1), {kind: renew, token: 1, outcome: over}, did(check, 1)}, true},
		"notified with an unknown token":           {false, []step{hold(2), did(notify, 1)}, false},
		"seen with another's token":                {false, []step{hold(1), open(1), looks(2)}, false},
		"seen free while it is held":               {false, []step{hold(1), open(1), looks(0), did(renew, 1)}, false},
		"impounded":                                {true, []step{hold(1), did(impound, 1), refused(renew, 1), sweep(2), did(finish, 2), hold(3)}, true},
		"impounded and given away":                 {true, []step{hold(1), did(impound, 1), hold(2)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			reservation := "r-0-0"
			if c.free {
				reservation += "-free"
			}
			var ops []op
			for i, s := range c.steps {
				o := op{Kind: s.kind, On: []string{reservation}, Token: s.token, Outcome: s.outcome, State: s.state, Call: int64(2 * i), Ret: int64(2*i + 1)}
				o.Ends, o.Last, o.Saw = s.ends, s.last, terms{Token: s.seen, Ends: s.ends, Last: s.last}
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

// A grant that ended before its answer is in the history only.
func TestWhatNobodyWasTold(t *testing.T) {
	const name = "r-0-0-free"
	claims := func(fate lease.EventType, tokens ...int64) *told {
		h := &told{claims: map[string][]int64{"ada": tokens}, fates: map[int64]lease.EventType{}}
		h.fates[tokens[0]] = fate
		return h
	}
	asks := func(got ...int64) op {
		o := op{Kind: acquire, On: []string{name}, Holder: "ada", Outcome: gaveUp, Call: 1, Ret: 20}
		if len(got) > 0 {
			o.Outcome, o.Got, o.Tokens = done, o.On, got
		}
		return o
	}
	sees := op{Kind: look, On: []string{name}, Outcome: done, Call: 2, Ret: 3, Saw: terms{Token: 1}}
	shows := func(k kind, r outcome) op {
		return op{Kind: k, On: []string{name}, Token: 1, Outcome: r, Call: 30, Ret: 31}
	}
	for _, c := range []struct {
		name string
		h    *told
		ops  []op
		want bool
	}{
		{"left, and seen", claims(left, 1), []op{asks(), sees}, true},
		{"left, seen and released again", claims(left, 1), []op{asks(), sees, shows(release, done)}, true},
		{"left, and still good", claims(left, 1), []op{asks(), sees, shows(check, done)}, false},
		{"returned, seen and released", claims(lease.Returned, 1), []op{asks(), sees, shows(release, done)}, false},
		{"seen, and never granted", &told{}, []op{asks(), sees}, false},
		{"expired, and asked for again", claims("", 1, 5), []op{asks(5), sees, {Kind: clean, On: []string{name}, Outcome: done, Got: []string{name}, Tokens: []int64{2}, Call: 4, Ret: 5},
			{Kind: finish, On: []string{name}, Token: 2, Outcome: done, Call: 6, Ret: 7}}, true},
		{"the second without the first", claims("", 5), []op{asks(5), sees}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := porcupine.CheckOperations(model, operations(name, c.ops, c.h)); got != c.want {
				t.Errorf("%t, want %t", got, c.want)
			}
		})
	}
}
