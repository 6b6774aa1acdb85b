package lease

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestTrimReason(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ in, want string }{
		"as it is":        {"0/2 nodes are available", "0/2 nodes are available"},
		"two lines":       {"a\n\tb\n", "a\n\tb"},
		"a terminal's":    {"a\x1b[2Jb\r", "a [2Jb"},
		"not UTF-8":       {"a\xff", "a?"},
		"too long":        {strings.Repeat("x", MaxReason+1), strings.Repeat("x", MaxReason-6) + " (cut)"},
		"cut in a letter": {strings.Repeat("ä", MaxReason), strings.Repeat("ä", (MaxReason-6)/2) + " (cut)"},
	} {
		if got := TrimReason(tt.in); got != tt.want {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

func FuzzTrimReason(f *testing.F) {
	for _, text := range []string{"", "a\nb", "\xff\x00", strings.Repeat("ä ", MaxReason)} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := TrimReason(text)
		if len(got) > MaxReason || !utf8.ValidString(got) || TrimReason(got) != got {
			t.Errorf("%q is trimmed to %d bytes, %q", text, len(got), got)
		}
	})
}

// Texts of holders, hooks and operators are bounded wherever a record keeps them: an object that is
// too large for etcd could not be written, and its lease would be lost.
func TestTextsOfARecordAreBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1<<20)
	verbose := func(id string) Ticket { tk := ticket(id); tk.Holder, tk.Purpose = long, long; return tk }
	steps := []func(r *Record) error{
		func(r *Record) error { r.Enqueue(verbose("ada"), noon); return nil },
		func(r *Record) error { r.Enqueue(verbose("bob"), noon); return nil },
		func(r *Record) error { _, err := r.Claim("ada", noon); return err },
		func(r *Record) error { return r.Notify(r.Token, Notice{By: long, Reason: long}, noon) },
		func(r *Record) error {
			_, err := r.Publish(r.Token, noon.Add(time.Hour), noon.Add(2*time.Hour), long, noon)
			return err
		},
		func(r *Record) error { _, err := r.Checkout(verbose("cyd"), noon); return err },
		func(r *Record) error { _, err := r.Extend(r.Token, noon.Add(2*time.Hour), long, noon); return err },
		func(r *Record) error { return r.Checkin(r.Token, long, noon) },
		func(r *Record) error { return r.Evict(r.Token, long, long, noon) },
		func(r *Record) error { _, err := r.Clean(verbose("dan"), noon); return err },
		func(r *Record) error { return r.FailClean(r.Token, long, noon) },
		func(r *Record) error { _, err := r.Clean(verbose("eve"), noon); return err },
		func(r *Record) error { return r.FinishClean(r.Token, long, noon) },
		func(r *Record) error { return r.Cancel("bob", long, noon) },
		func(r *Record) error { r.QuarantineFree(long, long, noon); return nil },
		func(r *Record) error { return r.ConfirmRestore(r.Token+1, long, noon) },
	}
	r := &Record{}
	for i, step := range steps {
		if err := step(r); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
		r.Sign(0, "user")
		raw, err := json.Marshal(r)
		if err != nil || len(raw) > 128<<10 {
			t.Fatalf("after step %d the record has %d bytes: %v", i, len(raw), err)
		}
	}
}

// A repeated failure is one, also if its reason was trimmed.
func TestFailureWithALongReasonIsCountedOnce(t *testing.T) {
	t.Parallel()
	r, long := in["cleaning"](), strings.Repeat("x", 2*MaxReason)
	token := r.Token
	for range 2 {
		if err := r.FailClean(token, long, noon); err != nil {
			t.Error(err)
		}
	}
	if r.DirtyInfo.Attempts != 1 || len(r.DirtyInfo.Failure) > MaxReason {
		t.Errorf("%d attempts, %d bytes", r.DirtyInfo.Attempts, len(r.DirtyInfo.Failure))
	}
}

// A quarantined reservation still needs an operator after the restored store was confirmed.
func TestConfirmRestoreKeepsTheQuarantine(t *testing.T) {
	t.Parallel()
	for _, state := range []State{Dirty, Cleaning} {
		r := &Record{}
		r.QuarantineFree("guard", "a deployment exists", noon)
		if state == Cleaning {
			if _, err := r.Clean(ticket("ops"), noon); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.ConfirmRestore(r.Token+1000, "restored", noon); err != nil || !r.DirtyInfo.ManualOnly {
			t.Errorf("%s: %v, %+v", state, err, r.DirtyInfo)
		}
	}
}

// The longest queue that the store admits fits into an object, whatever its waiters write.
func TestLongestQueueIsBounded(t *testing.T) {
	t.Parallel()
	r := held()
	long := strings.Repeat("x", 10<<10)
	for i := range 2000 {
		tk := ticket(strconv.Itoa(i))
		tk.Holder, tk.Purpose, tk.User, tk.Class = long, long, "system:serviceaccount:firstlight:firstlight-reservations", Nightly
		r.Enqueue(tk, noon)
		r.Recent = r.Recent[max(0, len(r.Recent)-16):]
	}
	raw, err := json.Marshal(r)
	if err != nil || len(raw) > 5<<18 {
		t.Errorf("%d bytes, %v", len(raw), err)
	}
}
