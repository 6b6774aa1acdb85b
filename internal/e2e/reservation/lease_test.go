package reservation_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/poll/polltest"
)

func TestLease(t *testing.T) {
	t.Parallel()
	first := acquired(t, reservation(t, 0, []string{"acquire", "one", "--as", "ada", "--for", "1h", "--limit", "2h", "--purpose", "a try", "-o", "json"}))[0]
	if first.Reservation != "one" || first.Holder != "ada" || first.Token == 0 {
		t.Fatalf("the grant is %+v", first)
	}
	reservation(t, 1, []string{"acquire", "one", "--as", "eve"}, "is leased by ada", "--wait", "reservation describe one")
	reservation(t, 0, []string{"renew", "one"}, "one is yours until")
	reservation(t, 0, []string{"extend", "one", "--by", "30m"}, "one is yours until")
	reservation(t, 1, []string{"extend", "one", "--by", "90m"}, "past the maximum term of the lease")
	reservation(t, 0, []string{"get"}, "one", "ada", "a try", strconv.FormatInt(first.Token, 10))
	reservation(t, 0, []string{"describe", "one"}, "the queue is empty")
	reservation(t, 0, []string{"release", "one", "--why", "done"}, "one is released")

	if v := describe(t, "one"); v.State != "dirty" || v.Lease != nil || v.Token != first.Token {
		t.Errorf("released, it is %+v", v)
	}
	reservation(t, 1, []string{"acquire", "one"}, "is dirty", "rotation down --reservation one", "reservation clean one")
	clean(t, "one")
	second := acquired(t, reservation(t, 0, []string{"acquire", "one", "--as", "eve", "-o", "json"}))[0]
	if second.Token <= first.Token {
		t.Errorf("token %d follows %d", second.Token, first.Token)
	}
	stale := strconv.FormatInt(first.Token, 10)
	for _, args := range [][]string{{"renew", "one"}, {"extend", "one", "--by", "1h"}} { // as ada, who does not know yet
		reservation(t, 1, append(args, "--grant", stale), "token "+stale+" is stale", "eve holds it")
	}
	if v := describe(t, "one"); v.State != "leased" || v.Lease.Holder != "eve" {
		t.Errorf("after what was stale it is %+v", v)
	}
	reservation(t, 0, []string{"release", "one"})
	clean(t, "one")
	var what []string
	for line := range strings.Lines(reservation(t, 0, []string{"history", "one"}, "ada", "eve", "a try", "done", "checked by a test").Stdout) {
		what = append(what, strings.Fields(line)[1])
	}
	want := []string{"EVENT", "queued", "offered", "claimed", "extended", "released", "clean-started", "cleaned", "queued", "offered", "claimed", "released", "clean-started", "cleaned"}
	if !slices.Equal(what, want) {
		t.Errorf("the history is %v", what)
	}
	reservation(t, 2, []string{"renew", "one"}, "--grant")
	reservation(t, 2, []string{"acquire", "none"}, "reservation not found")
}

// Waiters are served in the order of the queue, which all users can see: the higher class
// first, then the earlier request.
func TestQueue(t *testing.T) {
	t.Parallel()
	const name = "queued"
	holder := acquired(t, reservation(t, 0, []string{"acquire", name, "--as", "holder", "-o", "json"}))[0]
	waiting := map[string]begun{}
	for _, who := range []string{"first", "second", "night"} {
		class := "people"
		if who == "night" {
			class = "nightly"
		}
		waiting[who] = begin(t, "acquire", name, "--as", who, "--class", class, "--wait", "5m", "-o", "json")
		polltest.Until(t, who+" in the queue", func() bool { return slices.Contains(queue(t, name), who) })
	}
	if got := queue(t, name); !slices.Equal(got, []string{"night", "first", "second"}) {
		t.Errorf("the queue is %v", got)
	}
	reservation(t, 0, []string{"describe", name}, "nightly", "second")
	token := holder.Token
	for _, who := range []string{"night", "first", "second"} {
		reservation(t, 0, []string{"release", name, "--grant", strconv.FormatInt(token, 10)})
		clean(t, name)
		r := waiting[who].end(t)
		if r.Code != 0 || !strings.Contains(r.Stderr, "in the queue") {
			t.Fatalf("%s waited, and exited %d: %s", who, r.Code, r.Stderr)
		}
		g := acquired(t, r)[0]
		if g.Holder != who || g.Token <= token {
			t.Errorf("%s got %+v after %d", who, g, token)
		}
		token = g.Token
	}
	late := begin(t, "acquire", name, "--as", "late", "--wait", "2s")
	if r := late.end(t); r.Code != 1 || !strings.Contains(r.Stderr, "not free within 2s") {
		t.Errorf("timed out: exit %d: %s", r.Code, r.Stderr)
	}
	if got := queue(t, name); len(got) != 0 {
		t.Errorf("left in the queue: %v", got)
	}
	reservation(t, 0, []string{"release", name, "--grant", strconv.FormatInt(token, 10)})
}

func queue(t *testing.T, name string) []string {
	t.Helper()
	var out []string
	for _, w := range describe(t, name).Queue {
		out = append(out, w.Holder)
	}
	return out
}

// All or none: a holder gets all reservations together or none.
func TestAll(t *testing.T) {
	t.Parallel()
	reservation(t, 0, []string{"acquire", "two", "--as", "holder"})
	reservation(t, 1, []string{"acquire", "--all", "two,three", "--as", "both"}, "two is leased by holder")
	if v := describe(t, "three"); v.State != "free" || len(v.Queue) > 0 {
		t.Errorf("of all or none, three is %+v", v)
	}
	both := begin(t, "acquire", "--all", "two,three", "--as", "both", "--wait", "5m", "-o", "json")
	polltest.Until(t, "both in the queue", func() bool { return slices.Contains(queue(t, "two"), "both") })
	reservation(t, 0, []string{"release", "two"})
	clean(t, "two")
	r := both.end(t)
	if r.Code != 0 {
		t.Fatalf("exit %d: %s", r.Code, r.Stderr)
	}
	got := acquired(t, r)
	if len(got) != 2 || got[0].Reservation != "three" || got[1].Reservation != "two" {
		t.Errorf("the grants are %+v", got)
	}
	for _, name := range []string{"two", "three"} {
		if v := describe(t, name); v.State != "leased" || v.Lease.Holder != "both" {
			t.Errorf("%s is %+v", name, v)
		}
		reservation(t, 0, []string{"release", name})
		clean(t, name)
	}
}

// A command has the lease while it runs, knows its token, and gives its exit code.
func TestCommandUnderALease(t *testing.T) {
	r := reservation(t, 7, []string{"acquire", "lost", "--as", "ada", "--", "sh", "-c", `echo "$FIRSTLIGHT_RESERVATION $FIRSTLIGHT_LEASE_TOKEN $FIRSTLIGHT_LEASE_HOLDER"; exit 7`})
	v := describe(t, "lost")
	if got, want := strings.TrimSpace(r.Stdout), fmt.Sprintf("lost %d ada", v.Token); got != want {
		t.Errorf("the command knew %q, not %q", got, want)
	}
	if v.State != "dirty" {
		t.Errorf("when it had ended, the reservation was %s", v.State)
	}
	clean(t, "lost")
}
